"""Places of records: numbers, sorted orders and partitions are right after an edit, and little runs for them."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import incoop
from incoop.fronts.rdd.program import RddProgram

from .harness import CHUNKS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Job = Callable[[Any], Any]


@pytest.fixture(scope="module")
def inc(spark: SparkSession, base: Path) -> Iterator[incoop.Session]:
    with incoop.connect(base / "order", spark=spark, chunks=CHUNKS) as session:
        yield session


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rng = random.Random(4)
    made = tmp_path / "lines.txt"
    made.write_text("".join(f"{rng.randrange(50)} {number} {'x' * rng.randrange(20)}\n" for number in range(900)))
    return made


def insert(text: Path, line: str, share: float) -> None:
    lines = text.read_text().splitlines()
    lines.insert(int(len(lines) * share), line)
    text.write_text("".join(f"{line}\n" for line in lines))


def number_of(line: str) -> tuple[int, str]:
    return int(line.split()[0]), line.split()[1]


def program_of(inc: incoop.Session) -> RddProgram:
    inc._rdds = None  # as in a new process
    return inc.rdds


def mapped(program: RddProgram) -> dict[str, tuple[int, int]]:
    """Stage -> how many of its tasks ran, of how many."""
    return {
        report.job.partition(": ")[2].partition(" [")[0]: (report.map.executed, report.map.tasks)
        for report in program.reports
    }


NUMBERED: dict[str, Job] = {
    "of lines": lambda lines: lines.zipWithIndex().map(lambda pair: pair).collect(),
    "of lines as they are": lambda lines: lines.zipWithIndex().collect(),
    "of narrow steps": lambda lines: lines.flatMap(str.split).zipWithIndex().filter(lambda p: p[1] % 5 == 0).collect(),
    "of a cached RDD": lambda lines: lines.map(len).cache().zipWithIndex().map(lambda pair: pair).collect(),
    "of a union": lambda lines: lines.union(lines.map(str.upper)).zipWithIndex().map(lambda pair: pair).collect(),
    "of a sort": lambda lines: lines.map(number_of).sortByKey().zipWithIndex().map(lambda pair: pair).collect(),
    "of a falling sort, filtered": lambda lines: (
        lines.map(number_of).sortByKey(False).filter(lambda p: p[0] % 3).zipWithIndex().collect()
    ),
    "twice": lambda lines: lines.map(len).zipWithIndex().zipWithIndex().map(lambda pair: pair).collect(),
    "by number": lambda lines: sorted(
        lines.zipWithIndex().map(lambda p: (p[1] % 7, len(p[0]))).reduceByKey(operator.add).collect()
    ),
    "of every third": lambda lines: (
        lines.zipWithIndex().filter(lambda p: p[1] % 3 == 0).keys().zipWithIndex().map(lambda p: p[1]).sum()
    ),
    "of no record": lambda lines: lines.filter(lambda line: False).zipWithIndex().map(lambda pair: pair).collect(),
    "by one partition": lambda lines: lines.map(len).coalesce(1).zipWithIndex().map(lambda pair: pair).collect(),
    "and back": lambda lines: lines.zipWithIndex().map(lambda p: (p[1], p[0])).sortByKey(False).values().take(5),
}


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_are_those_of_pyspark_after_every_edit(
    name: str, inc: incoop.Session, spark: SparkSession, text: Path
) -> None:
    for edited in (False, True):
        if edited:
            insert(text, "7 new one", 0.3)
        program = program_of(inc)
        assert NUMBERED[name](program.text_file(str(text))) == NUMBERED[name](spark.sparkContext.textFile(str(text)))
        assert program.notes == []


def test_an_edit_counts_one_block_and_maps_no_input_again(inc: incoop.Session, text: Path) -> None:
    for edited in (False, True):
        program = program_of(inc)
        words = program.text_file(str(text)).map(str.split).zipWithIndex()
        assert words.map(lambda pair: pair[1]).max() == (900 if edited else 899)
        ran = mapped(program)
        if edited:
            assert ran["map.records"][0] == ran["zipWithIndex.sizes"][0] == 1  # what is before the numbers
            some, of = ran["map.reduce"]
            assert 0 < some < of  # what is behind them: from the insertion on
        insert(text, "7 new one", 0.5)


def test_a_change_that_moves_no_number_maps_nothing_behind_it(inc: incoop.Session, text: Path) -> None:
    for edited in (False, True):
        if edited:
            lines = text.read_text().splitlines()
            lines[450] = "another line"
            text.write_text("".join(f"{line}\n" for line in lines))
        program = program_of(inc)
        numbered = program.text_file(str(text)).zipWithIndex().map(lambda pair: (pair[1] % 9, pair[0][:3]))
        assert sum(map(len, numbered.groupByKey().mapValues(list).values().collect())) == 900
        if edited:
            assert mapped(program)["zipWithIndex.sizes"][0] == mapped(program)["map.groupByKey"][0] == 1


SORTED: dict[str, Job] = {
    "by a key's function": lambda pairs: pairs.sortByKey(keyfunc=lambda key: key % 7).collect(),
    "by it, falling": lambda pairs: pairs.sortByKey(False, keyfunc=lambda key: key % 7).collect(),
    "by it, in partitions": lambda pairs: pairs.sortByKey(True, 3, lambda key: -key).collect(),
    "by a function": lambda pairs: pairs.sortBy(lambda pair: pair[1][-1]).collect(),
    "by it, falling, in partitions": lambda pairs: pairs.sortBy(lambda pair: pair[1][-1], False, 2).collect(),
    "by a key": lambda pairs: pairs.sortByKey().collect(),
    "by a key, falling": lambda pairs: pairs.sortByKey(False).collect(),
    "and then mapped": lambda pairs: pairs.sortByKey(keyfunc=lambda key: key / 3).map(lambda pair: pair[1]).take(20),
}


@pytest.mark.parametrize("name", SORTED)
def test_a_sort_is_stable_as_pysparks_and_an_edit_sorts_little(
    name: str, inc: incoop.Session, spark: SparkSession, text: Path
) -> None:
    for edited in (False, True):
        program = program_of(inc)
        ours = SORTED[name](program.text_file(str(text)).map(number_of))
        assert ours == SORTED[name](spark.sparkContext.textFile(str(text)).map(number_of))
        assert program.notes == []
        ran = next(report for report in program.reports if "sortByKey [" in report.job)
        if edited:
            assert ran.map.executed == 1 and ran.keys_reduced <= 2
        insert(text, "7 20 one", 0.5)


def test_a_partition_is_told_its_number_of_now(inc: incoop.Session, spark: SparkSession, text: Path) -> None:
    """An insertion early in the input moves lines into other partitions: none keeps the number that it had."""

    def tell(rdd: Any) -> Any:
        return rdd.mapPartitionsWithIndex(lambda number, part: ((number, line) for line in part))

    found = []
    for _ in range(3):
        program = program_of(inc)
        lines = program.text_file(str(text), 4)
        theirs = spark.sparkContext.textFile(str(text), 4)
        assert tell(lines).collect() == tell(theirs).collect()
        counted = tell(lines).map(lambda pair: (pair[0], 1)).reduceByKey(operator.add)
        assert sorted(counted.collect()) == sorted(
            tell(theirs).mapValues(lambda _: 1).reduceByKey(operator.add).collect()
        )
        by_length = lines.map(lambda line: (len(line), 1)).reduceByKey(operator.add, 3)
        assert sorted(tell(by_length).collect()) == sorted(
            tell(theirs.map(lambda line: (len(line), 1)).reduceByKey(operator.add, 3)).collect()
        )
        found.append({line: number for number, line in tell(lines).collect()})
        insert(text, "0 a long line" + 3000 * "!", 0.0)
    assert any(found[0][line] != found[2][line] for line in found[0])


def test_records_come_in_one_order_whatever_is_done_to_them(inc: incoop.Session, text: Path) -> None:
    counts = program_of(inc).text_file(str(text)).map(number_of).reduceByKey(max)
    records = counts.collect()
    assert counts.keys().collect() == [key for key, _ in records]
    assert counts.map(lambda pair: pair[1]).collect() == counts.values().collect() == [value for _, value in records]
    assert counts.zipWithIndex().keys().map(lambda pair: pair).collect() == records == counts.take(1000)
    assert counts.sortByKey(keyfunc=lambda key: 0).collect() == counts.cache().collect() == records
    assert [pair for part in counts.glom().collect() for pair in part] == records


def second(pair: tuple[int, str]) -> int:
    return int(pair[1]) % 100


def as_lists(rdd: Any) -> Any:
    return sorted((key, list(values)) for key, values in rdd.collect())


@pytest.mark.parametrize(
    "job",
    [
        lambda rdd: rdd.sortBy(lambda pair: pair[0]).collect(),
        lambda rdd: rdd.sortByKey(ascending=False).take(40),
        lambda rdd: rdd.sortBy(lambda pair: pair[0], numPartitions=1).map(lambda pair: pair[1]).collect(),
        lambda rdd: as_lists(rdd.groupByKey()),
        lambda rdd: sorted(rdd.reduceByKey(lambda one, other: other).collect()),
        lambda rdd: sorted(rdd.map(lambda pair: (pair[0], [pair[1]])).reduceByKey(operator.add).collect()),
        lambda rdd: as_lists(rdd.cache().filter(lambda pair: pair[0] % 2).groupByKey()),
        lambda rdd: rdd.max(key=lambda pair: pair[0]),
        lambda rdd: rdd.values().reduce(lambda one, other: f"{one},{other}"),
        lambda rdd: rdd.map(lambda pair: pair[0]).sum(),
    ],
)
def test_what_follows_a_sort_sees_its_order(inc: incoop.Session, spark: SparkSession, text: Path, job: Job) -> None:
    for share in (0.3, 0.8):
        insert(text, "7 55555 x", share)
        ours = program_of(inc).text_file(str(text)).map(number_of).sortBy(second)
        theirs = spark.sparkContext.textFile(str(text)).map(number_of).sortBy(second)
        assert job(ours) == job(theirs)
