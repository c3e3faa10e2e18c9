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


#: Chunks of many stretches, so that a changed one is read in a few places only.
LARGE = inchdfs.ChunkSettings(average=64 << 10)


def long_list() -> list[str]:
    rng = random.Random(5)
    return [f"k{rng.randrange(9000)} {rng.randint(0, 99)} {number}" for number in range(40_000)]


def edited_everywhere(lines: list[str]) -> list[str]:
    changed = list(lines)
    for at in range(500, len(changed), 1500):
        changed[at] = f"k{at % 9000} 7"
    del changed[20_000]
    return changed


@pytest.mark.parametrize("name", ["sum", "sum of floats", "top three", "no combiner"])
def test_of_chunks_that_changed_everywhere_a_few_leaves_are_mapped(name: str, place: Place) -> None:
    place.chunks = LARGE
    lines = long_list()
    place.write(lines)
    first = place.run(JOBS[name])
    assert first.report.fresh_bytes == first.report.input_bytes
    for _ in range(2):
        lines = edited_everywhere(lines)
        place.write(lines)
        result = place.run(JOBS[name])
        assert result.report.map.executed > result.report.map.tasks / 2
        assert result.report.fresh_bytes < result.report.input_bytes / 10
        with place.scratch() as session:
            assert result.as_dict() == session.run(JOBS[name], str(place.input)).as_dict()


@pytest.mark.parametrize("damage", ["gone", "cut short", "altered", "of another input"])
def test_stretches_that_are_not_known_cost_time_and_change_nothing(damage: str, place: Place) -> None:
    place.chunks = LARGE
    lines = long_list()
    place.write(lines)
    place.run(JOBS["sum"])
    (file,) = (place.store / "inchdfs" / "inputs").glob("*.stretches")
    data = bytearray(file.read_bytes())
    if damage == "gone":
        file.unlink()
    elif damage == "cut short":
        file.write_bytes(data[: len(data) // 2])
    elif damage == "altered":
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    else:
        other = place.folder / "other.txt"
        other.write_text("".join(f"{line} 1\n" for line in lines))
        place.session.run(JOBS["sum"], str(other))
        (found,) = set((place.store / "inchdfs" / "inputs").glob("*.stretches")) - {file}
        file.write_bytes(found.read_bytes())
    place.write(edited_everywhere(lines))
    result = place.run(JOBS["sum"])
    with place.scratch() as session:
        assert result.as_dict() == session.run(JOBS["sum"], str(place.input)).as_dict()


def test_a_second_job_is_told_what_the_first_one_found_in_an_input(place: Place) -> None:
    place.chunks = LARGE
    lines = long_list()
    place.write(lines)
    jobs = [JOBS["sum"], JOBS["maximum"]]
    for job in jobs:
        place.run(job)
    place.write(edited_everywhere(lines))
    for job in jobs:
        result = place.run(job)
        assert result.report.fresh_bytes < result.report.input_bytes / 10
        with place.scratch() as session:
            assert result.as_dict() == session.run(job, str(place.input)).as_dict()


def packed_bytes(place: Place) -> int:
    """What the packs of a store hold."""
    return sum(path.stat().st_size for path in place.store.rglob("*") if path.is_file() and "packs" in path.parts)
