"""What becomes of rows at the end of a mapper: pairs for the stage's reducer.

Contract: pairs of a piece follow from its rows alone; they stand in the order of pieces.
"""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.base.content_ids import content_id
from incoop.contraction.columns.column import Column
from incoop.query.execution.held import Held, Numbers
from incoop.query.execution.keys import TOGETHER, KeyForm, Values
from incoop.query.execution.row_orders import name_column, row_orders
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Expression
from incoop.query.functions.aggregates import CountRows
from incoop.query.order import Direction, canonical, encoded
from incoop.query.partial import Aggregation
from incoop.query.types import Row


@dataclass(frozen=True, slots=True)
class Sent:
    """Pairs, each key once."""

    keys: list[Any]
    #: For each pair, which key it has; its value; and the piece it is from, ascending.
    codes: Numbers
    values: list[Any] | Column
    pieces: Numbers


_NONE = np.empty(0, np.int64)
NOTHING = Sent([], _NONE, [], _NONE)


class Sink(ABC):
    @abstractmethod
    def send(self, held: Held, evaluation: Evaluation) -> Sent: ...


def _under_one_key(key: Any, values: list[Any], pieces: Numbers) -> Sent:
    return Sent([key], np.zeros(len(values), np.int64), values, pieces) if values else NOTHING


@dataclass(frozen=True, slots=True)
class StoreRows(Sink):
    """Rows as they are."""

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        return _under_one_key(0, held.row_list, held.pieces)


@dataclass(frozen=True, slots=True)
class StoreRanges(Sink):
    """Rows of an ordered relation, range by range."""

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        keys, values, pieces = by_range(held)
        return Sent(keys, np.arange(len(keys)), values, pieces)


def by_range(held: Held) -> tuple[list[int], list[list[Row]], Numbers]:
    """The ranges that rows are in, the rows of each, and its piece."""
    if not len(held):
        return [], [], _NONE
    assert held.ranges is not None
    begins = np.flatnonzero(np.diff(held.ranges, prepend=held.ranges[0] - 1))
    rows, bounds = held.row_list, [*begins.tolist(), len(held)]
    values = [rows[low:high] for low, high in itertools.pairwise(bounds)]
    return held.ranges[begins].tolist(), values, held.pieces[begins]


def grouped(held: Held, keys: Sequence[Expression], form: KeyForm, evaluation: Evaluation) -> tuple[Numbers, Values]:
    """For each row the number of its key, and the values of each number."""
    if form.types is None:
        places: dict[bytes, int] = {}
        found: list[Row] = []
        numbers = np.empty(len(held), np.int64)
        for at, row in enumerate(held.row_list):
            name = encoded(row)
            place = places.get(name)
            if place is None:
                place = places[name] = len(found)
                found.append(canonical(row))
            numbers[at] = place
        return numbers, Values([found], len(found))
    from incoop.query.grouping import group_columns

    columns = [(held.column(key, evaluation), key.type) for key in keys]
    numbers, values, count = group_columns(columns, len(held))
    return numbers, Values(values, count)


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows by piece and key: those that share both are a cell."""

    #: For each row, the number of its cell; for each cell its piece and the number of its key, by piece.
    of_row: Numbers
    pieces: Numbers
    keys: Numbers

    @classmethod
    def of(cls, held: Held, numbers: Numbers, count: int) -> Cells:
        from incoop.query.grouping import renumbered

        pieces = int(held.pieces[-1]) + 1 if len(held) else 0
        used, of_row = renumbered(held.pieces * count + numbers, pieces * count)
        return cls(of_row, used // count, used % count)


@dataclass(frozen=True, slots=True)
class AggregateRows(Sink):
    """Partial states by key; of a single count, the count."""

    keys: tuple[Expression, ...]
    form: KeyForm
    aggregations: tuple[Aggregation, ...]

    @property
    def counts(self) -> bool:
        """Whether a state is one integer that adds up."""
        return len(self.aggregations) == 1 and isinstance(self.aggregations[0].aggregate, CountRows)

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        from incoop.query.grouping import states_by_group

        if not len(held):
            return NOTHING
        numbers, found = grouped(held, self.keys, self.form, evaluation)
        cells = Cells.of(held, numbers, found.count)
        states: list[list[Any]] = []
        for each in self.aggregations:
            columns = [(held.column(argument, evaluation), argument.type) for argument in each.arguments]
            states.append(states_by_group(each.aggregate, columns, cells.of_row, len(cells.pieces)))
        if self.counts:
            values: list[Any] = states[0]
        else:
            values = list(zip(*states, strict=True)) if states else [()] * len(cells.pieces)
        return Sent(self.form.keys(found), cells.keys, values, cells.pieces)


@dataclass(frozen=True, slots=True)
class DistinctKeys(Sink):
    """Each row as a key: once a piece, or as a count for one of two inputs."""

    keys: tuple[Expression, ...]
    form: KeyForm
    #: Which of two inputs; None where rows are not counted.
    side: int | None = None

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held):
            return NOTHING
        numbers, found = grouped(held, self.keys, self.form, evaluation)
        cells = Cells.of(held, numbers, found.count)
        values: list[Any]
        if self.side is None:
            values = [1] * len(cells.pieces)
        else:
            counts = np.bincount(cells.of_row, minlength=len(cells.pieces)).tolist()
            values = [(0, count) if self.side else (count, 0) for count in counts]
        return Sent(self.form.keys(found), cells.keys, values, cells.pieces)


@dataclass(frozen=True, slots=True)
class RowsByKey(Sink):
    """Rows by key; of several inputs with the input's number."""

    keys: tuple[Expression, ...]
    form: KeyForm
    #: None where there is one input.
    side: int | None = None
    #: Whether rows with a null in their key are left out.
    drops_nulls: bool = False

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held):
            return NOTHING
        numbers, found = grouped(held, self.keys, self.form, evaluation)
        rows: list[Any] = held.row_list
        pieces = held.pieces
        if self.drops_nulls and any(without := found.with_null()):
            kept = np.flatnonzero(~np.array(without)[numbers])
            numbers, pieces = numbers[kept], pieces[kept]
            rows = [rows[at] for at in kept.tolist()]
        values = rows if self.side is None else [(self.side, row) for row in rows]
        return used_only(self.form.keys(found, TOGETHER if self.side is None else self.side), numbers, values, pieces)


def used_only(keys: list[Any], codes: Numbers, values: list[Any] | Column, pieces: Numbers) -> Sent:
    """Without keys that no pair has."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(keys)))
    if len(used) == len(keys):
        return Sent(keys, codes, values, pieces)
    renumbered = np.zeros(len(keys), np.int64)
    renumbered[used] = np.arange(len(used))
    return Sent([keys[at] for at in used.tolist()], renumbered[codes], values, pieces)


def orders(held: Held, keys: Sequence[Expression], ways: Sequence[Direction], evaluation: Evaluation) -> list[bytes]:
    """What each row is sorted by."""
    return row_orders(held.row_list, [held.values(key, evaluation) for key in keys], ways)


@dataclass(frozen=True, slots=True)
class FirstRows(Sink):
    """Of each piece the first rows in an order, each with what it is sorted by."""

    count: int
    #: None: in the order that the relation has.
    keys: tuple[Expression, ...] | None
    directions: tuple[Direction, ...] = ()

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held) or not self.count:
            return NOTHING
        if self.keys is not None:
            names: list[Any] = orders(held, self.keys, self.directions, evaluation)
        else:
            assert held.ranges is not None
            names = []
            last, seen = None, 0
            for number in held.ranges.tolist():
                seen = seen + 1 if number == last else 0
                last = number
                names.append((number, seen))
        rows = held.row_list
        bounds = [*np.flatnonzero(np.diff(held.pieces, prepend=-1)).tolist(), len(held)]
        values: list[Any] = []
        for low, high in itertools.pairwise(bounds):
            places = range(low, high)
            chosen = heapq.nsmallest(self.count, places, key=names.__getitem__) if high - low > 1 else places
            values.append(tuple((names[at], rows[at]) for at in chosen))
        return _under_one_key(0, values, held.pieces[bounds[:-1]])


#: Keys that may end ranges, those with the smallest hashes; there are at most so many ranges, and one more.
MOST_ENDS = 255

Sketch = tuple[int, tuple[tuple[int, bytes], ...]]


def smallest(hashed: Any) -> tuple[tuple[int, bytes], ...]:
    """The ones with the smallest hashes, each once."""
    return tuple(sorted(set(hashed))[:MOST_ENDS])


@dataclass(frozen=True, slots=True)
class SketchOrder(Sink):
    """How many rows, and a sample of what they are sorted by."""

    keys: tuple[Expression, ...]
    directions: tuple[Direction, ...]
    #: Whether rows of one key stay together: by the keys alone.
    by_key: bool

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held):
            return NOTHING
        names = sort_names(held, self.keys, self.directions, self.by_key, evaluation)
        hashed = [(int.from_bytes(content_id(name)[:8], "little"), name) for name in names]
        bounds = [*np.flatnonzero(np.diff(held.pieces, prepend=-1)).tolist(), len(held)]
        values = [(high - low, smallest(hashed[low:high])) for low, high in itertools.pairwise(bounds)]
        return _under_one_key(0, values, held.pieces[bounds[:-1]])


def sort_names(
    held: Held, keys: Sequence[Expression], ways: Sequence[Direction], by_key: bool, evaluation: Evaluation
) -> list[bytes]:
    """What rows are put into ranges by."""
    if not by_key:
        return orders(held, keys, ways, evaluation)
    columns = [name_column(held.values(key, evaluation), way) for key, way in zip(keys, ways, strict=True)]
    return list(map(b"".join, zip(*columns, strict=True)))


@dataclass(frozen=True, slots=True)
class RowsByRange(Sink):
    """Rows by the number of their range."""

    keys: tuple[Expression, ...]
    directions: tuple[Direction, ...]
    by_key: bool
    #: What ends ranges, ascending: it begins the next one.
    ends: tuple[bytes, ...]

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held):
            return NOTHING
        if not self.ends:
            return _under_one_key(0, held.row_list, held.pieces)
        names = sort_names(held, self.keys, self.directions, self.by_key, evaluation)
        numbers = np.array([bisect_right(self.ends, name) for name in names], np.int64)
        return used_only(list(range(len(self.ends) + 1)), numbers, held.row_list, held.pieces)


@dataclass(frozen=True, slots=True)
class CountRanges(Sink):
    """For each range, how many rows it has, and how many keys."""

    keys: tuple[Expression, ...]

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held):
            return NOTHING
        ranges, rows, pieces = by_range(held)
        columns = [held.values(each, evaluation) for each in self.keys]
        named = [encoded(values) for values in zip(*columns, strict=True)] if columns else []
        values: list[Any] = []
        at = 0
        for some in rows:
            keys = len(set(named[at : at + len(some)])) if named else len(some)
            values.append((len(some), keys))
            at += len(some)
        return Sent(ranges, np.arange(len(ranges)), values, pieces)
