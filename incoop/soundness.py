"""Try a combiner on a sample: reducing combined values must give what reducing the values gives.

Contract: R(C(first half) + C(second half)) = R(all), for some keys with several values. Floats may differ by
rounding, since adding in another order does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from contraction.combine import combined_values
from incoop.failures import CombinerNotSound
from incoop.job import Mapper, Reducer

#: Records that are mapped for the sample, and keys that are tried.
SAMPLE = 1000
_KEYS = 16

_FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")


def check_combiner(mapper: Mapper, records: Iterable[Any], combiner: Reducer, reducer: Reducer) -> None:
    """Raise CombinerNotSound for the first key whose result the combiner changes.

    A sample on which the functions themselves fail is left to the run, which reports it with its record.
    """
    groups: dict[Any, list[Any]] = {}
    try:
        for record in records:
            for key, value in mapper(None, record):
                groups.setdefault(key, []).append(value)
        several = [(key, values) for key, values in groups.items() if len(values) > 1][:_KEYS]
        tried = [(key, *_both_ways(key, values, combiner, reducer)) for key, values in several]
    except CombinerNotSound:
        raise
    except Exception:
        return
    for key, plain, combined in tried:
        if not alike(plain, combined):
            raise CombinerNotSound(repr(key)[:200], repr(plain)[:200], repr(combined)[:200])


def _both_ways(key: Any, values: list[Any], combiner: Reducer, reducer: Reducer) -> tuple[list[Any], list[Any]]:
    middle = len(values) // 2
    halves = [*combined_values(combiner, key, values[:middle]), *combined_values(combiner, key, values[middle:])]
    return list(reducer(key, list(values))), list(reducer(key, halves)) if halves else []


def alike(one: Any, other: Any) -> bool:
    """Equal, but for the rounding of floats.

    Example:
        >>> alike([("k", 0.1 + 0.2)], [("k", 0.3)]), alike([("k", 1)], [("k", 2)])
        (True, False)
        >>> alike("mean 0.30000000000000004", "mean 0.3"), alike(b"10.5", b"1.05")
        (True, False)
    """
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
        return all(map(alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return all(alike(one[key], other[key]) for key in one)
    if isinstance(one, bytes) and isinstance(other, bytes):
        one, other = one.decode("latin-1"), other.decode("latin-1")
    if isinstance(one, str) and isinstance(other, str) and one != other:
        # Text that a program outside Python, or a protocol, wrote: floats in it round, too.
        same = _FLOAT.split(one) == _FLOAT.split(other)
        return same and all(map(alike, map(float, _FLOAT.findall(one)), map(float, _FLOAT.findall(other))))
    return bool(one == other)
