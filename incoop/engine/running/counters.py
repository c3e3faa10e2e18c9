"""Counters that a user's functions increment; summed in the report, and replayed for tasks that are reused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from incoop.base.errors import BadCall

#: One for the process, which threads of the user's functions share.
_current: ContextVar[Counter[str]] = ContextVar("incoop counters", default=Counter())  # noqa: B039


def counter(name: str, amount: int = 1) -> None:
    """Count something in a mapper, combiner or reducer.

    Example:
        >>> counter("bad lines")
        >>> take_counts()
        {'bad lines': 1}
    """
    if type(name) is not str or not isinstance(amount, int):
        raise BadCall(f"counter takes a text and a whole number, not {name!r:.80} and {amount!r:.80}.")
    _current.get()[name] += amount


def take_counts() -> dict[str, int]:
    """What was counted since the last call."""
    current = _current.get()
    if not current:
        return {}
    counts = {name: count for name, count in current.items() if count}
    current.clear()
    return counts


@contextmanager
def counting_apart() -> Iterator[None]:
    """Count by itself what this thread counts."""
    token = _current.set(Counter())
    try:
        yield
    finally:
        _current.reset(token)


class Counted:
    """The key of a pair that holds what a reducer call counted; never shown to the user."""

    def __reduce__(self) -> str:
        return "COUNTED"


COUNTED = Counted()
