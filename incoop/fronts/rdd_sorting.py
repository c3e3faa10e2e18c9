"""Sorting by ranges of keys, so that an edit sorts again only the ranges that it touches.

Contract: where ranges end follows from the keys alone, not from what ran before: they end at those keys whose hashes
are smallest, a random sample that another key rarely changes. Records of equal keys stay in input order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

#: Ranges are one more. An edit sorts about one of them again; each is one value of a stored block.
_ENDS = 127

Sketch = list[tuple[int, Any]]


def smallest(hashed: Iterable[tuple[int, Any]]) -> Sketch:
    """The keys with the smallest hashes, of distinct ones."""
    return sorted(hashed, key=itemgetter(0))[:_ENDS]


def merged(one: Sketch, other: Sketch) -> Sketch:
    """The sketch of all keys of two."""
    return smallest({**dict(one), **dict(other)}.items())


def range_ends(sketch: Sketch) -> list[Any]:
    """The keys that end ranges, in order; raises what comparing them raises."""
    ends: list[Any] = sorted(key for _, key in sketch)
    return ends


@dataclass(frozen=True, slots=True)
class SortedRange:
    """A reducer that sorts the pairs of a range, as one list."""

    ascending: bool

    def __call__(self, key: Any, pairs: Iterable[Any]) -> list[tuple[Any, Any]]:
        return [(key, sorted(pairs, key=itemgetter(0), reverse=not self.ascending))]
