"""The law: any chain of RDD methods, on any sequence of inputs, gives what plain PySpark gives."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import incoop
from incoop import inchdfs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Chain = Callable[[Any], Any]

#: Steps from pairs of (int, int) to such pairs; `n` makes each draw another function.
STEPS: dict[str, Callable[[Any, int], Any]] = {
    "map": lambda rdd, n: rdd.map(lambda p: (p[1] % (n + 2), p[0])),
    "flatMap": lambda rdd, n: rdd.flatMap(lambda p: [p] * (p[0] % (n % 3 + 1))),
    "filter": lambda rdd, n: rdd.filter(lambda p: p[1] % (n + 2)),
    "mapValues": lambda rdd, n: rdd.mapValues(lambda v: v + n),
    "flatMapValues": lambda rdd, n: rdd.flatMapValues(lambda v: range(v % 3)),
    "keyBy": lambda rdd, n: rdd.keyBy(lambda p: p[0] % 5).mapValues(lambda p: p[1]),
    "mapPartitions": lambda rdd, n: rdd.mapPartitions(lambda part: [(a, b * n) for a, b in part]),
    "cache": lambda rdd, n: rdd.cache(),
    "union": lambda rdd, n: rdd.union(rdd.mapValues(lambda v: -v)),
    "distinct": lambda rdd, n: rdd.distinct(),
    "reduceByKey": lambda rdd, n: rdd.reduceByKey((lambda a, b: a + b) if n % 2 else max),
    "groupByKey": lambda rdd, n: rdd.groupByKey().mapValues(lambda values: sum(values) % 97),
    "combineByKey": lambda rdd, n: rdd.combineByKey(lambda v: v, lambda a, v: a + v, lambda a, b: a + b),
    "join": lambda rdd, n: rdd.reduceByKey(max).join(rdd.mapValues(lambda v: v % 7).distinct()).mapValues(sum),
    "subtractByKey": lambda rdd, n: rdd.subtractByKey(rdd.filter(lambda p: p[0] % (n + 2) == 0)),
    "sortByKey": lambda rdd, n: rdd.sortByKey(bool(n % 2)),
    "coalesce": lambda rdd, n: rdd.coalesce(1),
}

#: What can be told of the records at the end, whatever their order.
ENDS: dict[str, Callable[[Any], Any]] = {
    "collect": lambda rdd: sorted(rdd.collect()),
    "count": lambda rdd: (rdd.count(), rdd.isEmpty()),
    "sum": lambda rdd: rdd.values().sum(),
    "countByKey": lambda rdd: dict(rdd.countByKey()),
    "top": lambda rdd: rdd.top(5),
    "fold": lambda rdd: rdd.keys().fold(0, max),
}

LINES = st.lists(st.integers(0, 60), min_size=0, max_size=120)


@pytest.mark.parametrize(
    "sizes",
    [pytest.param((256, 0), id="chunks mapped whole"), pytest.param((4096, 120), id="chunks mapped by leaf")],
)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    steps=st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5)), min_size=1, max_size=4),
    end=st.sampled_from(sorted(ENDS)),
    first=LINES,
    edit=st.tuples(st.integers(0, 120), st.integers(0, 20), LINES),
)
def test_any_chain_gives_what_pyspark_gives_before_and_after_an_edit(
    spark: SparkSession,
    base: Path,
    steps: list[tuple[str, int]],
    end: str,
    first: list[int],
    edit: tuple[int, int, list[int]],
    sizes: tuple[int, int],
) -> None:
    folder = Path(tempfile.mkdtemp(dir=base))
    at, gone, come = edit
    average, padding = sizes
    text = folder / "numbers.txt"

    def run(lines: Any) -> Any:
        rdd = lines.map(lambda line: (int(line.split()[0]) % 13, int(line.split()[0])))
        for name, number in steps:
            rdd = STEPS[name](rdd, number)
        return ENDS[end](rdd)

    try:
        with incoop.connect(folder / "store", spark=spark, chunks=inchdfs.ChunkSettings(average=average)) as inc:
            # Of nothing, some actions of PySpark raise; what incoop does there is told by another test.
            for numbers in ([*first, 7], [*first[:at], *come, *first[at + gone :], 7]):
                text.write_text("".join(f"{number} {'-' * padding}\n" for number in numbers))
                inc._rdds = None  # as in a new process
                assert run(inc.textFile(str(text))) == run(spark.sparkContext.textFile(str(text)))
                assert inc.rdds.notes == []
    finally:
        shutil.rmtree(folder)
