"""Which elements go into which partition of `parallelize`, as Spark divides them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: PySpark sends at most so many elements together, and Spark divides what was sent.
_BATCH = 1024


def slices(elements: Sequence[Any], partitions: int) -> list[list[Any]]:
    """The elements of each partition.

    Example:
        >>> slices("abcdefg", 3)
        [['a', 'b'], ['c', 'd'], ['e', 'f', 'g']]
    """
    size = max(1, min(len(elements) // partitions, _BATCH))
    batches = [list(elements[start : start + size]) for start in range(0, len(elements), size)]
    ends = [number * len(batches) // partitions for number in range(partitions + 1)]
    return [[each for batch in batches[ends[n] : ends[n + 1]] for each in batch] for n in range(partitions)]
