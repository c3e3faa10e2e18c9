"""Transitive closure as in Spark's own examples: joins in a loop until nothing is new."""

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    spark = SparkSession.builder.appName("PythonTransitiveClosure").getOrCreate()
    sc = spark.sparkContext
    tc = sc.textFile(sys.argv[1]).map(lambda line: tuple(map(int, line.split()))).cache()
    edges = tc.map(lambda x_y: (x_y[1], x_y[0]))

    old_count = 0
    next_count = tc.count()
    while True:
        old_count = next_count
        new_edges = tc.join(edges).map(lambda __a_b: (__a_b[1][1], __a_b[1][0]))
        tc = tc.union(new_edges).distinct().cache()
        next_count = tc.count()
        if next_count == old_count:
            break

    print("TC has %i edges" % tc.count())
    for edge in sorted(tc.collect())[:50]:
        print(edge)
    spark.stop()
