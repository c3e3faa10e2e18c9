"""A reducer that a version of its own stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from incoop.job import Pairs, Reducer


@dataclass(frozen=True, slots=True)
class VersionedReducer:
    """In a job with a version: another reducer, with another version, finds the same chunks and the same tree.

    Example:
        >>> VersionedReducer(lambda key, values: [(key, sum(values))], "sums")("a", [1, 2])
        [('a', 3)]
    """

    function: Reducer
    version: str

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        return self.function(key, values)
