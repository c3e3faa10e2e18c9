"""What only a running Spark gives, asked of a context and a session that were made before."""

import os
import sys
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import Row, SparkSession, functions


def said(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return type(error).__name__


if __name__ == "__main__":
    builder = SparkSession.builder.appName("needs").master("local[2]").config("spark.sql.shuffle.partitions", "3")
    spark = builder.config("spark.some.setting", "asked for").getOrCreate()
    sc = spark.sparkContext
    again = SparkSession.builder.config("spark.sql.session.timeZone", "Asia/Tokyo").getOrCreate()
    table, seen = sc.broadcast({1: "one", 2: "two"}), sc.accumulator(0)
    gone = sc.broadcast([1])
    gone.destroy()
    value = table.value
    few = sc.parallelize([1, 2, 3, 4, 5], 2)
    named = few.map(lambda number: table.value.get(number, "many"))
    frame = spark.read.text(sys.argv[1])
    reader = spark.read
    sc.setLogLevel("OFF")
    lines = sc.textFile(sys.argv[1])
    print(said(lines.map(lambda line: (sc, line)).collect), said(lines.map(lambda line: (spark, line)).collect))

    # The folder and the environment are those in which the context was made.
    here = str(Path.cwd())
    os.environ["SPARK_NOT_KNOWN"] = "later"
    os.chdir("/")

    print(spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.some.setting"))
    print(spark.conf.get("spark.sql.session.timeZone"), again is spark, SparkSession.getActiveSession() is spark)
    print(sc.getConf().get("spark.app.name"), sc.getConf().get("spark.master"), SparkConf().get("spark.none"))
    print(type(sc) is SparkContext, type(spark) is SparkSession, type(table).__name__, table.value is value)
    print(sc._jvm.java.lang.System.getProperty("user.dir") == here, sc.applicationId.startswith("local-"))
    print(sc._jvm.java.lang.System.getenv("SPARK_NOT_KNOWN"), os.environ["SPARK_NOT_KNOWN"])
    print(SparkContext._jvm is not None, SparkContext._gateway is not None, sc._jsc is not None)
    print(few.glom().collect(), named.collect(), few.map(lambda number: seen.add(number)).count(), seen.value)
    print(few.sum(), few.toDebugString() is not None, few.union(few).count(), sorted(few.cartesian(few).collect())[:2])
    print(
        frame.count(),
        frame.columns,
        frame.filter(functions.length("value") > 5).count(),
        frame.rdd.first(),
        type(frame).__name__,
    )
    print(reader.option("wholetext", True).text(sys.argv[1]).count())
    print(spark.sql("select 1 + 1 as two").collect(), spark.range(5).count())
    print(few.map(lambda number: Row(number=number)).toDF().groupBy("number").count().count())
    print(said(few.map(lambda number: gone.value[0]).collect))
    print(said(SparkContext, "local", "a second one"), said(sc.setLogLevel, "LOUD"))
    print(said(spark.read.text, "/there/is/no/such/file"), said(sc.textFile("/there/is/no/such/file").collect))
    print(sc.textFile("lines.txt").map(len).collect(), sc.textFile("lines.txt").first())
    sc.stop()
    print(SparkContext._active_spark_context, said(few.collect))
