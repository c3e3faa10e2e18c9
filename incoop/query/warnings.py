"""What went wrong with single values and did not stop a query: counted by kind.

Contract: a value that cannot be made is null, and counts once for each time that it is asked for: both evaluators ask
equally often. Tallies of parts add up to that of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping

#: A value that is no value of the type that it is cast to.
CAST = "values that do not fit their type"
#: A division, or a remainder, by zero.
DIVISION = "divisions by zero"
#: A result that no value of its type can hold.
RANGE = "results out of range"
#: A record that does not follow its format at all.
RECORD = "malformed records"
KINDS = (CAST, DIVISION, RANGE, RECORD)


class NoValue(Exception):
    """Raised where a value cannot be made: it is null, and counted by `kind`."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Warnings:
    """How often each kind of trouble occurred."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts = dict(counts or {})

    def count(self, kind: str, times: int = 1) -> None:
        if times:
            self._counts[kind] = self._counts.get(kind, 0) + times

    @property
    def counts(self) -> dict[str, int]:
        return dict(sorted(self._counts.items()))

    def add(self, other: Warnings) -> None:
        for kind, times in other._counts.items():
            self.count(kind, times)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Warnings) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Warnings({self.counts})"
