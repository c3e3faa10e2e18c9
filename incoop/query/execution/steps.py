"""What is done with rows one by one on their way to a stage: filters, projections, flattening.

Contract: a step gives the rows that its plan node means, in the order of those that it was given, and counts the
warnings that evaluating them gives, wherever they are evaluated. A step travels to workers; its digest says all that it
does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from incoop.query.execution.held import Held, Types
from incoop.query.expressions.bag_nodes import Flatten
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.flatten import flattened
from incoop.query.expressions.nodes import Call, Constant, Expression
from incoop.query.types import BagType, Row


@dataclass(frozen=True, slots=True)
class RowStep(ABC):
    """Rows to rows."""

    #: The plan node whose step it is: its warnings are counted by this name.
    tag: str
    #: Says all that it does, values of scalars included.
    digest: bytes

    @abstractmethod
    def apply(self, held: Held, evaluation: Evaluation) -> Held: ...


@dataclass(frozen=True, slots=True)
class FilterRows(RowStep):
    condition: Expression

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        import pyarrow as pa
        import pyarrow.compute as pc

        from incoop.query.arrays import of_values, scalar

        mask = held.column(self.condition, evaluation)
        if isinstance(mask, list):
            mask = of_values([value is True for value in mask], pa.bool_())
        return held.where(pc.fill_null(mask, scalar(False, pa.bool_())))


@dataclass(frozen=True, slots=True)
class ForgetTypes(RowStep):
    """Rows as they are, of which nothing is known any more: what comes behind looks at each value."""

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        return Held(None, held.pieces, None, held.row_list, held.ranges)


@dataclass(frozen=True, slots=True)
class ProjectRows(RowStep):
    results: tuple[Expression, ...]

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        columns = [held.column(each, evaluation) for each in self.results]
        return held.with_columns(columns, tuple(each.type for each in self.results))


@dataclass(frozen=True, slots=True)
class GenerateRows(RowStep):
    results: tuple[Expression, ...]
    flatten: tuple[Flatten, ...]
    types: Types

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        if all(each == "no" for each in self.flatten):
            return ProjectRows(self.tag, self.digest, self.results).apply(held, evaluation)
        if (at_once := self._at_once(held, evaluation)) is not None:
            return at_once
        kinds = [each.type for each in self.results]
        columns = [held.values(each, evaluation) for each in self.results]
        if len(columns) == 1 and self.flatten[0] == "yes" and isinstance(kinds[0], BagType):
            counts = [len(bag) if bag else 0 for bag in columns[0]]
            rows = list(chain.from_iterable(bag for bag in columns[0] if bag))
        else:
            found = [flattened(values, self.flatten, kinds) for values in zip(*columns, strict=True)]
            counts, rows = [len(each) for each in found], list(chain.from_iterable(found))
        if self.types is not None:
            rows = as_wide(rows, len(self.types))
        return held.with_rows(rows, self.types, np.repeat(np.arange(len(held)), counts))

    def _at_once(self, held: Held, evaluation: Evaluation) -> Held | None:
        """By column, where one bag is taken apart by a function that can do that."""
        from incoop.query.arrays import of_numbers

        apart = [at for at, how in enumerate(self.flatten) if how != "no"]
        call = self.results[apart[0]]
        if len(apart) != 1 or self.flatten[apart[0]] != "yes" or held.types is None or self.types is None:
            return None
        if not isinstance(call, Call) or call.function.rows_kernel is None:
            return None
        given = [each.value if isinstance(each, Constant) else held.column(each, evaluation) for each in call.arguments]
        found = call.function.rows_kernel(*given)
        if found is None:
            return None
        counts, parts = found
        places = np.repeat(np.arange(len(held)), counts)
        columns: list[Any] = []
        for at, each in enumerate(self.results):
            if at == apart[0]:
                columns += parts
            else:
                whole = held.column(each, evaluation)
                taken = of_numbers(places)
                columns.append([whole[place] for place in places] if isinstance(whole, list) else whole.take(taken))
        return held.at(places).with_columns(columns, self.types)


def as_wide(rows: list[Row], width: int) -> list[Row]:
    """Rows of one width: what is taken apart may have fewer or more fields than its type says."""
    if set(map(len, rows)) <= {width}:
        return rows
    return [row[:width] + (None,) * (width - len(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class ExpandRows(RowStep):
    projections: tuple[tuple[Expression, ...], ...]

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        copies = [
            list(zip(*[held.values(each, evaluation) for each in results], strict=True))
            if results
            else [()] * len(held)
            for results in self.projections
        ]
        rows = list(chain.from_iterable(zip(*copies, strict=True)))
        types = tuple(each.type for each in self.projections[0])
        return held.with_rows(rows, types, np.repeat(np.arange(len(held)), len(copies)))


@dataclass(frozen=True, slots=True)
class CrossWith(RowStep):
    """Each row beside each of some others, which travel along."""

    others: tuple[Row, ...] = field(repr=False)
    types: Types
    #: Whether the others come first.
    before: bool = False

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        if self.before:
            rows = [other + row for row in held.row_list for other in self.others]
        else:
            rows = [row + other for row in held.row_list for other in self.others]
        return held.with_rows(rows, self.types, np.repeat(np.arange(len(held)), len(self.others)))


@dataclass(frozen=True, slots=True)
class NumberRows(RowStep):
    """A rank before each row of a range, where rows before the range are counted."""

    keys: tuple[Expression, ...]
    dense: bool
    #: For each range, how many rows (or keys, where it is dense) there are before it.
    before: dict[int, int]
    types: Types

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        assert held.ranges is not None
        keys = [held.values(each, evaluation) for each in self.keys]
        names: Any = zip(*keys, strict=True) if keys else range(len(held))
        rows: list[Row] = []
        current: int | None = None
        last: Any = None
        rank = seen = 0
        for where, row, name in zip(held.ranges.tolist(), held.row_list, map(_name, names), strict=True):
            if where != current:
                current, last, seen = where, None, 0
                rank = self.before[where] if self.dense else 0
            seen += 1
            if name != last:
                rank = rank + 1 if self.dense else self.before[where] + seen
            rows.append((rank, *row))
            last = name
        return held.with_rows(rows, self.types, np.arange(len(held)))


def _name(values: Any) -> Any:
    from incoop.query.order import encoded

    return encoded(values) if isinstance(values, tuple) else values


@dataclass(frozen=True, slots=True)
class ThroughFunction(RowStep):
    """All rows of a piece through a function."""

    function: Callable[[list[Row]], list[Row]]
    types: Types

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        rows: list[Row] = []
        places: list[int] = []
        given = held.row_list
        bounds = np.flatnonzero(np.diff(held.pieces, prepend=-1, append=-1))
        for low, high in zip(bounds.tolist(), bounds.tolist()[1:], strict=False):
            made = self.function(given[low:high])
            rows += made
            places += [low] * len(made)
        return held.with_rows(rows, self.types, np.array(places, np.int64))
