"""What a job gives does not depend on where it ran: processes of our own, Spark, threads of this process."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import incoop
from incoop.engine.events import DidStartSpark, WillRunIn
from incoop.job import Hints
from tests.end_to_end.histories import as_set, edited, some_lines
from tests.end_to_end.jobs import COUNTING, JOBS
from tests.end_to_end.places import CHUNKS, as_bytes

from .conftest import OwnPlace, alone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def where(result: incoop.Result) -> set[str]:
    return {event.where for event in result.events.of(WillRunIn)}


@contextlib.contextmanager
def two_sessions(base: Path, spark: SparkSession) -> Iterator[tuple[incoop.Session, incoop.Session]]:
    folder = Path(tempfile.mkdtemp(dir=base))
    with (
        incoop.connect(folder / "own", chunks=CHUNKS) as own,
        incoop.connect(folder / "spark", spark=spark, chunks=CHUNKS) as on_spark,
    ):
        yield alone(own), on_spark


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), job=st.sampled_from(JOBS + COUNTING))
def test_an_input_and_its_edits_give_the_same(seed: int, job: incoop.Job, base: Path, spark: SparkSession) -> None:
    rng = random.Random(seed)
    files = {"a.txt": some_lines(rng, rng.randint(0, 120))}
    with two_sessions(base, spark) as (own, on_spark), tempfile.TemporaryDirectory(dir=base) as text:
        for edit in ("nothing", rng.choice(["insert", "change one word", "append"])):
            files = edited(files, edit, rng)
            for name, lines in files.items():
                (Path(text) / name).write_bytes(as_bytes(lines))
            ours, theirs = own.run(job, text), on_spark.run(job, text)
            assert as_set(ours.collect()) == as_set(theirs.collect())
            assert ours.root == theirs.root
            assert ours.report.counters == theirs.report.counters
            assert where(ours) <= {"processes"} and where(theirs) <= {"spark"}


def lengths(lines: Any) -> list[tuple[str, int]]:
    return [("length", sum(map(len, lines))), ("lines", len(lines))]


@pytest.mark.parametrize("nearby", [0, 1])
def test_mappers_of_whole_chunks_give_the_same(nearby: int, own: OwnPlace, spark: SparkSession) -> None:
    own.write(some_lines(random.Random(7), 200))
    job = incoop.Job("lengths", incoop.ChunkMapper(lengths), hints=Hints(nearby=nearby))
    ours = own.run(job)
    assert where(ours) == {"threads" if nearby else "processes"}
    with incoop.connect(own.folder / "other", spark=spark, chunks=CHUNKS) as session:
        theirs = session.run(job, str(own.input))
        assert ours.collect() == theirs.collect()
        assert where(theirs) == {"spark"}


def test_what_ran_in_processes_is_reused_on_spark_and_the_other_way(own: OwnPlace, spark: SparkSession) -> None:
    lines = some_lines(random.Random(8), 300)
    own.write(lines)
    first = own.run(JOBS[0])
    own.close_session()
    with incoop.connect(own.store, spark=spark, chunks=CHUNKS) as session:
        same = session.run(JOBS[0], str(own.input))
        assert not same.events.executed("map") and same.root == first.root
        own.write([*lines, "one more"])
        more = session.run(JOBS[0], str(own.input))
        assert 1 <= len(more.events.executed("map")) <= 2
    own.write([*lines, "one more", "and another"])
    last = own.run(JOBS[0])
    assert 1 <= len(last.events.executed("map")) <= 2
    assert not list(last.events.of(DidStartSpark))
    assert last.as_dict()["another"] == 1


def test_a_result_is_saved_compared_and_read_without_spark(own: OwnPlace) -> None:
    own.write([f"word{number} again" for number in range(200)])
    own.run(JOBS[0]).save(own.folder / "out")
    own.write([f"word{number} again" for number in range(201)])
    result = own.run(JOBS[0])
    assert {change.key for change in result.changes()} == {"again", "word200"}
    assert 1 <= len(result.save(own.folder / "out")) <= 2
    assert result.save(own.folder / "out") == []
    saved = "".join(path.read_text() for path in (own.folder / "out").glob("part-*"))
    assert dict(line.split("\t") for line in saved.splitlines()) == {key: str(value) for key, value in result}


@pytest.mark.parametrize("size", [0, 1 << 60])
def test_parts_are_written_by_workers_or_here(size: int, own: OwnPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incoop.engine.save._FEW_BYTES", size)
    own.write([f"word{number} again" for number in range(50)])
    result = own.run(JOBS[0])
    result.save(own.folder / "out")
    saved = "".join(path.read_text() for path in (own.folder / "out").glob("part-*"))
    assert dict(line.split("\t") for line in saved.splitlines()) == {key: str(value) for key, value in result}
