"""The times of records, by tasks: the span of a chunk, and which of its records are in a period.

Contract: both follow from a chunk's records and the user's function alone, and are memoized as every map task is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from incoop.engine.chosen import Ranges, ranges_of
from incoop.windows.choose import Period, Span
from incoop.windows.window import TimeOf, microseconds_of


@dataclass(frozen=True, slots=True)
class SpanOf:
    """Maps a chunk to the earliest and the latest time in it, and how many of its records have none."""

    of: TimeOf

    def __call__(self, records: Sequence[Any]) -> Iterator[tuple[None, tuple[int | None, int | None, int]]]:
        times = [microseconds_of(self.of(record)) for record in records]
        known = [time for time in times if time is not None]
        yield None, (min(known, default=None), max(known, default=None), len(times) - len(known))


@dataclass(frozen=True, slots=True)
class RecordsIn:
    """Maps a chunk to the numbers of its records in a period, as ranges."""

    of: TimeOf
    start: int
    stop: int

    def __call__(self, records: Sequence[Any]) -> Iterator[tuple[None, Ranges]]:
        times = (microseconds_of(self.of(record)) for record in records)
        numbers = [at for at, time in enumerate(times) if time is not None and self.start <= time < self.stop]
        yield None, ranges_of(numbers)


def span_of(value: Any) -> Span:
    """What `SpanOf` gave."""
    return Span(*value)


def records_in(of: TimeOf, period: Period) -> RecordsIn:
    return RecordsIn(of, period.start, period.stop)
