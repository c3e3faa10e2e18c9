"""What a run says of itself, from its events."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from incoop.engine.events import (
    DidBegin,
    DidCommit,
    DidExecute,
    DidFinish,
    DidLook,
    DidMove,
    DidNumber,
    DidReuse,
    DidStartSpark,
    DidStore,
    DidWarn,
    Event,
    Events,
    WillExecute,
    WillRun,
)
from incoop.engine.explain import Explanation
from incoop.engine.report import RunReport


def told(*events: Event) -> RunReport:
    report = RunReport("count")
    for event in events:
        report.hear(event)
    return report


MAPPED = DidExecute("map", (b"a", b"b"), {"map": 2}, {"map": 1.5}, bytes=600)
CONTRACTED = DidExecute("contract", (b"n",), {"combine": 3, "reduce": 4}, {"contract": 0.25, "reduce": 0.125}, keys=7)
RUN: tuple[Event, ...] = (
    DidBegin("count"),
    DidLook(1_000_000, 0.5),
    DidNumber(3),
    DidStartSpark(2.0),
    WillRun({"map": 1000, "combine": 30, "reduce": 8}),
    MAPPED,
    CONTRACTED,
    DidMove("map", 10, 20),
    DidMove("contract", 1, 2),
    DidWarn("careful"),
    DidFinish(1234, {"lines": 9, "kinds": 2000}),
    DidCommit(3, True, 4.0),
)

EMPTY = {
    "job": "count",
    "generation": 0,
    "input_bytes": 0,
    "fresh_bytes": 0,
    "map": {"tasks": 0, "executed": 0},
    "combine": {"tasks": 0, "executed": 0},
    "reduce": {"tasks": 0, "executed": 0},
    "keys": {"total": 0, "reduced": 0},
    "seconds": {"chunk": 0, "spark": 0, "map": 0, "contract": 0, "reduce": 0, "total": 0},
    "bytes": {
        "local": 0,
        "moved": 0,
        "stages": {"map": {"local": 0, "moved": 0}, "contract": {"local": 0, "moved": 0}},
    },
    "warnings": [],
    "counters": {},
    "samples": {},
}


def test_a_report_that_heard_nothing_says_so() -> None:
    assert told().as_dict() == EMPTY


def test_a_report_is_what_its_events_say() -> None:
    assert told(*RUN).as_dict() == {
        "job": "count",
        "generation": 3,
        "input_bytes": 1_000_000,
        "fresh_bytes": 600,
        "map": {"tasks": 1000, "executed": 2},
        "combine": {"tasks": 30, "executed": 3},
        "reduce": {"tasks": 8, "executed": 4},
        "keys": {"total": 1234, "reduced": 7},
        "seconds": {"chunk": 0.5, "spark": 2.0, "map": 1.5, "contract": 0.25, "reduce": 0.125, "total": 4.0},
        "bytes": {
            "local": 11,
            "moved": 22,
            "stages": {"map": {"local": 10, "moved": 20}, "contract": {"local": 1, "moved": 2}},
        },
        "warnings": ["careful"],
        "counters": {"kinds": 2000, "lines": 9},
        "samples": {},
    }


def test_what_is_told_in_pieces_is_added_up() -> None:
    pieces = [MAPPED, MAPPED, CONTRACTED, CONTRACTED, DidMove("map", 1, 2), DidMove("map", 1, 2)]
    twice = told(*pieces, DidStartSpark(1.0), DidStartSpark(1.0))
    assert (twice.map.executed, twice.combine.executed, twice.reduce.executed) == (4, 6, 8)
    assert (twice.fresh_bytes, twice.keys_reduced) == (1200, 14)
    assert (twice.seconds["map"], twice.seconds["spark"], twice.seconds["reduce"]) == (3.0, 2.0, 0.25)
    assert (twice.local_bytes["map"], twice.moved_bytes["map"]) == (2, 4)


def test_a_warning_is_said_once() -> None:
    assert told(DidWarn("one"), DidWarn("two"), DidWarn("one")).warnings == ["one", "two"]


def test_another_attempt_counts_anew_and_keeps_warnings() -> None:
    report = told(*RUN, DidBegin("count"))
    assert report.as_dict() == EMPTY | {"warnings": ["careful"]}


def test_an_attempt_that_goes_on_keeps_what_was_mapped() -> None:
    report = told(*RUN, DidBegin("count", goes_on=True))
    assert report.as_dict() == EMPTY | {
        "warnings": ["careful"],
        "fresh_bytes": 600,
        "map": {"tasks": 0, "executed": 2},
        "seconds": {**told(*RUN[:1]).seconds, "map": 1.5},
    }


def test_an_attempt_is_the_first_unless_it_says_that_it_goes_on() -> None:
    assert not DidBegin("count").goes_on


def test_seconds_are_rounded_to_a_tenth_of_a_millisecond() -> None:
    assert told(DidCommit(1, True, 1.23456)).as_dict()["seconds"]["total"] == 1.2346


@pytest.mark.parametrize(
    "event", [DidReuse("map", np.array([b"a"])), WillExecute("map", (b"a",)), DidStore((b"a",))], ids=repr
)
def test_other_events_change_nothing(event: Event) -> None:
    assert told(event).as_dict() == EMPTY


def test_a_report_prints_as_a_table() -> None:
    assert str(told(*RUN)) == textwrap.dedent(
        """\
        count, run 3    ran         of  seconds
        input bytes     600  1,000,000     0.50
        map chunks        2      1,000     1.50
        combine blocks    3         30     0.25
        reduce shards     4          8     0.12
        reduced keys      7      1,234     4.00
        bytes of packs read: 11 from local caches, 22 moved
        counter kinds: 2,000
        counter lines: 9
        warning: careful"""
    )


def test_packs_are_told_of_only_where_some_were_read() -> None:
    assert "packs" not in str(told())
    assert "11 from local caches, 0 moved" in str(told(DidMove("map", 11, 0)))
    assert "0 from local caches, 22 moved" in str(told(DidMove("contract", 0, 22)))


def test_events_are_kept_and_told_to_everyone_who_listens() -> None:
    heard: list[Event] = []
    events = Events(listeners=[heard.append, heard.append])
    events.tell(MAPPED)
    events.tell(DidReuse("map", np.array([b"c", b"d"])))
    events.tell(DidReuse("contract", np.array([b"e"])))
    events.tell(CONTRACTED)
    assert len(events.told) == 4 and len(heard) == 8
    assert list(events.of(DidExecute)) == [MAPPED, CONTRACTED]
    assert (events.executed("map"), events.executed("contract")) == ((b"a", b"b"), (b"n",))
    assert (events.reused("map"), events.reused("contract")) == ((b"c", b"d"), (b"e",))
    assert Events().told == [] and Events().listeners == []


def test_tasks_that_read_no_input_and_reduce_no_key_count_none() -> None:
    assert told(DidExecute("map", (), {}, {})).as_dict() == EMPTY


def test_an_explanation_says_how_much_would_run_and_why() -> None:
    explained = Explanation("count", 4000, 1200, 3, 1000, 7, 90, "3 chunks are new")
    assert explained.reusable == 0.75
    assert str(explained) == (
        "count: 75.0% of 4,000 bytes can be reused\n"
        "  map      3 of 1,200 chunks (1,000 bytes)\n"
        "  combine  7 of 90 nodes\n"
        "  because  3 chunks are new"
    )


def test_all_of_an_empty_input_can_be_reused() -> None:
    assert Explanation("count", 0, 0, 0, 0, 0, 0, "").reusable == 1.0
