"""PageRank as in Spark's own examples."""

import re
import sys
from operator import add

from pyspark.sql import SparkSession


def compute_contribs(urls, rank):
    num_urls = len(urls)
    for url in urls:
        yield (url, rank / num_urls)


def parse_neighbors(urls):
    parts = re.split(r"\s+", urls)
    return parts[0], parts[1]


if __name__ == "__main__":
    spark = SparkSession.builder.appName("PythonPageRank").getOrCreate()
    lines = spark.read.text(sys.argv[1]).rdd.map(lambda r: r[0])
    links = lines.map(lambda urls: parse_neighbors(urls)).distinct().groupByKey().cache()
    ranks = links.map(lambda url_neighbors: (url_neighbors[0], 1.0))

    for _ in range(int(sys.argv[2])):
        contribs = links.join(ranks).flatMap(
            lambda url_urls_rank: compute_contribs(url_urls_rank[1][0], url_urls_rank[1][1])
        )
        ranks = contribs.reduceByKey(add).mapValues(lambda rank: rank * 0.85 + 0.15)

    for link, rank in sorted(ranks.collect()):
        print(f"{link} has rank: {rank:.6f}.")

    spark.stop()
