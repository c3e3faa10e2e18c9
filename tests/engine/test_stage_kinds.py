"""A new kind of stage adds a file and touches nothing else: it is run, reused, explained and mended as jobs are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.code import KeepsState
from incoop.engine.driver import StageRun
from incoop.engine.stage import Outcome, RunOptions
from tests.end_to_end.jobs import total as sums
from tests.end_to_end.jobs import words
from tests.end_to_end.places import CHUNKS, Place

from .line_counts import LineCounts


def some_text(count: int) -> list[str]:
    return [f"line {number} of some text, {number * number} words" for number in range(count)]


def lines_in(content: bytes) -> int:
    return content.count(b"\n")


seen: list[int] = []


def remembering(content: bytes) -> int:
    seen.append(len(content))
    return len(seen)


def run_of(place: Place, count: Any = lines_in) -> StageRun:
    session = place.session
    stage = LineCounts("lines", count, str(place.input), session.datasets)
    return StageRun(stage, session._memo, session._workforce, RunOptions(CHUNKS))


def total(outcome: Outcome) -> int:
    return int(json.loads(outcome.finished.body)["total"])


def test_a_new_kind_is_run_and_what_did_not_change_is_not_run_again(place: Place) -> None:
    lines = some_text(200)
    place.write(lines)
    first = run_of(place).execute()
    assert total(first) == len(lines)
    assert len(first.events.executed("count")) == first.report.map.tasks > 5

    lines.insert(100, "one more line")
    place.write(lines)
    assert run_of(place).explain().fresh_chunks in (1, 2)
    update = run_of(place).execute()
    assert total(update) == len(lines)
    assert len(update.events.executed("count")) in (1, 2)
    assert set(update.events.reused("count")) <= set(first.events.executed("count"))

    again = run_of(place).execute()
    assert total(again) == len(lines) and again.events.executed("count") == ()
    assert again.changes_lost == "" and again.report.generation == update.report.generation + 1


def test_what_its_function_reads_is_in_its_ids(place: Place, tmp_path: Path) -> None:
    weight = tmp_path / "weight"
    weight.write_text("2")

    def weighted(content: bytes) -> int:
        return int(weight.read_text()) * content.count(b"\n")

    place.write(some_text(50))
    assert total(run_of(place, weighted).execute()) == 100
    assert run_of(place, weighted).execute().events.executed("count") == ()
    weight.write_text("3")
    assert total(run_of(place, weighted).execute()) == 150


def test_a_function_that_keeps_state_is_refused(place: Place) -> None:
    place.write(some_text(50))
    with pytest.raises(KeepsState, match="seen"):
        run_of(place, remembering).execute()


def test_a_record_of_another_kind_is_not_read(place: Place) -> None:
    place.write(some_text(50))
    place.run(incoop.Job("lines", words, sums, sums))
    outcome = run_of(place).execute()
    assert total(outcome) == 50
    assert outcome.changes_lost == "its record was lost, or could not be written"
