"""Counters that a user's functions increment; summed in the report, and replayed for tasks that are reused."""

from __future__ import annotations

from collections import Counter

_current: Counter[str] = Counter()


def counter(name: str, amount: int = 1) -> None:
    """Count something in a mapper, combiner or reducer.

    Example:
        >>> counter("bad lines")
        >>> take_counts()
        {'bad lines': 1}
    """
    _current[name] += amount


def take_counts() -> dict[str, int]:
    """What was counted since the last call."""
    if not _current:
        return {}
    counts = {name: count for name, count in _current.items() if count}
    _current.clear()
    return counts
