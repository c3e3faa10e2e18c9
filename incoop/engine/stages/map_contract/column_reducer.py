"""A reducer that takes many keys at once, by column.

Contract: what it gives of a key follows from that key's values alone, and is what calling it for that key gives. So
which keys are reduced together shows in nothing but time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from incoop.contraction.columns.column import Column, Ints


@dataclass(frozen=True, slots=True)
class KeyedColumns:
    """Keys, each with its values in input order."""

    keys: Column
    #: The values as they were stored: those of several chunks, which may be of other types than those of others.
    columns: Sequence[Column]
    #: For each value, key by key, its place in all columns one after the other; and how many values each key has.
    places: Ints
    counts: Ints


@dataclass(frozen=True, slots=True)
class KeyedPairs:
    """What keys gave, key by key."""

    keys: Column
    values: Column
    #: How many pairs each key gave.
    counts: Ints


class ColumnReducer(ABC):
    """A reducer of a job without a combiner."""

    @abstractmethod
    def __call__(self, key: Any, values: Iterable[Any]) -> Iterable[tuple[Any, Any]]: ...

    @abstractmethod
    def reduce(self, found: KeyedColumns) -> KeyedPairs | None:
        """What all keys give; None where it is to be called for each. It counts nothing."""
