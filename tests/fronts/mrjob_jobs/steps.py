"""Four steps: a mapper alone, a mapper and a combiner with a reducer, a reducer alone that needs its values' order, and
a mapper alone that numbers what it gets."""

from mrjob.job import MRJob
from mrjob.step import MRStep


class Steps(MRJob):
    def steps(self):
        return [
            MRStep(mapper=self.split),
            MRStep(mapper=self.ones, combiner=self.add, reducer=self.by_length),
            MRStep(reducer=self.joined),
            MRStep(mapper=self.number),
        ]

    def split(self, _, line):
        for word in line.split():
            yield len(word), word

    def ones(self, length, word):
        yield (word, length), 1

    def add(self, key, counts):
        yield key, sum(counts)

    def by_length(self, key, counts):
        word, length = key
        yield length, {"word": word, "count": sum(counts)}

    def joined(self, length, found):
        yield length, [f"{each['word']}:{each['count']}" for each in found]

    def number(self, length, found):
        self.count = getattr(self, "count", 0) + 1
        yield self.count, [length, found]


if __name__ == "__main__":
    Steps.run()
