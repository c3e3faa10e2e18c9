"""A reducer that numbers its keys and adds them up: its output shows where reduce tasks begin and end."""

from mrjob.job import MRJob


class Numbered(MRJob):
    def mapper(self, _, line):
        for word in line.split():
            yield word, len(line)

    def reducer_init(self):
        self.rank, self.total = 0, 0
        yield "init", None

    def reducer(self, word, lengths):
        self.rank += 1
        lengths = list(lengths)
        self.total += len(lengths)
        yield word, [self.rank, lengths]

    def reducer_final(self):
        yield "total", self.total


if __name__ == "__main__":
    Numbered.run()
