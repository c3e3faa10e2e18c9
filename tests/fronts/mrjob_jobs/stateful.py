"""Everything that may keep state keeps some: `_init`, `_final` and attributes, in all three roles."""

from mrjob.job import MRJob
from mrjob.step import MRStep


class Stateful(MRJob):
    def steps(self):
        return [
            MRStep(
                mapper_init=self.start_counting,
                mapper=self.count,
                mapper_final=self.give_counts,
                combiner_init=self.start_pairs,
                combiner=self.add_to_pairs,
                combiner_final=self.give_pairs,
                reducer_init=self.start_total,
                reducer=self.add_to_total,
                reducer_final=self.give_total,
            ),
            MRStep(reducer=self.sum_up),
        ]

    def start_counting(self):
        self.seen = {}

    def count(self, _, line):
        for word in line.split():
            self.seen[word] = self.seen.get(word, 0) + 1

    def give_counts(self):
        yield from self.seen.items()

    def start_pairs(self):
        self.pairs = []

    def add_to_pairs(self, word, counts):
        self.pairs.append((word, sum(counts)))

    def give_pairs(self):
        yield from self.pairs

    def start_total(self):
        self.total = 0

    def add_to_total(self, word, counts):
        count = sum(counts)
        self.total += count
        yield word, count

    def give_total(self):
        yield "in total", self.total

    def sum_up(self, word, counts):
        yield word, sum(counts)


if __name__ == "__main__":
    Stateful.run()
