"""`update`: a run only if it would give something else. What did not run has no generation, and asks no memo."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.engine.events import DidStartSpark, WillRunIn
from incoop.engine.failures import ChangesLost

Pairs = Iterator[tuple[Any, Any]]


def words(_: None, line: str) -> Pairs:
    for word in line.split():
        yield word, 1


def total(word: str, counts: Iterator[int]) -> Pairs:
    yield word, sum(counts)


def job(**given: Any) -> incoop.Job:
    return incoop.Job(**{"name": "word count", "mapper": words, "combiner": total, "reducer": total, **given})


@pytest.fixture
def folder(base: Path, tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text("to be or not to be\n")
    return tmp_path


@pytest.fixture
def session(folder: Path) -> Iterator[incoop.Session]:
    with incoop.connect(folder / "store") as opened:
        yield opened


def generation(session: incoop.Session) -> int:
    """The number of the job's last run that was recorded."""
    last = session._memo.last_generation("word count")
    return last.number if last is not None else 0


def test_the_same_input_and_code_run_nothing_and_make_no_generation(session: incoop.Session, folder: Path) -> None:
    first = session.update(job(), str(folder / "in.txt"))
    assert first is not None and first.as_dict() == {"to": 2, "be": 2, "or": 1, "not": 1}
    before = generation(session)
    for _ in range(3):
        assert session.update(job(), str(folder / "in.txt"), first) is None
    os.utime(folder / "in.txt", (1, 1))  # other times, the same content
    assert session.update(job(), str(folder / "in.txt"), first) is None
    assert generation(session) == before


def test_a_change_runs_and_tells_what_changed(session: incoop.Session, folder: Path) -> None:
    first = session.update(job(), str(folder / "in.txt"))
    (folder / "in.txt").write_text("to be or not to do\n")  # the same size, perhaps within one tick of the clock
    second = session.update(job(), str(folder / "in.txt"), first)
    assert second is not None and generation(session) == second.report.generation
    assert {(c.key, c.old, c.new) for c in second.changes(first)} == {("be", 2, 1), ("do", None, 1)}
    assert session.update(job(), str(folder / "in.txt"), second) is None
    assert session.update(job(), str(folder / "in.txt"), first) is not None


def test_other_code_runs_and_another_name_does_not(session: incoop.Session, folder: Path) -> None:
    first = session.update(job(), str(folder / "in.txt"))
    assert session.update(job(name="another name"), str(folder / "in.txt"), first) is None, "a name computes nothing"
    changed = session.update(
        job(mapper=lambda _, line: ((word, 2) for word in line.split())), str(folder / "in.txt"), first
    )
    assert changed is not None and changed.as_dict()["to"] == 4


def test_what_another_session_ran_meanwhile_is_told_by_the_earlier_result(
    session: incoop.Session, folder: Path
) -> None:
    first = session.update(job(), str(folder / "in.txt"))
    with (folder / "in.txt").open("a") as file:
        file.write("to sleep\n")
    with incoop.connect(folder / "store") as other:
        other.run(job(), str(folder / "in.txt"))
    second = session.update(job(), str(folder / "in.txt"), first)
    assert second is not None, "the other session gave its result to somebody else"
    assert list(second.changes()) == [], "since that session's run nothing changed"
    assert {(c.key, c.old, c.new) for c in second.changes(first)} == {("to", 2, 3), ("sleep", None, 1)}


def test_a_file_that_functions_read_counts(session: incoop.Session, folder: Path) -> None:
    stop = folder / "stop.txt"
    stop.write_text("or\n")
    name = str(stop)

    def kept(_: None, line: str) -> Pairs:
        with open(name) as file:  # noqa: PTH123
            stopped = set(file.read().split())
        for word in line.split():
            if word not in stopped:
                yield word, 1

    first = session.update(job(mapper=kept), str(folder / "in.txt"))
    assert first is not None and "or" not in first.as_dict()
    assert session.update(job(mapper=kept), str(folder / "in.txt"), first) is None
    stop.write_text("be\n")
    second = session.update(job(mapper=kept), str(folder / "in.txt"), first)
    assert second is not None and second.as_dict() == {"to": 2, "or": 1, "not": 1}
    assert session.update(job(mapper=kept), str(folder / "in.txt"), second) is None


def test_a_job_that_keeps_nothing_is_not_run_again_for_the_same(session: incoop.Session, folder: Path) -> None:
    name = str(folder / "stop.txt")
    Path(name).write_text("or\n")

    def kept(_: None, line: str) -> Pairs:
        with open(name) as file:  # noqa: PTH123
            stopped = file.read()
        yield from ((word, 1) for word in line.split() if word not in stopped)

    plain = job(mapper=kept, memoize=False)
    first = session.update(plain, str(folder / "in.txt"))
    assert first is not None
    assert session.update(plain, str(folder / "in.txt"), first) is None
    (folder / "in.txt").write_text("be\n")
    second = session.update(plain, str(folder / "in.txt"), first)
    assert second is not None
    with pytest.raises(ChangesLost):
        second.changes()
    assert {(c.key, c.new) for c in second.changes(first)} == {("be", 1), ("to", None), ("not", None)}


def test_a_combiner_that_is_refused_does_not_make_every_look_a_run(
    session: incoop.Session, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def renaming(word: str, counts: Iterator[int]) -> Pairs:
        yield word.upper(), sum(counts)

    refused = job(combiner=renaming, reducer=lambda word, counts: [(word.upper(), sum(counts))])
    first = session.update(refused, str(folder / "in.txt"))
    assert first is not None and first.as_dict()["TO"] == 2
    assert "running without the combiner" in caplog.text
    caplog.clear()
    assert session.update(refused, str(folder / "in.txt"), first) is None
    assert caplog.messages == [], "it was not even tried"


def test_a_new_version_of_a_dataset_is_a_change(session: incoop.Session, folder: Path) -> None:
    from incoop import inchdfs

    inchdfs.put(session.datasets, inchdfs.expand(folder / "in.txt"), "logs")
    first = session.update(job(), "inchdfs:/logs")
    assert session.update(job(), "inchdfs:/logs", first) is None
    (folder / "in.txt").write_text("to be\n")
    inchdfs.put(session.datasets, inchdfs.expand(folder / "in.txt"), "logs")
    second = session.update(job(), "inchdfs:/logs", first)
    assert second is not None and second.as_dict() == {"to": 1, "be": 1}


def test_an_update_starts_no_spark(session: incoop.Session, folder: Path) -> None:
    first = session.update(job(), str(folder / "in.txt"))
    (folder / "in.txt").write_text("to be\n")
    second = session.update(job(), str(folder / "in.txt"), first)
    assert second is not None
    # A Spark of other tests may run in this process.
    assert {each.where for each in second.events.of(WillRunIn)} == {"processes"}
    assert not [*second.events.of(DidStartSpark)]
