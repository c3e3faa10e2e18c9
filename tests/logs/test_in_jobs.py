"""Malformed lines in jobs: nothing is given for them, and the report says how many there are now, with samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import incoop
from incoop import logs
from incoop.inchdfs import ChunkSettings
from incoop.sketches import Distinct, Quantiles

from ..engine.running.conftest import OwnPlace


def level(_: Any, line: str) -> Iterator[tuple[Any, int]]:
    if pairs := logs.logfmt(line):
        yield pairs.get("level"), 1


def total(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, int]]:
    incoop.counter("reduced", sample="of a reducer")
    yield key, sum(counts)


def added(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum(counts)


def sketched(_: Any, line: str) -> Iterator[tuple[str, Any]]:
    if pairs := logs.logfmt(line):
        yield "visitors", Distinct([pairs.get("user")])
        yield "took", Quantiles([len(line)])


def merged(key: str, parts: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    several = [*parts]
    yield key, type(several[0]).merged(several)


#: So that the lines below are some twenty chunks.
CHUNKS = ChunkSettings(average=512)

GOOD = [f"level={'info' if number % 3 else 'warn'} user=u{number % 41} n={number}" for number in range(400)]
BAD = [f'"broken {number % 7}' for number in range(20)]
NAME = "malformed logfmt lines"


def test_malformed_lines_are_counted_as_they_are_now(own: OwnPlace) -> None:
    own.chunks = CHUNKS
    by_level = incoop.Job("by level", level, total, added)
    plain = incoop.Job("levels", level)
    for bad in (BAD, BAD[3:], [], BAD[:2]):
        own.write([*GOOD[:200], *bad, *GOOD[200:]])
        counted, mapped = own.run(by_level), own.run(plain)
        assert counted.as_dict() == {"info": 266, "warn": 134}
        assert len(mapped.collect()) == len(GOOD)
        for result in (counted, mapped):
            assert result.report.counters.get(NAME, 0) == len(bad)
            samples = result.report.samples.get(NAME, {})
            assert samples == {text: bad.count(text) for text in samples}
            assert len(samples) == min(5, len(set(bad)))
        assert counted.report.samples == mapped.report.samples
        assert counted.report.counters["reduced"] == 2  # of which no sample is kept


def test_sketches_are_results_as_they_are_from_scratch(own: OwnPlace) -> None:
    own.chunks = CHUNKS
    job = incoop.Job("sketches", sketched, merged, merged)
    for lines in (GOOD, [*GOOD[:100], *GOOD[150:]], [*GOOD[50:], *BAD]):
        own.write(lines)
        found = own.run(job).as_dict()
        read = [pairs for line in lines if (pairs := logs.logfmt(line))]
        assert found == {
            "visitors": Distinct(pairs["user"] for pairs in read),
            "took": Quantiles(len(line) for line in lines if line not in BAD),
        }
    with own.scratch() as session:
        assert session.run(job, str(own.input)).as_dict() == found
