"""Scattered edits, day after day, on chunks that are kept by leaf: any combiner gives what an empty store gives."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import incoop
from incoop import inchdfs

from .places import Place

#: Some dozen leaves in a chunk, some chunks in an input of 100 KB.
CHUNKS = inchdfs.ChunkSettings(average=16 << 10)


@dataclass(frozen=True)
class Span:
    low: int
    high: int


def pairs(_: Any, line: str) -> Iterator[tuple[str, int]]:
    key, *numbers = line.split()
    for number in numbers:
        yield key, int(number)


def floats(_: Any, line: str) -> Iterator[tuple[str, float]]:
    for key, number in pairs(None, line):
        yield key, number / 7


def spans(_: Any, line: str) -> Iterator[tuple[str, Span]]:
    for key, number in pairs(None, line):
        yield key, Span(number, number)


def tallies(_: Any, line: str) -> Iterator[tuple[str, Counter[int]]]:
    for key, number in pairs(None, line):
        yield key, Counter([number])


def few(_: Any, line: str) -> Iterator[tuple[int, float]]:
    """Few keys with many values each: what is kept is kept by group."""
    for _key, number in pairs(None, line):
        yield number % 3, number / 7


def total(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    yield key, sum(values)


def in_a_loop(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    result = 0
    for value in values:
        result += value
    yield key, result


def largest(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    yield key, max(values)


def top_three(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for value in sorted(values, reverse=True)[:3]:
        yield key, value


def listed(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    yield key, list(values)


def widest(key: Any, values: Iterable[Span]) -> Iterator[tuple[Any, Span]]:
    given = list(values)
    yield key, Span(min(each.low for each in given), max(each.high for each in given))


def united(key: Any, values: Iterable[Counter[int]]) -> Iterator[tuple[Any, Counter[int]]]:
    result: Counter[int] = Counter()
    for value in values:
        result.update(value)
    yield key, result


JOBS = {
    "sum": incoop.Job("sum", pairs, total, total),
    "the same in a loop": incoop.Job("loop", pairs, in_a_loop, in_a_loop),
    "sum of floats": incoop.Job("floats", floats, total, total),
    "maximum": incoop.Job("maximum", pairs, largest, largest),
    "top three": incoop.Job("top three", pairs, top_three, top_three),
    "a class of the user's": incoop.Job("spans", spans, widest, widest),
    "counters": incoop.Job("counters", tallies, united, united),
    "few keys": incoop.Job("few keys", few, total, total),
    "no combiner": incoop.Job("none", pairs, listed),
}


def first_day() -> list[str]:
    rng = random.Random(11)
    return [
        f"k{number // 3:05d} " + " ".join(str(rng.randint(0, 99)) for _ in range(rng.randint(0, 6)))
        for number in range(6000)
    ]


def next_day(lines: list[str], rng: random.Random) -> list[str]:
    """Lines come, go and change everywhere; some of them bring new keys, and one key goes altogether."""
    changed = list(lines)
    for _ in range(40):
        at = rng.randrange(len(changed))
        match rng.randrange(4):
            case 0:
                del changed[at]
            case 1:
                changed.insert(at, f"new{rng.randint(0, 30)} 5 {rng.randint(0, 99)}")
            case 2:
                changed[at] = changed[at].split()[0] + f" {rng.randint(0, 99)}"
            case 3:
                changed.insert(at, changed[rng.randrange(len(changed))])
    gone = rng.choice(changed).split()[0]
    return [line for line in changed if not line.startswith(gone)]


@pytest.mark.parametrize("name", JOBS)
def test_every_day_gives_what_an_empty_store_gives(name: str, place: Place) -> None:
    place.chunks = CHUNKS
    job, rng = JOBS[name], random.Random(len(name))
    days = [first_day()]
    for _ in range(4):
        days.append(next_day(days[-1], rng))
    days.append(days[1])  # and back
    for day in days:
        place.write(day)
        result = place.run(job)
        with place.scratch() as session:
            scratch = session.run(job, str(place.input))
            assert result.as_dict() == scratch.as_dict()
            assert result.root == scratch.root
    assert result.report.map.executed == 0, "what a day gave is still known when it comes again"


@pytest.mark.parametrize("name", ["sum", "maximum", "no combiner"])
def test_a_day_writes_what_changed(name: str, place: Place) -> None:
    place.chunks = CHUNKS
    lines = first_day()
    place.write(lines)
    place.run(JOBS[name])
    before = packed_bytes(place)
    lines[100], lines[3000], lines[5900] = "other 1", "other 2", "other 3"
    place.write(lines)
    result = place.run(JOBS[name])
    assert 2 <= result.report.map.executed <= 4
    assert packed_bytes(place) - before < before / 2


def packed_bytes(place: Place) -> int:
    """What the packs of a store hold."""
    return sum(path.stat().st_size for path in place.store.rglob("*") if path.is_file() and "packs" in path.parts)
