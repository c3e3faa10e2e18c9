"""Pairs that are a series: keys are times, or times with a name, and values are numbers.

Contract: all pairs are, or none is. Times with a zone are compared in UTC; those without are not mixed with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

#: Lines that are told apart.
_MOST_NAMES = 6

#: What is a time and not a number that looks like one: a year and a month at least.
_TIME = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?)?")

#: Numbers whose differences are numbers, too.
_HIGHEST = 1e300

#: Fewer points are a table.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Series:
    """One line: (seconds since the epoch, value), in order; and the keys of its ends, as they were given."""

    name: Any
    points: tuple[tuple[float, float], ...]
    first: Any
    last: Any


def series_of(pairs: Sequence[tuple[Any, Any]]) -> list[Series]:
    """The series that pairs are; none where they are something else.

    Example:
        >>> [one] = series_of([("2024-05-02", 3), ("2024-05-01", 1), ("2024-05-03", 2)])
        >>> one.first, [value for _, value in one.points]
        ('2024-05-01', [1.0, 3.0, 2.0])
        >>> series_of([("oak", 3), ("2024-05-01", 1), ("2024-05-03", 2)])
        []
    """
    try:
        return _series_of(pairs)
    except Exception:  # of users' objects: a zone, a name that is no key of a dict, an equality that is no truth
        return []


def _series_of(pairs: Sequence[tuple[Any, Any]]) -> list[Series]:
    found: dict[Any, list[tuple[float, float, Any]]] = {}
    zones = set()
    for key, value in pairs:
        time, name = _split(key)
        moment, amount = _moment(time), _amount(value)
        if moment is None or amount is None:
            return []
        zones.add(moment.tzinfo is not None)
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        at = aware.timestamp()
        if at != at:  # pandas' NaT is a moment to Python
            return []
        found.setdefault(name, []).append((at, amount, time))
        if len(found) > _MOST_NAMES:
            return []
    if len(zones) != 1 or max(map(len, found.values())) < _FEWEST:
        return []
    lines = []
    for name, rows in sorted(found.items(), key=lambda item: str(item[0])):
        rows.sort(key=lambda row: row[0])
        points = tuple((at, amount) for at, amount, _ in rows)
        lines.append(Series(name, points, rows[0][2], rows[-1][2]))
    return lines


def _split(key: Any) -> tuple[Any, Any]:
    """The time and the name in a key: alone, or a pair in either order."""
    if not isinstance(key, tuple):
        return key, None
    if len(key) != 2:
        return None, None
    return (key[0], key[1]) if _moment(key[0]) is not None else (key[1], key[0])


def _moment(time: Any) -> datetime | None:
    if isinstance(time, datetime):
        return time
    if isinstance(time, date):
        return datetime(time.year, time.month, time.day)
    if not isinstance(time, str) or len(time) > 40 or not _TIME.fullmatch(time):
        return None
    try:
        return datetime.fromisoformat(f"{time}-01" if len(time) == 7 else time)
    except ValueError:
        return None


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if abs(amount) < _HIGHEST else None  # nor NaN, nor infinity
