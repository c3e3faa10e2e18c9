"""Raw text with tabs, newlines and other control characters, and a protocol of the user's own."""

from mrjob.job import MRJob
from mrjob.protocol import RawProtocol


class Columns:
    """A key of two columns."""

    def read(self, line):
        first, second, rest = line.decode().split("|", 2)
        return (first, second), rest

    def write(self, key, value):
        return f"{key[0]}|{key[1]}|{value}".encode()


class RawProtocols(MRJob):
    INTERNAL_PROTOCOL = Columns
    OUTPUT_PROTOCOL = RawProtocol

    def mapper(self, _, line):
        for word in line.split(" "):
            yield (word[:1], word[-1:]), word.replace("|", "/").replace("\t", " ")

    def reducer(self, key, words):
        yield "\x01".join(key), "\n".join(sorted(words)) + "\r"


if __name__ == "__main__":
    RawProtocols.run()
