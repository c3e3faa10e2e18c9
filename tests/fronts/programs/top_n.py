"""The most frequent words that are no stop words: a broadcast variable and an accumulator."""

import sys

from pyspark import SparkContext

STOP_WORDS = {"word1", "word2"}


def main(path, n):
    sc = SparkContext.getOrCreate()
    stop_words = sc.broadcast(STOP_WORDS)
    dropped = sc.accumulator(0)

    def keep(word):
        if word in stop_words.value:
            dropped.add(1)
            return False
        return True

    words = sc.textFile(path).flatMap(str.split).filter(keep)
    counts = words.map(lambda word: (word, 1)).reduceByKey(lambda a, b: a + b)
    for count, word in counts.map(lambda pair: (pair[1], pair[0])).top(n):
        print(word, count)
    print("dropped", dropped.value)
    print(counts.takeOrdered(n, key=lambda pair: (-pair[1], pair[0])))
    sc.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
