"""Statistics of a web server's log, as in many courses."""

import re
import sys
from operator import add

from pyspark.sql import SparkSession

PATTERN = re.compile(r'^(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) [^"]*" (\d{3}) (\d+|-)$')


def parse(line):
    match = PATTERN.match(line)
    if match is None:
        return None
    host, _, method, path, status, size = match.groups()
    return host, method, path, int(status), 0 if size == "-" else int(size)


if __name__ == "__main__":
    spark = SparkSession.builder.appName("logs").getOrCreate()
    lines = spark.sparkContext.textFile(sys.argv[1])
    parsed = lines.map(parse)
    bad = parsed.filter(lambda record: record is None)
    logs = parsed.filter(lambda record: record is not None).cache()
    print("lines", lines.count(), "bad", bad.count())
    sizes = logs.map(lambda record: record[4])
    print("size", sizes.max(), sizes.sum(), f"{sizes.mean():.3f}")
    print("statuses", sorted(logs.map(lambda record: (record[3], 1)).reduceByKey(add).collect()))
    print("by method", sorted(logs.map(lambda record: (record[1], record[4])).countByKey().items()))
    print("hosts", logs.map(lambda record: record[0]).distinct().count())
    errors = logs.filter(lambda record: record[3] >= 400).map(lambda record: (record[2], 1)).reduceByKey(add)
    print("errors", errors.takeOrdered(5, lambda pair: (-pair[1], pair[0])))
    print("histogram", sizes.histogram([0, 100, 1000, 10000]))
    hosts = logs.map(lambda record: (record[0], record[2])).groupByKey()
    print("busy", sorted(hosts.filter(lambda pair: len(pair[1]) > 20).keys().collect()))
    spark.stop()
