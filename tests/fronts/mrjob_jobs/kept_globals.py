"""The middle one of three steps keeps what it saw in globals: a cache, a counter, a mutable default."""

import itertools

from mrjob.job import MRJob
from mrjob.step import MRStep

LENGTHS = {}
NUMBERS = itertools.count()


def length(word, asked=[]):  # noqa: B006
    asked.append(word)
    if word not in LENGTHS:
        LENGTHS[word] = len(word)
    return LENGTHS[word], len(asked)


class KeptGlobals(MRJob):
    def steps(self):
        return [
            MRStep(mapper=self.words, combiner=self.added, reducer=self.added),
            MRStep(mapper=self.by_length, reducer=self.numbered),
            MRStep(mapper=self.by_parity, reducer=self.added),
        ]

    def words(self, _, line):
        for word in line.split():
            self.increment_counter("read", "words")
            yield word, 1

    def added(self, key, counts):
        yield key, sum(counts)

    def by_length(self, word, count):
        self.increment_counter("asked", "words")
        yield length(word)[0], (length(word)[1], count)

    def numbered(self, size, counts):
        yield (next(NUMBERS), size), sum(place * count for place, count in counts)

    def by_parity(self, numbered, total):
        number, size = numbered
        yield size % 2, number * total


if __name__ == "__main__":
    KeptGlobals.run()
