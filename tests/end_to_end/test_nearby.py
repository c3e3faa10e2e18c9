"""Small work of other programs is done in threads of this process: in order, counted apart, ended when one fails."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.engine.running.counters import take_counts
from incoop.engine.running.nearby import ended_on_failure, run_nearby
from incoop.engine.running.spark import Spark
from incoop.job import Hints


def test_answers_come_in_the_order_of_the_items() -> None:
    second_began = threading.Event()

    def first_ends_last(item: int) -> int:
        if item == 1:
            assert second_began.wait(60)
        second_began.set()
        return item * 10

    assert run_nearby(first_ends_last, [1, 2]) == [10, 20]


def test_every_item_is_counted_by_itself() -> None:
    together = threading.Barrier(3)
    take_counts()  # what other tests left

    def counting(item: int) -> dict[str, int]:
        incoop.counter("seen", item)
        together.wait(60)
        return take_counts()

    assert run_nearby(counting, [1, 2, 3]) == [{"seen": 1}, {"seen": 2}, {"seen": 3}]
    assert take_counts() == {}


def test_what_others_wait_for_is_ended_when_one_fails() -> None:
    ended, waiting = threading.Event(), threading.Event()

    def work(item: str) -> None:
        if item == "fails":
            assert waiting.wait(60)
            raise ValueError("no")
        with ended_on_failure(ended.set):
            waiting.set()
            assert ended.wait(60)

    with pytest.raises(ValueError, match="no"):
        run_nearby(work, ["fails", "waits"])
    assert ended.is_set()


def test_what_begins_after_a_failure_is_ended_at_once() -> None:
    on_its_way, ended = threading.Event(), threading.Event()

    def work(item: str) -> None:
        if item == "fails":
            assert on_its_way.wait(60)
            raise ValueError("no")
        on_its_way.set()
        time.sleep(0.1)  # in which the failure is dealt with
        with ended_on_failure(ended.set):
            assert ended.wait(60)

    with pytest.raises(ValueError, match="no"):
        run_nearby(work, ["fails", "late"])
    assert ended.is_set()


def test_a_failure_ends_nothing_of_other_work() -> None:
    begun, ended, may_end = threading.Event(), threading.Event(), threading.Event()

    def other(_: int) -> bool:
        with ended_on_failure(ended.set):
            begun.set()
            return may_end.wait(60)

    def fails(_: int) -> None:
        assert begun.wait(60)
        raise ValueError("no")

    with ThreadPoolExecutor(1) as thread:
        beside = thread.submit(run_nearby, other, [1])
        with pytest.raises(ValueError, match="no"):
            run_nearby(fails, [1])
        may_end.set()
        assert beside.result() == [True] and not ended.is_set()


def lengths(lines: Any) -> list[tuple[str, int]]:
    return [("length", sum(map(len, lines)))]


def numbers(lines: Any) -> list[tuple[str, int]]:
    return [("lines", len(lines))]


def test_a_run_that_is_all_nearby_does_not_start_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Spark) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(Spark, "_start", refuse)
    monkeypatch.setattr(Spark, "_found", lambda self: None)
    text = tmp_path / "text"
    text.write_text("one\ntwo\n")
    job = incoop.Job("nearby", incoop.ChunkMapper(lengths), hints=Hints(nearby=1))
    with incoop.connect(tmp_path / "store") as session:
        result = session.run(job, str(text))
        assert list(result) == [("length", 6)]
        assert result.report.seconds["spark"] == 0
    with (
        incoop.connect(tmp_path / "store", master="local[1]") as session,
        pytest.raises(AssertionError, match="Spark was started"),
    ):
        session.run(incoop.Job("on Spark", incoop.ChunkMapper(numbers)), str(text))
