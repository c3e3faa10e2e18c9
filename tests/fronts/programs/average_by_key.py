"""Averages with combineByKey, joined with a small table that the program holds itself."""

import sys

from pyspark import SparkConf, SparkContext

if __name__ == "__main__":
    sc = SparkContext.getOrCreate(SparkConf().setAppName("average"))
    readings = sc.textFile(sys.argv[1]).map(lambda line: line.split(",")).map(lambda f: (f[0], float(f[1])))
    sums = readings.combineByKey(
        lambda value: (value, 1),
        lambda acc, value: (acc[0] + value, acc[1] + 1),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
    )
    averages = sums.mapValues(lambda total: total[0] / total[1])
    rooms = sc.parallelize([("s1", "kitchen"), ("s2", "hall"), ("s99", "attic")])
    for sensor, (average, room) in sorted(averages.leftOuterJoin(rooms).collect()):
        print(f"{sensor}\t{average:.6f}\t{room}")
    print(sorted(averages.subtractByKey(rooms).keys().collect()))
    print(averages.count(), sums.collectAsMap()["s1"][1], f"{readings.values().mean():.6f}")
    sc.stop()
