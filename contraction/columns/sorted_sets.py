"""Sets of whole numbers as sorted arrays.

numpy sorts whole numbers ten to a hundred times faster than its own `unique`, which `union1d`, `setdiff1d` and `isin`
stand on, tells them apart: by a table of hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", np.uint64, np.int64)


def distinct_numbers(numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Each number once, sorted.

    Example:
        >>> distinct_numbers(np.array([3, 1, 3])).tolist()
        [1, 3]
    """
    found = np.sort(numbers)
    if len(found) < 2:
        return found
    first = np.empty(len(found), np.bool_)
    first[0] = True
    np.not_equal(found[1:], found[:-1], out=first[1:])
    return found if first.all() else found[first]


def union(sets: Sequence[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """The numbers that are in some of several sets, of which there is one at least."""
    sets = [each for each in sets if len(each)] or list(sets[:1])
    return sets[0] if len(sets) == 1 else distinct_numbers(np.concatenate(sets))


def member(numbers: npt.NDArray[Number], among: npt.NDArray[Number]) -> npt.NDArray[np.bool_]:
    """Which of some numbers, in any order, are in a set."""
    if not len(among):
        return np.zeros(len(numbers), np.bool_)
    at = np.minimum(np.searchsorted(among, numbers), len(among) - 1)
    found: npt.NDArray[np.bool_] = among[at] == numbers
    return found


def difference(one: npt.NDArray[Number], other: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """What is in one set and not in the other.

    Example:
        >>> difference(np.array([1, 2, 4]), np.array([2, 3])).tolist()
        [1, 4]
    """
    if not len(one) or not len(other):
        return one
    return one[~member(one, other)]
