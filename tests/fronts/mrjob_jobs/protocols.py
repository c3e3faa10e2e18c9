"""Pickles between tasks, reprs at the end, tuples and None as keys, values sorted by what they are written as."""

from mrjob.job import MRJob
from mrjob.protocol import PickleProtocol, ReprProtocol


class Protocols(MRJob):
    INTERNAL_PROTOCOL = PickleProtocol
    OUTPUT_PROTOCOL = ReprProtocol
    SORT_VALUES = True

    def mapper(self, _, line):
        for at, word in enumerate(line.split()):
            yield (word[:1], None), {at, len(word)}

    def reducer(self, key, values):
        yield key, [sorted(each) for each in values]


if __name__ == "__main__":
    Protocols.run()
