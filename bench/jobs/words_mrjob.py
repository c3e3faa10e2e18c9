"""Count words: python words_mrjob.py in.txt"""

from mrjob.job import MRJob


class WordCount(MRJob):
    def mapper(self, _, line):
        for word in line.split():
            yield word, 1

    def combiner(self, word, counts):
        yield word, sum(counts)

    def reducer(self, word, counts):
        yield word, sum(counts)


if __name__ == "__main__":
    WordCount.run()
