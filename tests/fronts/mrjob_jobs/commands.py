"""Shell commands and filters in every role."""

from mrjob.job import MRJob
from mrjob.step import MRStep


class Commands(MRJob):
    def steps(self):
        return [
            MRStep(
                mapper_cmd="tr -s ' ' '\\n'",
                combiner_cmd="sh -c 'sort | uniq'",
                reducer_cmd="sh -c 'uniq | tr a-z A-Z'",
            ),
            MRStep(
                mapper_pre_filter="grep -v X",
                mapper=self.first,
                reducer_pre_filter="grep -v '\"Q\"'",
                reducer=self.count,
            ),
        ]

    def first(self, _, word):
        yield word[:1], word

    def count(self, letter, words):
        yield letter, sorted(words)


if __name__ == "__main__":
    Commands.run()
