"""Everything that may keep state keeps some: `_init`, `_final` and attributes, in all three roles."""

from mrjob.job import MRJob


class Stateful(MRJob):
    def mapper_init(self):
        self.seen = {}

    def mapper(self, _, line):
        for word in line.split():
            self.seen[word] = self.seen.get(word, 0) + 1

    def mapper_final(self):
        yield from self.seen.items()

    def combiner_init(self):
        self.pairs = []

    def combiner(self, word, counts):
        self.pairs.append((word, sum(counts)))

    def combiner_final(self):
        yield from self.pairs

    def reducer_init(self):
        self.rank, self.total = 0, 0

    def reducer(self, word, counts):
        self.rank += 1
        count = sum(counts)
        self.total += count
        yield word, [self.rank, count]

    def reducer_final(self):
        yield "total", self.total


if __name__ == "__main__":
    Stateful.run()
