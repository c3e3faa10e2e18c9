"""Sorting by ranges of keys, so that an edit sorts again only the ranges that it touches.

Contract: where ranges end follows from the keys alone, not from what ran before: they end at those keys whose hashes
are smallest, a random sample that another key rarely changes. Records of equal keys stay in input order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import RDD

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


@dataclass(frozen=True, slots=True)
class PlainSort:
    """A sort by plain Spark, in PySpark's two halves: ranges are found and filled, then each is sorted."""

    ascending: bool | None
    partitions: int | None
    #: Else what is sorted is marked as the engine marks it: pairs are values.
    by_key: bool

    def of_one_partition(self, rdd: RDD[Any]) -> bool:
        """Whether there is nothing to be moved."""
        wanted = self.partitions if self.partitions is not None else rdd._defaultReducePartitions()
        return wanted == 1 and rdd.getNumPartitions() <= 1

    def sorted(self, rdd: RDD[Any], key: Callable[[Any], Any]) -> RDD[Any]:
        """As PySpark sorts now."""
        return rdd.sortByKey(self.ascending, self.partitions, key)  # type: ignore[arg-type]

    def sorted_late(self, rdd: RDD[Any], key: Callable[[Any], Any], key_late: Callable[[Any], Any]) -> RDD[Any]:
        """Ranges by one key, and sorted in itself by another."""
        ranges: RDD[Any] = self.sorted(rdd, key).prev  # type: ignore[attr-defined]
        return ranges.mapPartitions(partial(_sorted_pairs, key_late, not self.ascending), True)

    def marked(self, rdd: RDD[Any]) -> RDD[Any]:
        return rdd if self.by_key else rdd.map(_under_nothing)


def _sorted_pairs(key: Callable[[Any], Any], reverse: bool, pairs: Iterable[Any]) -> Iterable[Any]:
    return sorted(pairs, key=lambda pair: key(pair[0]), reverse=reverse)


def _under_nothing(pair: Any) -> tuple[None, Any]:
    return None, pair
