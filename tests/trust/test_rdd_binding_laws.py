"""The law: whenever a variable is assigned, every RDD gives what plain PySpark gives for the same program."""

from __future__ import annotations

import operator
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import incoop
from incoop import inchdfs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Box:
    """A variable, or what a variable refers to: functions capture the cell, or what it holds."""

    def __init__(self) -> None:
        self.n = 1


#: From an RDD of (int, int), another one of those, and a variable, to an RDD of (int, int).
STEPS: dict[str, Callable[[Any, Any, Box], Any]] = {
    "mapValues": lambda one, two, box: one.mapValues(lambda v: v + box.n),
    "map": lambda one, two, box: one.map(lambda p: (p[0] % (box.n + 3), p[1] + box.n)),
    "filter": lambda one, two, box: one.filter(lambda p: p[1] % (box.n + 2)),
    "flatMapValues": lambda one, two, box: one.flatMapValues(lambda v: range(v % (box.n % 3 + 1))),
    "mapPartitionsWithIndex": lambda one, two, box: one.mapPartitionsWithIndex(
        lambda number, part: ((k, v + box.n) for k, v in part)
    ),
    "reduceByKey": lambda one, two, box: one.reduceByKey(operator.add),
    "reduceByKey of a variable": lambda one, two, box: one.reduceByKey(lambda a, b: (a + b) % (50 + box.n)),
    "reduceByKey of 3": lambda one, two, box: one.reduceByKey(lambda a, b: (a + b) % (50 + box.n), 3),
    # Zero is neutral: PySpark adds it once for a partition, the engine for a chunk.
    "aggregateByKey": lambda one, two, box: one.aggregateByKey(
        90 + box.n, lambda a, v: (a + v) % (90 + box.n), lambda a, b: (a + b) % (90 + box.n)
    ),
    "groupByKey": lambda one, two, box: one.groupByKey().mapValues(lambda values: sum(values) % (60 + box.n)),
    "groupByKey of 3": lambda one, two, box: one.groupByKey(3).mapValues(sum),
    "distinct": lambda one, two, box: one.distinct(),
    "join": lambda one, two, box: one.reduceByKey(max).join(two.reduceByKey(min)).mapValues(sum),
    "subtractByKey": lambda one, two, box: one.subtractByKey(two.filter(lambda p: p[0] % (box.n + 1))),
    "union": lambda one, two, box: one.union(two),
    "partitionBy": lambda one, two, box: one.partitionBy(3, lambda key: key * box.n),
    "partitionBy hash": lambda one, two, box: one.partitionBy(3),
    "coalesce": lambda one, two, box: one.coalesce(1),
    "repartition": lambda one, two, box: one.repartition(3),
    "sortByKey": lambda one, two, box: one.sortByKey(),
    "sortBy": lambda one, two, box: one.sortBy(lambda p: (p[1] % (box.n + 1), p)),
    "cache": lambda one, two, box: one.cache(),
    "unpersist": lambda one, two, box: one.unpersist(),
    "setName": lambda one, two, box: one.setName("named"),
}

#: What can be told of the records, whatever their order.
ACTIONS: dict[str, Callable[[Any], Any]] = {
    "collect": lambda rdd: sorted(rdd.collect()),
    "count": lambda rdd: rdd.count(),
    "sum": lambda rdd: rdd.values().sum(),
    "top": lambda rdd: rdd.top(3),
    "take": lambda rdd: len(rdd.take(4)),
    "foreach": lambda rdd: rdd.foreach(lambda record: None),
}

RDDS = st.integers(0, 9)
OPERATIONS = st.one_of(
    st.tuples(st.sampled_from(sorted(STEPS)), RDDS, RDDS),
    st.tuples(st.sampled_from(sorted(ACTIONS)), RDDS),
    st.tuples(st.just("assign"), st.integers(1, 5)),
)


def run(lines: Any, operations: list[tuple[Any, ...]]) -> list[Any]:
    """Do some operations, one after the other, on some of the RDDs so far; at the end, collect all."""
    box = Box()
    made = [lines.map(lambda line: (int(line) % 7, int(line)))]
    found = []
    for name, number, *others in operations:
        if name == "assign":
            box.n = number
            continue
        one = made[number % len(made)]
        if name in ACTIONS:
            found.append((name, ACTIONS[name](one)))
        else:
            made.append(STEPS[name](one, made[others[0] % len(made)], box))
    box.n += 1
    return [*found, *(sorted(rdd.collect()) for rdd in made), *(rdd.values().sum() for rdd in made)]


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(operations=st.lists(OPERATIONS, min_size=3, max_size=12))
def test_any_program_binds_as_pyspark_does_whenever_a_variable_is_assigned(
    spark: SparkSession, base: Path, operations: list[tuple[Any, ...]]
) -> None:
    folder = Path(tempfile.mkdtemp(dir=base))
    text = folder / "numbers.txt"
    text.write_text("".join(f"{number * number % 101}\n" for number in range(150)))
    try:
        theirs = run(spark.sparkContext.textFile(str(text)), operations)
        with incoop.connect(folder / "store", spark=spark, chunks=inchdfs.ChunkSettings(average=256)) as inc:
            for _ in range(2):
                inc._rdds = None  # as in a new process
                assert run(inc.textFile(str(text)), operations) == theirs
    finally:
        shutil.rmtree(folder)
