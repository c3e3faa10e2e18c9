"""Count words: spark-submit words_spark.py in.txt"""

import sys
from operator import add

from pyspark import SparkContext

if __name__ == "__main__":
    sc = SparkContext(appName="word count")
    counts = sc.textFile(sys.argv[1]).flatMap(lambda line: line.split()).map(lambda word: (word, 1)).reduceByKey(add)
    for word, count in counts.collect():
        print(word, count, sep="\t")
    sc.stop()
