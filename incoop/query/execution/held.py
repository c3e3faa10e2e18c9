"""Rows on their way through the steps of a mapper: by column where their types are known, else row by row.

Contract: `row_list` and `values` say the same of both. Rows know which piece they came from, ascending, and of an
ordered relation which range they are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Expression
from incoop.query.expressions.rows import compile_row
from incoop.query.types import Row, Type, Value

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch, ColumnValues

# Pyarrow is imported where columns are made, in workers: a run that reuses everything does not wait for it.

Numbers = npt.NDArray[np.int64]
Types = tuple[Type, ...] | None


@dataclass(slots=True)
class Held:
    """Some rows."""

    #: None where rows may have any width.
    types: Types
    #: For each row, the number of the piece that it came from.
    pieces: Numbers
    #: One of the two at least.
    batch: ColumnBatch | None = None
    rows: list[Row] | None = None
    #: For each row of an ordered relation, the number of its range.
    ranges: Numbers | None = None

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def columns(self) -> ColumnBatch:
        """By column; types must be known."""
        from incoop.query.expressions.batches import ColumnBatch

        if self.batch is None:
            assert self.types is not None and self.rows is not None
            self.batch = ColumnBatch.from_rows(self.rows, self.types)
        return self.batch

    @property
    def row_list(self) -> list[Row]:
        if self.rows is None:
            assert self.batch is not None
            self.rows = self.batch.to_rows()
        return self.rows

    def column(self, expression: Expression, evaluation: Evaluation) -> ColumnValues:
        """An expression's values, one a row."""
        from incoop.query.expressions.columns import evaluate

        if self.types is not None:
            return evaluate(expression, self.columns, evaluation)
        function = compile_row(expression)
        return [function(row, evaluation) for row in self.row_list]

    def values(self, expression: Expression, evaluation: Evaluation) -> list[Value]:
        from incoop.query.expressions.batches import to_values

        return to_values(self.column(expression, evaluation), expression.type)

    def with_columns(self, columns: Sequence[ColumnValues], types: tuple[Type, ...]) -> Held:
        """As many rows, of other fields."""
        from incoop.query.expressions.batches import ColumnBatch

        return Held(types, self.pieces, ColumnBatch(types, tuple(columns), len(self)), None, self.ranges)

    def at(self, places: Numbers) -> Held:
        """As many rows as there are places, whose fields are not known yet."""
        from incoop.query.expressions.batches import ColumnBatch

        ranges = self.ranges[places] if self.ranges is not None else None
        return Held((), self.pieces[places], ColumnBatch((), (), len(places)), None, ranges)

    def with_rows(self, rows: list[Row], types: Types, places: Numbers) -> Held:
        """Other rows, each made from the row at its place."""
        return Held(types, self.pieces[places], None, rows, self.ranges[places] if self.ranges is not None else None)

    def where(self, mask: Any) -> Held:
        """The rows where a mask (of pyarrow) is true."""
        from incoop.query.arrays import numbers_of

        kept: npt.NDArray[np.bool_] = numbers_of(mask)
        if kept.all():
            return self
        batch = self.batch.filter(mask) if self.batch is not None else None
        rows = None
        if batch is None:
            rows = [row for row, keep in zip(self.row_list, kept.tolist(), strict=True) if keep]
        return Held(self.types, self.pieces[kept], batch, rows, self.ranges[kept] if self.ranges is not None else None)
