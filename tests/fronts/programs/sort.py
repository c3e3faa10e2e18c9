"""Sort numbers as in Spark's own examples; the order is printed as it comes."""

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    spark = SparkSession.builder.appName("PythonSort").getOrCreate()
    lines = spark.read.text(sys.argv[1]).rdd.map(lambda r: r[0])
    sorted_count = lines.flatMap(lambda x: x.split(" ")).map(lambda x: (int(x), 1)).sortByKey()
    for num, _ in sorted_count.collect():
        print(num)
    print(lines.sortBy(lambda line: (len(line), line), ascending=False).first())
    spark.stop()
