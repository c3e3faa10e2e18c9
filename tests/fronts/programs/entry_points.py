"""Everything that a program may ask of Spark's entry points before it has any work, as programs ask it."""

import pickle
import sys

from pyspark import RDD, Accumulator, Broadcast, SparkConf, SparkContext
from pyspark.sql import SparkSession


def said(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    conf = SparkConf().setAppName("asks").setMaster("local[2]")
    sc = SparkContext(conf=conf)
    conf.set("spark.app.name", "changed later")
    print(isinstance(sc, SparkContext), type(sc).__name__, sc, sc.version, sc.master, sc.appName, sc.sparkHome)
    print(sc.defaultParallelism, sc.defaultMinPartitions, sc.pythonVer)
    print(SparkContext.getOrCreate() is sc, SparkContext._active_spark_context is sc, SparkSession.getActiveSession())

    spark = SparkSession.builder.appName("other").config("spark.sql.shuffle.partitions", 3).getOrCreate()
    print(isinstance(spark, SparkSession), type(spark).__name__, spark.version, spark.sparkContext is sc)
    print(SparkSession.getActiveSession() is spark, SparkSession.active() is spark)
    print(SparkSession.builder.config("spark.sql.ansi.enabled", "false").getOrCreate() is spark)

    sc.setLogLevel("ERROR")
    sc.hint = "mine"
    table = {"one": 1}
    shared, missed = sc.broadcast(table), sc.accumulator(1)
    table["two"] = 2
    missed += 2
    print(isinstance(shared, Broadcast), shared.value, isinstance(missed, Accumulator), missed.value, missed, sc.hint)
    numbers = sc.parallelize(range(10), 3)
    print(isinstance(numbers, RDD), numbers.getNumPartitions(), numbers.context is sc)
    print(said(sc.accumulator, "text"))
    print(said(pickle.dumps, sc))
    shared.unpersist()

    spark.stop()
    print(SparkContext._active_spark_context, SparkSession.getActiveSession(), said(SparkSession.active))
    print(said(sc.textFile, "nowhere"), sc.master, sc.appName)

    with SparkContext("local[3]", "the second") as second:
        print(second, second.defaultParallelism, second is sc)
    with SparkSession.builder.master("local").getOrCreate() as session:
        print(session.sparkContext, session.sparkContext.defaultParallelism)
    sys.exit(3)
