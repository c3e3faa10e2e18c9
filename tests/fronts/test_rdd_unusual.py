"""Programs that nobody would write, and somebody does: they give what plain PySpark gives, before and after an edit."""

from __future__ import annotations

import operator
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from py4j.protocol import Py4JJavaError
from pyspark import SparkFiles
from pyspark.mllib.stat import Statistics

from incoop.fronts.rdd.entry_points import patched
from incoop.fronts.rdd.submit import Programs

from .harness import CHUNKS

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


class Place:
    """Two files of pairs, and a factor that a program captures."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.factor = folder, 2
        rng = random.Random(1)
        self._write("a", [f"k{rng.randrange(12)} {rng.randrange(100)} {'pad' * rng.randrange(6)}" for _ in range(300)])
        self._write("b", [f"k{rng.randrange(8, 20)} {rng.randrange(60)}" for _ in range(60)])
        self._write("empty", [])

    def _write(self, name: str, lines: list[str]) -> None:
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines))

    def edit(self) -> None:
        lines = (self.folder / "a").read_text().splitlines()
        del lines[10]
        lines.insert(30, "k3 777 inserted")
        lines[200] = "k99 5 changed"
        self._write("a", lines)
        self.factor += 1


class Program:
    """What a program has at hand; under `patched`, its context gives memoized RDDs."""

    def __init__(self, context: SparkContext, place: Place, out: Path) -> None:
        self.context, self.place, self.out = context, place, out

    def lines(self, name: str = "a") -> Any:
        return self.context.textFile(str(self.place.folder / name))

    def pairs(self, name: str = "a") -> Any:
        return self.lines(name).map(str.split).map(lambda words: (words[0], int(words[1])))


class Weight:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def of(self, value: int) -> int:
        return value * self.factor


def listed(rdd: Any) -> list[Any]:
    return sorted(rdd.collect(), key=repr)


def chained_joins(p: Program) -> Any:
    sums = p.pairs().reduceByKey(operator.add)
    joined = sums.join(p.pairs("b")).leftOuterJoin(sums.mapValues(lambda v: v * 2)).fullOuterJoin(p.pairs("b"))
    return listed(joined), listed(sums.join(sums)), joined.count()


def joins_with_plain_data(p: Program) -> Any:
    plain = p.context.parallelize([("k1", "x"), ("k2", "y"), ("k2", "z")])
    return listed(p.pairs().join(plain)), listed(plain.join(p.pairs())), listed(p.pairs().subtractByKey(plain))


def unions_of_one_rdd(p: Program) -> Any:
    pairs = p.pairs().cache()
    three = pairs.union(pairs).union(pairs)
    return (
        listed(three),
        three.count(),
        listed(p.context.union([pairs, pairs]).reduceByKey(operator.add)),
        three.take(4),
    )


def nothing_to_do(p: Program) -> Any:
    none, empty = p.pairs().filter(lambda pair: False), p.lines("empty")
    return (
        listed(none.join(p.pairs())),
        listed(p.pairs().leftOuterJoin(none)),
        none.sortBy(repr).collect() + empty.sortBy(len).collect() + empty.zipWithIndex().collect(),
        (none.distinct().count(), none.isEmpty(), none.take(3), empty.map(len).sum()),
        p.context.union([empty, p.lines(), empty]).count(),
        none.groupByKey().mapValues(list).collect() + none.values().map(str).collect(),
    )


def closures_over_what_changes(p: Program) -> Any:
    factor, weight = p.place.factor, Weight(p.place.factor)
    shared = p.context.broadcast({"factor": factor, "of": {"k1": factor}})
    return (
        listed(p.pairs().mapValues(lambda v: v * factor).reduceByKey(operator.add)),
        listed(p.pairs().mapValues(weight.of).reduceByKey(max)),
        p.pairs().map(lambda pair: pair[1] * shared.value["factor"] + shared.value["of"].get(pair[0], 0)).sum(),
    )


def keys_of_all_kinds(p: Program) -> Any:
    kinds = [None, 1, 1.0, "1", (1, "a"), True, frozenset([1]), b"x", (None, ())]
    grouped = p.pairs().map(lambda pair: (kinds[pair[1] % 9], pair[1])).groupByKey()
    return sorted((repr(key), len(values), sorted(values)) for key, values in grouped.collect())


def values_that_change_in_place(p: Program) -> Any:
    lists = p.pairs().mapValues(lambda v: [v]).reduceByKey(lambda one, other: one.extend(other) or one)
    arrays = p.pairs().mapValues(lambda v: np.array([v, 1])).reduceByKey(operator.iadd)
    return (
        lists.mapValues(sorted).sortByKey().collect(),
        lists.mapValues(len).sortByKey().collect(),
        [(key, array.tolist()) for key, array in arrays.sortByKey().collect()],
    )


def methods_of_plain_spark(p: Program) -> Any:
    best = p.pairs().reduceByKey(max).sortByKey()
    odd = best.filter(lambda pair: pair[1] % 2)
    return (
        best.zip(best.map(lambda pair: pair[1])).collect(),
        listed(odd.cartesian(p.context.parallelize([1, 2]))),
        listed(p.context.parallelize([1, 2]).cartesian(odd)),
        listed(best.keys().pipe("cat")),
        p.lines().pipe("wc -l").collect(),
        (p.lines().name(), p.lines().map(str).name()),
        p.pairs().sample(False, 0.2, 7).reduceByKey(max).sortByKey().collect(),
        Statistics.colStats(p.pairs().map(lambda pair: [float(pair[1])])).mean().round(9).tolist(),
    )


def partitions_of_its_own(p: Program) -> Any:
    placed = p.pairs().partitionBy(3, lambda key: int(key[1:]))
    again = placed.mapValues(lambda v: v + 1)
    both, apart = placed.union(again), placed.union(p.pairs())
    return (
        ([sorted(part) for part in both.glom().collect()], both.getNumPartitions(), both.partitioner.numPartitions),
        (apart.partitioner, listed(apart), listed(both.groupByKey().mapValues(sorted)), listed(placed.join(again))),
        [sorted(part) for part in again.glom().collect()],
        (again.partitioner.numPartitions, again.map(str).partitioner, p.lines().partitioner),
        listed(p.pairs().repartition(5).reduceByKey(operator.add, 4)),
        p.pairs().reduceByKey(operator.add, 4).join(p.pairs("b").reduceByKey(max, 4), 4).getNumPartitions(),
    )


def checkpoints(p: Program) -> Any:
    p.context.setCheckpointDir(str(p.out / "checkpoints"))
    pairs = p.pairs()
    pairs.checkpoint()
    sums = pairs.reduceByKey(operator.add)
    sums.localCheckpoint()
    return pairs.count(), listed(sums), listed(sums.mapValues(str))


def files_written(p: Program) -> Any:
    sums, out = p.pairs().reduceByKey(operator.add), str(p.out / "saved")
    sums.saveAsTextFile(out)
    for again in (sums, sums.map(str), p.lines()):
        with pytest.raises(Py4JJavaError, match="already exists"):
            again.saveAsTextFile(out)
    sums.saveAsPickleFile(f"{out}-pickled")
    names = sorted(path.name for path in Path(out).iterdir() if not path.name.startswith("."))
    return names, listed(p.context.textFile(out)), listed(p.context.pickleFile(f"{out}-pickled"))


def what_goes_wrong(p: Program) -> Any:
    wrong: list[Callable[[], Any]] = [
        lambda: p.lines().map(lambda line: 1 // 0).count(),
        lambda: p.lines().map(len).reduceByKey(max).collect(),
        lambda: p.lines().sortBy(lambda line: len(line) if len(line) % 2 else line).collect(),
        lambda: p.lines("nowhere").count(),
        lambda: p.context.wholeTextFiles(str(p.place.folder / "nowhere")).count(),
        lambda: p.lines().union(5),
        lambda: p.lines().coalesce(0),
        lambda: p.lines().map(len).filter(lambda n: n < 0).max(),
        lambda: p.lines().filter(lambda line: False).first(),
    ]
    kinds = []
    for each in wrong:
        try:
            kinds.append(repr(each()))
        except Exception as error:
            kinds.append(type(error).__name__)
    return kinds


def zeros_that_are_looked_at(p: Program) -> Any:
    """What merges changes the program's own zero in PySpark, where the driver merges last."""

    def counted(counts: Counter[int], value: int) -> Counter[int]:
        counts[value % 5] += 1
        return counts

    def both(one: Counter[int], other: Counter[int]) -> Counter[int]:
        one.update(other)
        return one

    values = p.pairs().values()
    zero, folded = Counter[int](), Counter[int]()
    found = values.aggregate(zero, counted, both), values.map(lambda v: Counter([v % 3])).fold(folded, both)
    return found, zero, folded, found[0] is zero


PROGRAMS = [
    *(chained_joins, joins_with_plain_data, unions_of_one_rdd, nothing_to_do, closures_over_what_changes),
    *(keys_of_all_kinds, values_that_change_in_place, methods_of_plain_spark, partitions_of_its_own),
    *(checkpoints, files_written, what_goes_wrong, zeros_that_are_looked_at),
]


@pytest.fixture
def programs(spark: SparkSession, base: Path) -> Iterator[Callable[[], Programs]]:
    """Makes what `incoop submit` makes for a program; each is closed before the next, as in a process of its own."""
    made: list[Programs] = []

    def make() -> Programs:
        for program in made:
            program.close_all()
        made.append(Programs("unusual.py", store=base / "unusual", chunks=CHUNKS))
        return made[-1]

    yield make
    for program in made:
        program.close_all()


@pytest.mark.parametrize("run", PROGRAMS)
def test_a_program_gives_what_it_gives_without_us(
    run: Callable[[Program], Any], programs: Callable[[], Programs], spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    for version in range(2):
        found = []
        for name in ("ours", "theirs"):
            out = tmp_path / f"{name}{version}"
            out.mkdir()
            program = Program(spark.sparkContext, place, out)
            if name == "ours":
                with patched(programs()):
                    found.append(run(program))
            else:
                found.append(run(program))
        assert found[0] == found[1]
        place.edit()


def test_a_file_that_workers_were_given_counts_as_what_its_content_is(
    programs: Callable[[], Programs], spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("one\ntwo\nthree\n")
    (tmp_path / "stop-words.txt").write_text("one\n")
    spark.sparkContext.addFile(str(tmp_path / "stop-words.txt"))

    def kept(line: str) -> bool:
        return line not in Path(SparkFiles.get("stop-words.txt")).read_text().split()

    def run() -> tuple[list[str], int]:
        made = programs()
        with patched(made):
            found = spark.sparkContext.textFile(str(tmp_path / "a")).filter(kept).map(str).collect()
        return found, sum(report.map.executed for program in made.all for report in program.reports)

    assert run() == (["two", "three"], 1)
    assert run() == (["two", "three"], 0)
    # The next process would be given another file by the same name.
    Path(SparkFiles.get("stop-words.txt")).write_text("two\n")
    assert run() == (["one", "three"], 1)
