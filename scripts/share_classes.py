"""Write down the classes that Spark loads, for the JVMs of the tests to start with.

    python scripts/share_classes.py .venv/spark-classes.jsa

Contract: the file is there whole or not at all. A JVM that is given it with `-XX:SharedArchiveFile` maps some 10,000
classes, parsed and verified, instead of reading them from 200 jars: a start and five small jobs take 6.5 s of the
processor instead of 11. A JVM that cannot use it (another Java, Spark elsewhere) does without. `tests/conftest.py` says
so to every JVM of the tests; how programs behave does not depend on it.
"""

from __future__ import annotations

import operator
import os
import sys
import tempfile
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

#: Seconds for a JVM to end and to write the file: two or three, on a busy machine more.
END_SECONDS = 120


def load_what_tests_load(spark: SparkSession, folder: Path) -> None:
    """A little of everything that the tests do with Spark."""
    context = spark.sparkContext
    file = folder / "lines"
    file.write_text("ash oak\noak larch\n" * 20)
    words = context.textFile(str(file)).flatMap(str.split).map(lambda word: (word, 1))
    counts = words.reduceByKey(operator.add).cache()
    counts.join(words.groupByKey().mapValues(len)).sortByKey().collect()
    counts.union(words.distinct()).repartition(3).saveAsTextFile(str(folder / "out"))
    shared, seen = context.broadcast([1]), context.accumulator(0)
    context.parallelize(range(9), 3).foreach(lambda number: seen.add(number * shared.value[0]))
    context.wholeTextFiles(str(file)).zipWithIndex().take(1)
    spark.createDataFrame(counts.collect(), ["word", "count"]).groupBy("word").sum("count").collect()


def main() -> None:
    target = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        light = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        os.environ["SPARK_SUBMIT_OPTS"] = f"{light} -XX:ArchiveClassesAtExit={folder / 'classes'} -Xlog:cds=off"
        os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.log.level": "OFF"}
        settings["spark.ui.showConsoleProgress"] = "false"
        spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        jvm = SparkContext._gateway.proc
        load_what_tests_load(spark, folder)
        spark.stop()
        jvm.stdin.close()  # then it ends, and writes
        jvm.wait(END_SECONDS)
        (folder / "classes").replace(target)


if __name__ == "__main__":
    main()
