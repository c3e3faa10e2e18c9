"""What does not run: work follows the change."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop import inchdfs
from tests.events import CONTRACT, nothing_ran, ran, reused, tasks

from .histories import some_lines, spark_jobs
from .jobs import listed, slow_total, total, words
from .places import CHUNKS, Place, as_bytes

LINES = some_lines(random.Random(5), 700)


def executed(result: incoop.Result) -> tuple[int, int, int, int]:
    report = result.report
    return report.map.executed, report.combine.executed, report.reduce.executed, report.keys_reduced


def depth(chunks: int) -> int:
    """Levels of a tree over so many chunks, with groups of two at the least."""
    return max(1, (chunks - 1).bit_length())


@pytest.fixture(params=["combined", "a combiner of its own", "not combined"])
def job(request: pytest.FixtureRequest) -> incoop.Job:
    combiner = {"combined": total, "a combiner of its own": slow_total, "not combined": None}[request.param]
    return incoop.Job("reuse", words, total if combiner else listed, combiner)


def test_an_unchanged_input_runs_nothing_and_starts_no_spark_job(job: incoop.Job, place: Place) -> None:
    place.write(LINES)
    first = place.run(job)
    before = spark_jobs(place.spark)
    again = place.run(job)
    assert nothing_ran(again) and executed(again) == (0, 0, 0, 0)
    assert reused(again) == ran(first)
    assert reused(again, CONTRACT) == (ran(first, CONTRACT) if job.combiner is not None else set())
    assert again.collect() == first.collect()
    assert spark_jobs(place.spark) == before
    assert again.report.fresh_bytes == 0


def test_a_new_session_and_a_file_that_was_only_touched_run_nothing(job: incoop.Job, place: Place) -> None:
    place.write(LINES)
    first = place.run(job)
    place.close_session()
    (place.input / "input.txt").touch()
    before = spark_jobs(place.spark)
    again = place.run(job)
    assert nothing_ran(again) and executed(again) == (0, 0, 0, 0)
    assert reused(again) == ran(first)
    assert spark_jobs(place.spark) == before


def test_going_back_to_an_older_input_runs_nothing(job: incoop.Job, place: Place) -> None:
    place.write(LINES)
    first = place.run(job)
    place.write(LINES[:300] + LINES[350:])
    place.run(job)
    place.write(LINES)
    before = spark_jobs(place.spark)
    again = place.run(job)
    assert nothing_ran(again) and executed(again) == (0, 0, 0, 0)
    assert reused(again) == ran(first)
    assert again.collect() == first.collect()
    assert spark_jobs(place.spark) == before


def test_one_changed_record_maps_one_chunk_and_reduces_its_words(job: incoop.Job, place: Place) -> None:
    place.write(LINES)
    before = place.run(job)
    chunks = len(tasks(before))
    assert chunks > 40
    at = next(number for number in range(300, 400) if len(LINES[number]) > 20)
    first, *rest = LINES[at].split()
    place.write([*LINES[:at], " ".join([first + "x", *rest]), *LINES[at + 1 :]])
    result = place.run(job)
    report = result.report
    assert report.map.executed == len(ran(result)) == 1
    assert len(tasks(before) - reused(result)) == 1 and reused(result) < tasks(before)
    if job.combiner is not None:  # all nodes but those on the way from the chunk to the root
        assert reused(result, CONTRACT) < tasks(before, CONTRACT)
        assert len(tasks(before, CONTRACT) - reused(result, CONTRACT)) == len(ran(result, CONTRACT)) <= depth(chunks)
    # Two words changed; each touches one shard of each node on the way up.
    assert report.combine.executed <= 2 * depth(chunks)
    assert report.reduce.executed <= 2
    assert report.keys_reduced == len({(each.key) for each in result.changes() if each.new is not None}) <= 2
    assert report.fresh_bytes < 2048


def chunk_ids(lines: list[str]) -> set[bytes]:
    return {chunk.id for chunk in inchdfs.Splitter(CHUNKS).split_bytes(as_bytes(lines))}


def test_a_record_whose_keys_and_values_stay_reduces_nothing(place: Place) -> None:
    job = incoop.Job("reuse", words, total, total)
    place.write(LINES)
    place.run(job)
    # A line of which a chunk's end does not depend.
    rewritten = ([*LINES[:at], "  ".join(reversed(LINES[at].split())), *LINES[at + 1 :]] for at in range(300, 400))
    place.write(next(lines for lines in rewritten if len(chunk_ids(lines) - chunk_ids(LINES)) == 1))
    result = place.run(job)
    assert result.report.map.executed == 1
    assert result.report.combine.executed == 0
    assert result.report.keys_reduced == 0
    assert list(result.changes()) == []


def test_an_append_touches_the_right_spine(place: Place) -> None:
    job = incoop.Job("reuse", words, total, total)
    place.write(LINES)
    first = place.run(job)
    chunks = len(tasks(first))
    place.write([*LINES, "appended words"])
    result = place.run(job)
    report = result.report
    assert len(tasks(first) - reused(result)) <= 1  # the last chunk, if it grew
    assert report.map.executed <= 2
    assert report.keys_reduced == 2
    # The last chunk grows or a chunk comes after it: the spine, and at most one more node a level where a group is cut.
    assert report.combine.executed <= 2 * 2 * depth(chunks) + 16


def test_a_moved_block_maps_only_its_edges(place: Place) -> None:
    job = incoop.Job("reuse", words, total, total)
    place.write(LINES)
    first = place.run(job)
    moved = LINES[:100] + LINES[300:] + LINES[100:300]
    place.write(moved)
    result = place.run(job)
    # The block's two ends and the place it left: a chunk or two each, until cuts meet known ones again.
    assert len(ran(result)) <= 9 and len(tasks(first) - reused(result)) <= 9
    assert result.collect() == first.collect()
    assert list(result.changes()) == []


def test_a_renamed_a_copied_and_a_split_file_map_nothing_again(job: incoop.Job, place: Place) -> None:
    half = LINES[:350]
    place.write({"a.txt": half, "b.txt": LINES[350:]})
    first = place.run(job)
    for files in ({"c.txt": half, "b.txt": LINES[350:]}, {"b.txt": LINES[350:], "c.txt": half, "d.txt": half}):
        place.write(files)
        result = place.run(job)
        assert ran(result) == set() and reused(result) == ran(first)


def test_equal_chunks_are_mapped_once(place: Place) -> None:
    job = incoop.Job("reuse", words, total, total)
    place.write({f"{number}.txt": LINES[:100] for number in range(5)})
    result = place.run(job)
    assert len(ran(result)) * 5 == result.report.map.executed * 5 == result.report.map.tasks


def calls(folder: Path) -> list[str]:
    """What `noted` functions were called with, since the last look."""
    found = []
    for path in sorted(folder.iterdir()):
        found.append(path.read_text())
        path.unlink()
    return sorted(found)


def test_the_combiner_and_the_reducer_are_called_for_touched_keys_only(place: Place) -> None:
    notes = place.folder / "notes"
    notes.mkdir()
    folder = str(notes)

    def note(what: str) -> None:
        import tempfile

        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
            file.write(what)

    def pairs(_: Any, line: str) -> Any:
        for word in line.split():
            yield word, 1

    def combine(key: Any, values: Any) -> Any:
        note(f"combine {key}")
        yield key, sum([*values])

    def reduce(key: Any, values: Any) -> Any:
        note(f"reduce {key}")
        yield key, sum([*values])

    job = incoop.Job("calls", pairs, reduce, combine, version="1")
    lines = [f"rare{number} common" for number in range(200)]
    place.write(lines)
    place.run(job)
    calls(notes)
    edited = ([*lines[:at], f"rare{at} fresh common", *lines[at + 1 :]] for at in range(30, 150))
    place.write(next(each for each in edited if len(chunk_ids(each) - chunk_ids(lines)) == 1))
    result = place.run(job)
    assert result.as_dict()["fresh"] == 1
    assert result.report.map.executed == 1
    made = calls(notes)
    assert [call for call in made if call.startswith("reduce")] == ["reduce fresh"]
    # One call in the map task; "fresh" occurs once, "common" as often as before: nothing is combined above it.
    assert [call for call in made if call.startswith("combine")] == ["combine common"]


def test_a_second_job_with_the_same_mapper_and_combiner_reduces_only(place: Place) -> None:
    place.write(LINES)
    one = place.run(incoop.Job("one", words, total, slow_total))
    two = place.run(incoop.Job("two", words, slow_total, slow_total))
    assert ran(two) == ran(two, CONTRACT) == set()
    assert (reused(two), reused(two, CONTRACT)) == (ran(one), ran(one, CONTRACT))
    report = two.report
    assert report.map.executed == report.combine.executed == 0
    assert report.keys_reduced == report.keys_total > 0
