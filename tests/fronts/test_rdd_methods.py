"""Every RDD method gives what it gives in PySpark, before and after an edit, and little runs after it."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import RDD, StorageLevel

import incoop
from incoop.fronts.rdd.memo_rdd import MemoRDD

from .harness import CHUNKS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Method = Callable[[Any], Any]


def pairs(lines: Any) -> Any:
    return lines.map(lambda line: (line.split()[0], len(line)))


def other_pairs(lines: Any) -> Any:
    return lines.filter(lambda line: len(line) % 2).map(lambda line: (line.split()[0], line.split()[1]))


def few(lines: Any) -> Any:
    return lines.filter(lambda line: len(line) == 6).map(lambda line: (line.split()[0], line.split()[1]))


def ordered(rdd: Any) -> list[Any]:
    """The records of an RDD whose order PySpark does not promise."""
    assert isinstance(rdd, RDD)
    return sorted(rdd.collect(), key=repr)


def grouped(rdd: Any) -> list[Any]:
    return sorted((key, sorted(map(repr, values))) for key, values in rdd.collect())


def cogrouped(rdd: Any) -> list[Any]:
    return sorted((key, [sorted(map(repr, each)) for each in groups]) for key, groups in rdd.collect())


def length(line: str) -> int:
    return len(line)


#: Method -> what is done with the lines of a file. Where the order counts it is compared.
METHODS: dict[str, Method] = {
    "textFile": lambda lines: lines.collect(),
    "map": lambda lines: lines.map(length).collect(),
    "flatMap": lambda lines: lines.flatMap(str.split).collect(),
    "filter": lambda lines: lines.filter(lambda line: "w1" in line).collect(),
    "mapValues": lambda lines: pairs(lines).mapValues(str).collect(),
    "flatMapValues": lambda lines: pairs(lines).flatMapValues(lambda n: range(n % 3)).collect(),
    "keyBy": lambda lines: lines.keyBy(length).collect(),
    "keys": lambda lines: pairs(lines).keys().collect(),
    "values": lambda lines: pairs(lines).values().collect(),
    "mapPartitions": lambda lines: lines.mapPartitions(lambda part: (line.upper() for line in part)).collect(),
    "glom": lambda lines: [line for part in lines.glom().collect() for line in part],
    "union": lambda lines: lines.union(lines.map(str.upper)).collect(),
    "distinct": lambda lines: ordered(lines.map(length).distinct()),
    "reduceByKey": lambda lines: ordered(pairs(lines).reduceByKey(operator.add)),
    "reduceByKey of lists": lambda lines: grouped(pairs(lines).mapValues(lambda n: [n]).reduceByKey(operator.add)),
    "reduceByKey of bools": lambda lines: ordered(
        pairs(lines).mapValues(lambda n: n > 9).reduceByKey(lambda a, b: a + b)
    ),
    "reduceByKey max": lambda lines: ordered(pairs(lines).reduceByKey(max)),
    "foldByKey": lambda lines: ordered(pairs(lines).foldByKey(0, operator.add)),
    "aggregateByKey": lambda lines: grouped(
        pairs(lines).aggregateByKey([], lambda found, n: found.append(n) or found, lambda a, b: a.extend(b) or a)
    ),
    "combineByKey": lambda lines: ordered(
        pairs(lines).combineByKey(
            lambda n: (n, 1), lambda a, n: (a[0] + n, a[1] + 1), lambda a, b: (a[0] + b[0], a[1] + b[1])
        )
    ),
    "groupByKey": lambda lines: grouped(pairs(lines).groupByKey()),
    "groupBy": lambda lines: grouped(lines.groupBy(length)),
    "cogroup": lambda lines: cogrouped(pairs(lines).cogroup(other_pairs(lines))),
    "groupWith": lambda lines: cogrouped(pairs(lines).groupWith(other_pairs(lines), pairs(lines).mapValues(str))),
    "join": lambda lines: ordered(pairs(lines).join(few(lines))),
    "leftOuterJoin": lambda lines: ordered(pairs(lines).leftOuterJoin(few(lines))),
    "rightOuterJoin": lambda lines: ordered(few(lines).rightOuterJoin(pairs(lines))),
    "fullOuterJoin": lambda lines: ordered(few(lines).fullOuterJoin(pairs(lines))),
    "subtractByKey": lambda lines: ordered(
        pairs(lines).subtractByKey(other_pairs(lines).filter(lambda p: p[0] > "w2"))
    ),
    "subtract": lambda lines: ordered(lines.map(length).subtract(lines.map(length).filter(lambda n: n % 2))),
    "intersection": lambda lines: ordered(lines.map(length).intersection(lines.map(length).filter(lambda n: n % 2))),
    "sortByKey": lambda lines: pairs(lines).distinct().sortByKey(False).keys().collect(),
    "sortBy": lambda lines: lines.distinct().sortBy(lambda line: (len(line), line)).collect(),
    "reduce": lambda lines: lines.map(length).reduce(operator.add),
    "fold": lambda lines: lines.map(length).fold(0, operator.add),
    "aggregate": lambda lines: lines.aggregate(
        (0, 0), lambda a, x: (a[0] + len(x), a[1] + 1), lambda a, b: (a[0] + b[0], a[1] + b[1])
    ),
    "treeAggregate": lambda lines: lines.map(length).treeAggregate(0, operator.add, operator.add),
    "treeReduce": lambda lines: lines.map(length).treeReduce(max),
    "count": lambda lines: (lines.count(), pairs(lines).reduceByKey(max).count(), lines.map(length).distinct().count()),
    "countByKey": lambda lines: dict(pairs(lines).countByKey()),
    "countByValue": lambda lines: dict(lines.map(length).countByValue()),
    "min": lambda lines: (lines.min(), lines.min(key=length)),
    "max": lambda lines: (lines.max(), lines.max(key=lambda line: (len(line), line))),
    "sum": lambda lines: lines.map(length).sum(),
    "mean": lambda lines: round(lines.map(length).mean(), 9),
    "stats": lambda lines: [round(each, 9) for each in lines.map(length).stats().asDict().values()],
    "histogram": lambda lines: (lines.map(length).histogram(4), lines.map(length).histogram([0, 10, 40])),
    "top": lambda lines: lines.distinct().top(5),
    "takeOrdered": lambda lines: lines.distinct().takeOrdered(5, key=lambda line: (-len(line), line)),
    "take": lambda lines: (lines.take(3), lines.map(length).take(4), lines.take(0)),
    "first": lambda lines: (lines.first(), lines.map(str.upper).first()),
    "lookup": lambda lines: (
        sorted(pairs(lines).lookup("w1")),
        lines.keyBy(length).mapValues(length).reduceByKey(max).lookup(11),
    ),
    "collectAsMap": lambda lines: pairs(lines).reduceByKey(max).collectAsMap(),
    "isEmpty": lambda lines: (lines.isEmpty(), lines.filter(lambda line: False).isEmpty()),
    "cache": lambda lines: (lambda kept: (kept.count(), kept.map(str).collect(), kept.is_cached))(pairs(lines).cache()),
    "persist": lambda lines: pairs(lines).persist(StorageLevel.DISK_ONLY).unpersist().collect(),
    "zipWithIndex": lambda lines: lines.map(length).zipWithIndex().filter(lambda pair: pair[1] % 7 == 0).collect(),
}

#: Methods that are PySpark's own, on what is memoized below them.
OTHERS: dict[str, Method] = {
    "sample": lambda lines: lines.map(length).sample(False, 0.3, 42).collect(),
    "takeSample": lambda lines: lines.map(length).takeSample(False, 5, 42),
    "randomSplit": lambda lines: [part.collect() for part in lines.randomSplit([1, 2], 7)],
    "zip": lambda lines: lines.zip(lines.map(length)).collect(),
    "zipWithUniqueId": lambda lines: lines.map(length).zipWithUniqueId().collect(),
    "cartesian": lambda lines: ordered(
        lines.map(length).filter(lambda n: n == 5).cartesian(lines.map(length).filter(lambda n: n == 6))
    ),
    "pipe": lambda lines: lines.pipe("cat").collect(),
    "toDF": lambda lines: sorted(map(tuple, pairs(lines).toDF(["word", "size"]).collect())),
    "coalesce": lambda lines: (
        lines.coalesce(1).glom().collect(),
        lines.repartition(3).getNumPartitions(),
        lines.coalesce(9).getNumPartitions(),
    ),
    "partitionBy": lambda lines: [
        sorted(part) for part in pairs(lines).map(lambda p: (p[1], p[0])).partitionBy(3, lambda n: n).glom().collect()
    ],
    "numPartitions": lambda lines: len(pairs(lines).map(lambda p: (p[1], 1)).reduceByKey(max, 5).glom().collect()),
    "getNumPartitions": lambda lines: (lines.getNumPartitions(), pairs(lines).union(lines).getNumPartitions()),
    "countApproxDistinct": lambda lines: lines.map(length).countApproxDistinct(),
    "toLocalIterator": lambda lines: list(lines.map(length).toLocalIterator()),
    "repartitionAndSortWithinPartitions": lambda lines: (
        lines.map(lambda line: (len(line), line))
        .repartitionAndSortWithinPartitions(2, lambda n: n)
        .keys()
        .glom()
        .collect()
    ),
    "add": lambda lines: (lines + lines.map(str.lower)).collect(),
    "sampleByKey": lambda lines: pairs(lines).sampleByKey(False, {f"w{n}": 0.4 for n in range(30)}, 3).collect(),
    "variance": lambda lines: round(lines.map(length).sampleVariance(), 9),
    "reduceByKeyLocally": lambda lines: pairs(lines).reduceByKeyLocally(max),
    "mapPartitionsWithIndex": lambda lines: lines.mapPartitionsWithIndex(lambda at, part: [(at, list(part))]).collect(),
}

#: Those of them that leave nothing unmemoized; each of the others is noted, once.
MEMOIZED_BELOW = {
    *("coalesce", "partitionBy", "numPartitions", "getNumPartitions"),
    *("toLocalIterator", "add", "variance", "reduceByKeyLocally"),
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rdd") / "lines.txt"


@pytest.fixture(scope="module")
def inc(spark: SparkSession, base: Path) -> Iterator[incoop.Session]:
    with pytest.MonkeyPatch.context() as patch, incoop.connect(base / "rdd", spark=spark, chunks=CHUNKS) as session:
        patch.setenv("PYTHONHASHSEED", "0")  # as spark-submit does
        yield session


def some_lines() -> list[str]:
    rng = random.Random(11)
    return [" ".join(f"w{rng.randrange(30)}" for _ in range(rng.randrange(2, 9))) for _ in range(300)]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_gives_what_pyspark_gives(name: str, text: Path, inc: incoop.Session, spark: SparkSession) -> None:
    lines = some_lines()
    for edited in (False, True):
        text.write_text("\n".join(lines) + "\n")
        inc._rdds = None  # as in a new process
        found = METHODS[name](inc.textFile(str(text)))
        assert inc.rdds.notes == []
        if edited:
            assert found == METHODS[name](spark.sparkContext.textFile(str(text)))
            ran = sum(report.map.executed for report in inc.rdds.reports)
            assert ran <= 0.6 * sum(report.map.tasks for report in inc.rdds.reports)
        lines.insert(150, "w1 quite another line")


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_method_gives_what_pyspark_gives(
    name: str, text: Path, inc: incoop.Session, spark: SparkSession
) -> None:
    text.write_text("\n".join(some_lines()) + "\n")
    inc._rdds = None
    assert OTHERS[name](inc.textFile(str(text))) == OTHERS[name](spark.sparkContext.textFile(str(text)))
    assert [note.partition(":")[0] for note in inc.rdds.notes] == ([] if name in MEMOIZED_BELOW else [name])


def test_a_memoized_rdd_is_an_rdd(text: Path, inc: incoop.Session) -> None:
    lines = inc.textFile(str(text))
    assert isinstance(lines, RDD) and isinstance(lines.map(len), MemoRDD)
    assert lines.context is inc.spark.sparkContext
    assert lines.setName("mine").name() == "mine"
    assert lines.persist().getStorageLevel() == StorageLevel.MEMORY_ONLY
