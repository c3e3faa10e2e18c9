"""Which chunks a window holds, and which of them it begins or ends in.

Contract: pure. The same chunks, names and times give the same choice. A window by files, chunks or bytes holds whole
chunks; one by times of records holds exactly the records in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

import numpy as np

from incoop.contraction.columns.column import Ints
from incoop.engine.chosen import ChunkTable
from incoop.windows.window import Window, microseconds_of

#: Which signs a field of a form may stand for; what it really says is read by strptime.
_FIELD = {"Y": r"\d{4}", "b": r"\w{3}", "B": r"\w+", "j": r"\d{3}", "s": r"\d+", "p": r"\w\w", "z": r"[+-]\d{4}"}


@dataclass(frozen=True, slots=True)
class Span:
    """The times of a chunk's records, in microseconds."""

    #: None where no record has a time.
    earliest: int | None
    latest: int | None
    #: How many records have none.
    without: int


@dataclass(frozen=True, slots=True)
class Period:
    """From one time up to another, in microseconds."""

    start: int
    stop: int

    def holds(self, span: Span) -> bool:
        """Whether all records of a chunk are in it."""
        if span.earliest is None or span.latest is None or span.without:
            return False
        return self.start <= span.earliest and span.latest < self.stop

    def meets(self, span: Span) -> bool:
        """Whether some record of a chunk may be in it."""
        if span.earliest is None or span.latest is None:
            return False
        return self.start <= span.latest and span.earliest < self.stop


def period_of(window: Window, newest: int | None) -> Period | None:
    """The time that a window of time holds, given the newest time; None where there is none."""
    if newest is None:
        return None
    # As far as it can: the newest time is in it. In steps: up to the last whole one, which a record at it opens.
    stop = newest // window.hop * window.hop if window.hop else newest + 1
    return Period(stop - window.size, stop)


def newest_of(spans: Sequence[Span]) -> int | None:
    return max((span.latest for span in spans if span.latest is not None), default=None)


def chunks_held(window: Window, table: ChunkTable) -> Ints:
    """The chunks of a window that goes by files, chunks, bytes, or times in names of files."""
    if window.by == "chunks":
        low, high = _range(len(table.rows), window)
        return np.arange(low, high)
    if window.by == "bytes":
        lengths = table.rows["length"][::-1].cumsum(dtype=np.int64)
        fits = int(np.searchsorted(lengths, window.size, side="right"))
        return np.arange(len(table.rows) - max(fits, min(1, len(table.rows))), len(table.rows))
    counts = [chunks for _, chunks in table.files]
    bounds = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    if window.by == "files":
        low, high = _range(len(counts), window)
        return np.arange(bounds[low], bounds[high])
    held = _files_in(window, [name for name, _ in table.files])
    return np.concatenate([np.empty(0, np.int64), *(np.arange(bounds[at], bounds[at + 1]) for at in held)])


def _range(count: int, window: Window) -> tuple[int, int]:
    """The last of so many, up to a whole number of hops."""
    high = count // window.hop * window.hop if window.hop else count
    return max(0, high - window.size), high


def _files_in(window: Window, names: Sequence[str]) -> list[int]:
    assert isinstance(window.of, str)
    times = [time_in_name(name, window.of) for name in names]
    period = period_of(window, max((time for time in times if time is not None), default=None))
    if period is None:
        return []
    return [at for at, time in enumerate(times) if time is not None and period.start <= time < period.stop]


def time_in_name(name: str, form: str) -> int | None:
    """The time that a file's name says, in microseconds; None where it has none of this form.

    Example:
        >>> time_in_name("logs/access-1970-01-02.log.gz", "%Y-%m-%d")
        86400000000
    """
    pattern = re.sub(r"%(.)", lambda field: _FIELD.get(field[1], r"\d{1,2}"), re.sub(r"([^\w\s%])", r"\\\1", form))
    for found in re.finditer(pattern, PurePath(name).name):
        try:
            return microseconds_of(datetime.strptime(found[0], form))  # UTC, unless it has a zone
        except ValueError:
            continue
    return None


def in_period(period: Period | None, spans: Mapping[int, Span]) -> tuple[list[int], list[int]]:
    """Chunks of which a period holds all records, and those of which it may hold some."""
    if period is None:
        return [], []
    whole = [number for number, span in spans.items() if period.holds(span)]
    met = [number for number, span in spans.items() if period.meets(span) and not period.holds(span)]
    return whole, met
