"""What an application is: plain functions, the data it runs on, and when two answers of it are the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xxhash

Pairs = Iterable[tuple[Any, Any]]

#: Sums of floats in another order round differently; k-means adds some thousand coordinates between 0 and 1.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class App:
    """One application. Every runner gets the same function objects."""

    name: str
    #: As the paper calls it.
    title: str
    mapper: Callable[[Any, Any], Pairs]
    combiner: Callable[[Any, Iterable[Any]], Pairs]
    reducer: Callable[[Any, Iterable[Any]], Pairs]
    #: What the application is as PySpark RDD code, as a good PySpark programmer writes it: an RDD of lines to one of
    #: pairs. It calls the same mapper.
    rdd: Callable[[Any], Any]
    #: Write at least so many bytes of input, from this seed.
    write: Callable[[Path, int, int], None]
    #: "text", "points" or "log".
    kind: str
    #: Whether answers are integers and labels, which compare exactly, or sums of floats.
    exact: bool = True

    def answer(self, pairs: Any) -> Answer:
        """What to compare of an RDD of output pairs: a fingerprint computed on Spark, or the few pairs themselves."""
        return rdd_fingerprint(pairs) if self.exact else dict(pairs.collect())


#: How many pairs, and the sum of their hashes; or the pairs.
Answer = tuple[int, int] | dict[Any, Any]


def _fingerprint(pair: tuple[Any, Any]) -> tuple[int, int]:
    return 1, xxhash.xxh3_64_intdigest(repr(pair).encode())


def _added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], (one[1] + other[1]) & 0xFFFF_FFFF_FFFF_FFFF


def rdd_fingerprint(pairs: Any) -> tuple[int, int]:
    """The `fingerprint` of an RDD of pairs, computed on Spark."""
    found: tuple[int, int] = pairs.map(_fingerprint).fold((0, 0), _added)
    return found


def fingerprint(pairs: Pairs) -> tuple[int, int]:
    """The number of pairs and the sum of their hashes, whatever their order.

    Example:
        >>> fingerprint([("a", 1), ("b", 2)]) == fingerprint([("b", 2), ("a", 1)]) != fingerprint([("a", 1)])
        True
    """
    total = (0, 0)
    for pair in pairs:
        total = _added(total, _fingerprint(pair))
    return total


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers are the same; floats may differ by what the order of additions makes.

    Example:
        >>> same({0: (0.1 + 0.2,)}, {0: (0.3,)}), same({0: (1.0,)}, {0: (1.1,)}), same((1, 7), (1, 8))
        (True, False, False)
    """
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one == other
    return one.keys() == other.keys() and all(_close(one[key], other[key]) for key in one)


def _close(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(here, there, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for here, there in zip(one, other, strict=True)
    )
