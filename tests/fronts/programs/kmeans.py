"""K-means as in Spark's own examples: closures over the centres, a cached RDD, a seeded sample."""

import sys

import numpy as np
from pyspark.sql import SparkSession


def parse_vector(line):
    return np.array([float(x) for x in line.split(" ")])


def closest_point(p, centers):
    best_index = 0
    closest = float("+inf")
    for i in range(len(centers)):
        dist = np.sum((p - centers[i]) ** 2)
        if dist < closest:
            closest = dist
            best_index = i
    return best_index


if __name__ == "__main__":
    spark = SparkSession.builder.appName("PythonKMeans").getOrCreate()
    lines = spark.read.text(sys.argv[1]).rdd.map(lambda r: r[0])
    data = lines.map(parse_vector).cache()
    k = int(sys.argv[2])
    converge_dist = float(sys.argv[3])

    k_points = data.takeSample(False, k, 1)
    temp_dist = 1.0
    while temp_dist > converge_dist:
        closest = data.map(lambda p: (closest_point(p, k_points), (p, 1)))
        point_stats = closest.reduceByKey(lambda p1_c1, p2_c2: (p1_c1[0] + p2_c2[0], p1_c1[1] + p2_c2[1]))
        new_points = point_stats.map(lambda st: (st[0], st[1][0] / st[1][1])).collect()
        temp_dist = sum(np.sum((k_points[i] - p) ** 2) for (i, p) in new_points)
        for i, p in new_points:
            k_points[i] = p

    print("Final centers: " + str([[round(float(x), 6) for x in center] for center in k_points]))
    spark.stop()
