"""Count words into part files: spark-submit words_spark_saved.py in.txt out"""

import sys
from operator import add

from pyspark import SparkContext

if __name__ == "__main__":
    sc = SparkContext(appName="word count")
    counts = sc.textFile(sys.argv[1]).flatMap(lambda line: line.split()).map(lambda word: (word, 1)).reduceByKey(add)
    counts.map(lambda pair: f"{pair[0]}\t{pair[1]}").saveAsTextFile(sys.argv[2])
    sc.stop()
