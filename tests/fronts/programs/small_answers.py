"""Answers that need little: the head of a file, a lookup, a join with a small table, results written as text."""

import sys
from operator import add

from pyspark import SparkConf, SparkContext

if __name__ == "__main__":
    sc = SparkContext(conf=SparkConf().setAppName("small").setMaster("local[2]"))
    source, texts, out = sys.argv[1:4]
    lines = sc.textFile(source)
    header = lines.first()
    rows = lines.filter(lambda line: line != header).map(lambda line: line.split(","))
    print(header, lines.take(2), rows.take(2), rows.isEmpty(), lines.getNumPartitions(), rows.first())
    weights = sc.broadcast({"s1": 10})
    counted = sc.accumulator(0)

    def weighed(row):
        counted.add(1)
        return row[0], weights.value.get(row[0], 1) * float(row[1])

    sums = rows.map(weighed).reduceByKey(add)
    print(f"{sums.lookup('s1')[0]:.3f}", sums.lookup("nobody"), sums.count(), counted.value)
    rooms = sc.parallelize([("s1", "kitchen"), ("s2", "hall"), ("s99", "attic")])
    print(
        sorted(sums.mapValues(round).join(rooms).collect()),
        sorted(rooms.map(lambda pair: pair).leftOuterJoin(sums.mapValues(int)).collect()),
    )
    print(sorted(sums.keys().union(rooms.keys()).distinct().collect())[:3])
    files = sc.wholeTextFiles(texts)
    print(files.count(), files.keys().map(lambda path: path.rsplit("/", 1)[-1]).collect(), files.getNumPartitions())

    rounded = sums.mapValues(lambda total: round(total, 2))
    rounded.saveAsTextFile(f"{out}/by_key")
    rounded.sortByKey().saveAsTextFile(f"file://{out}/sorted")
    rounded.sortBy(lambda pair: (-pair[1], pair[0])).map(lambda pair: f"{pair[0]}\t{pair[1]} é").saveAsTextFile(
        f"{out}/lines"
    )
    rounded.coalesce(1).saveAsTextFile(f"{out}/one")
    rows.map(lambda row: row[0]).distinct().sortBy(lambda name: name, numPartitions=1).saveAsTextFile(f"{out}/names")
    rows.filter(lambda row: row[0] == "none of them").saveAsTextFile(f"{out}/nothing")
    sc.stop()
