"""Combiners and reducers of stages: what becomes of a key's values.

Contract: those of rows give pairs whose value is a row; what they count as a warning is named as mappers name it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

from incoop.base.errors import IncoopError
from incoop.engine.running.counters import counter
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.row_orders import in_order
from incoop.query.execution.sinks import Sketch, smallest
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Expression
from incoop.query.expressions.rows import compile_row
from incoop.query.functions.aggregate import Aggregate, State
from incoop.query.functions.aggregates import Collect, CountDistinct
from incoop.query.order import Direction, canonical_bag
from incoop.query.partial import Aggregation
from incoop.query.plan.several import JoinKind
from incoop.query.types import Row
from incoop.query.warnings import Warnings

#: Rows that one key of a join may give: they are made in one task's memory, at some hundred bytes each.
MOST_ROWS_OF_A_KEY = 20_000_000

Pairs = Iterable[tuple[Any, Any]]


class TooManyRows(IncoopError):
    """One key of a join, or one pair of inputs of a cross, gives more rows than fit in memory."""

    def __init__(self, what: str, key: str, left: int, right: int) -> None:
        super().__init__(what, key, left, right)
        self.what, self.key, self.left, self.right = what, key, left, right

    def __str__(self) -> str:
        return (
            f"{self.what} {self.key} pairs {self.left:,} rows with {self.right:,}, more than the "
            f"{MOST_ROWS_OF_A_KEY:,} that are made at once. Filter that key before, or aggregate one side. "
            "Where a join is asked for as skewed, such a key is cut into parts, and each may make so many."
        )


def merged_states(aggregate: Aggregate, states: Sequence[State]) -> State:
    """The state of all rows of several."""
    if len(states) == 1:
        return states[0]
    if isinstance(aggregate, Collect):
        return tuple(canonical_bag(chain.from_iterable(states)))
    if isinstance(aggregate, CountDistinct):
        return tuple(sorted(set(chain.from_iterable(states))))
    return aggregate.merge_all(states)


@dataclass(frozen=True, slots=True)
class MergeStates:
    """A combiner."""

    aggregates: tuple[Aggregate, ...]

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        columns = list(zip(*values, strict=True))
        return [(key, tuple(merged_states(one, states) for one, states in zip(self.aggregates, columns, strict=True)))]


@dataclass(frozen=True, slots=True)
class FinishStates:
    """A row of the key and the values of its states."""

    aggregates: tuple[Aggregate, ...]
    form: KeyForm

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        found = zip(self.aggregates, zip(*values, strict=True), strict=True) if self.aggregates else ()
        row = [one.finish(merged_states(one, states)) for one, states in found]
        return [(0, (*self.form.values(key), *row))]


def add_up(key: Any, values: Iterable[int]) -> Pairs:
    return [(key, sum(values))]


@dataclass(frozen=True, slots=True)
class CountOfAll:
    """A row of the number of all rows."""

    def __call__(self, key: Any, values: Iterable[int]) -> Iterable[tuple[Any, Any]]:
        return [(0, (sum(values),))]


def any_of(key: Any, values: Iterable[int]) -> Pairs:
    return [(key, max(values))]


def add_sides(key: Any, values: Iterable[tuple[int, int]]) -> Pairs:
    """A combiner of counts of two inputs."""
    left = right = 0
    for one, other in values:
        left, right = left + one, right + other
    return [(key, (left, right))]


@dataclass(frozen=True, slots=True)
class RowsOfTwo:
    """How often a row stays that two inputs have so often."""

    intersects: bool
    all: bool
    form: KeyForm

    def __call__(self, key: Any, values: Iterable[tuple[int, int]]) -> Pairs:
        ((_, (left, right)),) = add_sides(key, values)
        if self.all:
            times = min(left, right) if self.intersects else max(0, left - right)
        else:
            times = int(left > 0 and (right > 0) == self.intersects)
        return [(0, self.form.values(key))] * times


@dataclass(frozen=True, slots=True)
class BagsOfKey:
    """The key's values and a bag of each input's rows, in canonical order."""

    inputs: int
    required: tuple[bool, ...]
    form: KeyForm

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        if self.inputs == 1:
            return [(0, (*self.form.values(key), canonical_bag(values)))]
        bags: list[list[Row]] = [[] for _ in range(self.inputs)]
        for side, row in values:
            bags[side].append(row)
        if not all(bag or not needed for bag, needed in zip(bags, self.required, strict=True)):
            return []
        return [(0, (*self.form.values(key), *map(canonical_bag, bags)))]


@dataclass(frozen=True, slots=True)
class JoinRows:
    """Rows of both inputs with one key, beside each other."""

    kind: JoinKind
    left_width: int
    right_width: int
    form: KeyForm
    #: The fields that are kept of a row; None for all.
    kept: tuple[int, ...] | None = None

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        rows = self._rows(key, values)
        if self.kept is None:
            return [(0, row) for row in rows]
        if len(self.kept) == 1:
            (only,) = self.kept
            return [(0, (row[only],)) for row in rows]
        pick = itemgetter(*self.kept)
        return [(0, pick(row)) for row in rows]

    def _rows(self, key: Any, values: Iterable[Any]) -> list[Row]:
        sides: tuple[list[Row], list[Row]] = ([], [])
        for side, row in values:
            sides[side].append(row)
        left, right = sides
        if self.kind == "semi":
            return left if right else []
        if self.kind == "anti":
            return [] if right else left
        if left and right:
            if len(left) * len(right) > MOST_ROWS_OF_A_KEY:
                raise TooManyRows("key", repr(self.form.values(key))[:200], len(left), len(right))
            return [one + other for one in left for other in right]
        if left and self.kind in ("left", "full"):
            nothing = (None,) * self.right_width
            return [row + nothing for row in left]
        if right and self.kind in ("right", "full"):
            nothing = (None,) * self.left_width
            return [nothing + row for row in right]
        return []


@dataclass(frozen=True, slots=True)
class KeepFirst:
    """A combiner of first rows in an order."""

    count: int

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        return [(key, tuple(heapq.nsmallest(self.count, chain.from_iterable(values), key=_first)))]


def _first(named: tuple[Any, Row]) -> Any:
    return named[0]


@dataclass(frozen=True, slots=True)
class FirstOfAll:
    """The first rows, as one range."""

    count: int
    offset: int = 0

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        ((_, kept),) = KeepFirst(self.count + self.offset)(key, values)
        return [(0, [row for _, row in kept[self.offset :]])]


def merge_sketches(key: Any, values: Iterable[Sketch]) -> Pairs:
    several = list(values)
    return [(key, (sum(count for count, _ in several), smallest(chain.from_iterable(some for _, some in several))))]


@dataclass(frozen=True, slots=True)
class SortRange:
    """The rows of a range in their order."""

    keys: tuple[Expression, ...]
    directions: tuple[Direction, ...]

    def __call__(self, key: Any, values: Iterable[Row]) -> Pairs:
        # Warnings of the keys were counted where ranges were found.
        rows = list(values)
        return [(key, in_order(rows, _columns(rows, self.keys, Evaluation()), self.directions))]


def _columns(rows: list[Row], keys: Sequence[Expression], evaluation: Evaluation) -> list[list[Any]]:
    functions = [compile_row(each) for each in keys]
    return [[function(row, evaluation) for row in rows] for function in functions]


@dataclass(frozen=True, slots=True)
class WindowRows:
    """Each row of a partition beside aggregates of the partition, or of its rows up to this one."""

    keys: tuple[Expression, ...]
    directions: tuple[Direction, ...]
    aggregations: tuple[Aggregation, ...]
    running: bool
    tag: str

    def __call__(self, key: Any, values: Iterable[Row]) -> Pairs:
        evaluation = Evaluation(Warnings())
        rows = list(values)
        rows = in_order(rows, _columns(rows, self.keys, evaluation), self.directions)
        columns: list[list[Any]] = []
        for each in self.aggregations:
            aggregate, arguments = each.aggregate, [compile_row(argument) for argument in each.arguments]
            state = aggregate.initial()
            found = []
            for row in rows:
                state = aggregate.add(state, tuple(argument(row, evaluation) for argument in arguments))
                if self.running:
                    found.append(aggregate.finish(state))
            columns.append(found if self.running else [aggregate.finish(state)] * len(rows))
        for kind, times in evaluation.warnings.counts.items():
            counter(f"{self.tag} {kind}", times)
        if not columns:
            return [(0, row) for row in rows]
        return [(0, (*row, *more)) for row, more in zip(rows, zip(*columns, strict=True), strict=True)]
