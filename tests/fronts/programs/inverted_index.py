"""Which files hold a word: wholeTextFiles and groupByKey."""

import sys

from pyspark import SparkContext


def words_of(path_text):
    path, text = path_text
    name = path.rsplit("/", 1)[-1]
    return [(word, name) for word in set(text.split())]


if __name__ == "__main__":
    sc = SparkContext.getOrCreate()
    index = sc.wholeTextFiles(sys.argv[1]).flatMap(words_of).groupByKey().mapValues(sorted)
    index.sortByKey().map(lambda pair: f"{pair[0]}\t{','.join(pair[1])}").saveAsTextFile(sys.argv[2])
    print(index.count(), "words")
    sc.stop()
