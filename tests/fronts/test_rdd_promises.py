"""What a memoized RDD promises beyond single methods: reuse, shared variables, errors, inputs."""

from __future__ import annotations

import gzip
import operator
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import PySparkException

import incoop
from incoop.fronts.rdd.program import RddProgram

from .harness import CHUNKS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Place:
    """A file, and programs that run on it one after the other, each as if in a process of its own."""

    def __init__(self, folder: Path, session: incoop.Session) -> None:
        self.file, self.session = folder / "lines.txt", session
        self.lines = [f"w{number % 40} w{number % 7} w{number % 11}" for number in range(400)]
        self.write()

    def write(self) -> None:
        self.file.write_text("".join(f"{line}\n" for line in self.lines))

    def insert(self, line: str) -> None:
        self.lines.insert(200, line)
        self.write()

    def program(self) -> RddProgram:
        self.session._rdds = None
        return self.session.rdds

    @property
    def context(self) -> SparkContext:
        return self.session.spark.sparkContext


@pytest.fixture(scope="module")
def inc(spark: SparkSession, base: Path) -> Iterator[incoop.Session]:
    with incoop.connect(base / "promises", spark=spark, chunks=CHUNKS) as session:
        yield session


@pytest.fixture
def place(inc: incoop.Session, tmp_path: Path) -> Place:
    return Place(tmp_path, inc)


def executed(program: RddProgram) -> list[int]:
    return [report.map.executed for report in program.reports]


def test_narrow_steps_are_one_stage_and_an_edit_maps_one_chunk(place: Place) -> None:
    for edited in (False, True):
        program = place.program()
        lines = program.text_file(str(place.file))
        words = lines.flatMap(str.split).filter(lambda word: word != "w3").map(lambda word: (word, 1))
        counts = words.reduceByKey(operator.add).mapValues(str)
        assert len(counts.collect()) == counts.count() == (40 if edited else 39)
        assert [report.job.partition(" [")[0] for report in program.reports] == [
            f"{program.name}: flat_map.filter.map.reduceByKey",
            f"{program.name}: map_values.records",
            f"{program.name}: map_values.count",
        ]
        first = program.reports[0]
        assert first.map.executed == (1 if edited else first.map.tasks)
        assert first.keys_reduced == (2 if edited else 39)
        place.insert("w1 unheard-of")


def test_nothing_runs_before_an_action_and_nothing_twice(place: Place) -> None:
    program = place.program()
    counts = program.text_file(str(place.file)).map(lambda line: (line[:2], 1)).reduceByKey(operator.add)
    assert program.reports == []
    assert dict(counts.collect()) == dict(counts.collect())
    assert counts.count() == len(counts.collectAsMap())
    assert len(program.reports) == 1


def test_a_loop_has_a_name_for_every_iteration_and_reuses_each(place: Place) -> None:
    names = []
    for _ in range(2):
        program = place.program()
        rdd = program.text_file(str(place.file)).map(lambda line: (line.split()[0], 1))
        for _ in range(3):
            rdd = rdd.reduceByKey(operator.add).map(lambda pair: (pair[0][:-1] or pair[0], pair[1]))
        rdd.collect()
        names.append([report.job for report in program.reports])
    assert names[0] == names[1] and len(set(names[0])) == 4
    assert executed(program) == [0, 0, 0, 0]


def test_a_changed_closure_or_broadcast_is_seen_and_an_equal_one_is_not(place: Place) -> None:
    def run(factor: int) -> tuple[Any, list[int]]:
        program, shared = place.program(), place.context.broadcast({"factor": factor})
        rdd = program.text_file(str(place.file)).map(lambda line: len(line) * shared.value["factor"])
        return rdd.sum(), executed(program)

    once, _ = run(1)
    assert run(1) == (once, [0])
    twice, ran = run(2)
    assert twice == 2 * once and ran[0] > 1


class Texts(AccumulatorParam[Any]):
    def zero(self, value: Any) -> Any:
        return []

    def addInPlace(self, value1: Any, value2: Any) -> Any:  # noqa: N802
        value1 += value2
        return value1


@pytest.mark.parametrize("edited", [False, True])
def test_accumulators_count_every_task_once_reused_or_not(place: Place, edited: bool) -> None:
    place.program().text_file(str(place.file)).map(len).collect()
    for number in range(3):
        program, context = place.program(), place.context
        count, size, texts = context.accumulator(0), context.accumulator(1.5), context.accumulator([], Texts())

        def look(line: str) -> int:
            count.add(1)  # noqa: B023
            size.add(0.5)  # noqa: B023
            if line.startswith("w39"):
                texts.add([line])  # noqa: B023
            return len(line)

        assert program.text_file(str(place.file)).map(look).sum() == sum(map(len, place.lines))
        assert count.value == len(place.lines)
        assert size.value == 1.5 + len(place.lines) / 2
        assert sorted(texts.value) == sorted(line for line in place.lines if line.startswith("w39"))
        assert all(report.counters == {} for report in program.reports)
        if number:
            assert executed(program) == [1 if edited else 0]
        if edited:
            place.insert("w39 again")


def test_an_accumulator_in_a_merge_is_plain_sparks_and_right(place: Place) -> None:
    program, merged = place.program(), place.context.accumulator(0)

    def add(one: int, other: int) -> int:
        merged.add(1)
        return one + other

    counts = program.text_file(str(place.file)).map(lambda line: (line[:2], 1)).reduceByKey(add)
    assert sum(count for _, count in counts.collect()) == len(place.lines)
    assert merged.value == len(place.lines) - counts.count()
    assert len(program.notes) == 1 and "accumulator" in program.notes[0]


def test_foreach_runs_every_time(place: Place) -> None:
    seen = place.context.accumulator(0)
    for _ in range(2):
        place.program().text_file(str(place.file)).map(len).foreach(seen.add)
    assert seen.value == 2 * sum(map(len, place.lines))


def test_a_function_that_fails_fails_as_in_pyspark_and_works_when_repaired(place: Place) -> None:
    place.insert("no number")

    def numbers(program: RddProgram, broken: Any) -> Any:
        return program.text_file(str(place.file)).map(lambda line: int(line[1:3]) if line[0] == "w" else broken(line))

    with pytest.raises((PySparkException, Py4JJavaError), match="ValueError"):
        numbers(place.program(), int).sum()
    program = place.program()
    assert numbers(program, len).sum() == sum(int(line[1:3]) for line in place.lines if line[0] == "w") + 9
    assert program.notes == []


def test_what_cannot_travel_fails_as_in_pyspark(place: Place) -> None:
    lock = threading.Lock()
    with pytest.raises(Exception, match="lock") as ours:
        place.program().text_file(str(place.file)).map(lambda line: (lock, line)).count()
    with pytest.raises(Exception, match="lock") as theirs:
        place.context.textFile(str(place.file)).map(lambda line: (lock, line)).count()
    assert ours.type is theirs.type


def test_a_stop_iteration_does_not_cut_the_data_short(place: Place) -> None:
    for method in ("map", "filter", "flatMap"):
        with pytest.raises((PySparkException, Py4JJavaError)):
            getattr(place.program().text_file(str(place.file)), method)(lambda line: next(iter([]))).count()


def test_a_function_that_some_chunk_breaks_but_no_partition_works(place: Place) -> None:
    place.lines = ["rare one", *place.lines * 3, "rare two"]
    place.write()
    program = place.program()
    rare = program.text_file(str(place.file)).filter(lambda line: line.startswith("rare"))
    assert rare.mapPartitions(lambda part: [max(part)]).max() == "rare two"
    assert len(program.notes) == 1


def test_records_of_any_kind_and_keys_of_any_hash(place: Place) -> None:
    program = place.program()
    lines = program.text_file(str(place.file))
    kinds = [None, True, 2.5, b"x", ("a", (1, None)), frozenset({1}), "text", 10**30]
    keyed = lines.zipWithIndex().map(lambda pair: (kinds[pair[1] % 8], {pair[1] % 3: [pair[0]]}))
    counts = keyed.mapValues(len).reduceByKey(operator.add).collectAsMap()
    assert counts == dict.fromkeys(kinds, 50)
    assert [type(key) for key in sorted(counts, key=repr)] == [type(key) for key in sorted(kinds, key=repr)]
    with pytest.raises((PySparkException, Py4JJavaError), match="unhashable"):
        lines.map(lambda line: ([line], 1)).reduceByKey(operator.add).collect()


def test_a_missing_input_is_pysparks_error_when_it_is_read(place: Place, tmp_path: Path) -> None:
    missing = place.program().text_file(str(tmp_path / "nowhere")).map(len)
    with pytest.raises(Py4JJavaError, match="does not exist"):
        missing.collect()


def test_an_empty_input_gives_what_pyspark_gives(place: Place) -> None:
    place.lines = []
    place.write()
    for read in (place.program().text_file, place.context.textFile):
        lines = read(str(place.file))
        assert lines.collect() == [] and lines.count() == 0 and lines.isEmpty() and lines.map(len).sum() == 0
        assert lines.map(lambda line: (line, 1)).reduceByKey(max).collect() == []
        assert lines.fold("zero", max) == "zero"
        with pytest.raises(ValueError, match="empty"):
            lines.reduce(max)
        with pytest.raises(ValueError, match=r"Can not reduce\(\) empty RDD"):  # it has no partition
            lines.map(lambda line: (line, 1)).countByKey()


def test_counting_the_keys_of_no_record_gives_none(place: Place) -> None:
    for read in (place.program().text_file, place.context.textFile):
        nothing = read(str(place.file)).filter(lambda line: False)
        assert nothing.map(lambda line: (line, 1)).countByKey() == nothing.countByValue() == {}


@pytest.mark.parametrize("kind", ["folder", "glob", "list", "gz", "windows", "mark", "uri", "bytes"])
def test_inputs_are_read_as_spark_reads_them(kind: str, place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("b.txt", "a.txt", "c.log", "_hidden", ".dot"):
        (folder / name).write_text("".join(f"{name} {number}\n" for number in range(30)))
    named = {
        "folder": str(folder),
        "glob": f"{folder}/*.txt",
        "list": f"{folder}/c.log,{folder}/a.txt",
        "uri": f"file://{folder}/a.txt",
    }.get(kind, f"{folder}/a.txt")
    unicode = kind != "bytes"
    if kind == "gz":
        named += ".gz"
        Path(named).write_bytes(gzip.compress((folder / "a.txt").read_bytes()))
    elif kind == "windows":
        Path(named).write_bytes(b"one\r\ntwo\rthree\n\n\xff\xfe caf\xc3\xa9")
    elif kind == "mark":
        Path(named).write_bytes(b"\xef\xbb\xbfmarked\nline\n")
    program = place.program()
    plain = place.context.textFile(named, use_unicode=unicode).map(lambda line: (line, len(line))).collect()
    assert program.text_file(named, use_unicode=unicode).map(lambda line: (line, len(line))).collect() == plain
    assert bool(program.notes) == (kind == "mark")


def test_files_go_where_the_program_says_and_only_once(place: Place, tmp_path: Path) -> None:
    lines = place.program().text_file(str(place.file))
    lines.map(lambda line: (line[:2], len(line))).reduceByKey(max, 3).saveAsTextFile(str(tmp_path / "out"))
    assert len(list((tmp_path / "out").glob("part-*"))) == 3
    with pytest.raises(Py4JJavaError, match="already exists"):
        lines.map(len).saveAsTextFile(str(tmp_path / "out"))
    lines.map(str.upper).coalesce(1).saveAsTextFile(str(tmp_path / "one"))
    assert (tmp_path / "one" / "part-00000").read_text().splitlines() == [line.upper() for line in place.lines]
