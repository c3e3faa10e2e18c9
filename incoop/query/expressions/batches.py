"""Rows as columns: pyarrow arrays where a type has one, Python lists for the rest.

Contract: `to_rows(from_rows(rows)) == rows`, for rows that are as wide as there are types. Decimals, tuples, bags,
maps and what nothing is known of are lists; no row has a lone surrogate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incoop.query.arrays import of_values
from incoop.query.order import microseconds, moment_of
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    DATETIME,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TEXT,
    Row,
    Type,
    Value,
)

#: A column: pa.Array, or a list of Python values.
ColumnValues = Any

_ARROW: dict[Type, Any] = {
    INT: pa.int32(),
    LONG: pa.int64(),
    FLOAT: pa.float32(),
    DOUBLE: pa.float64(),
    TEXT: pa.string(),
    BYTES: pa.binary(),
    BOOLEAN: pa.bool_(),
    DATETIME: pa.timestamp("us", "UTC"),
}


def arrow_type(kind: Type) -> Any:
    """The type of a column's array; None where it is a list."""
    return _ARROW.get(kind)


def to_column(values: Sequence[Value], kind: Type) -> ColumnValues:
    """Python values as a column."""
    arrow = _ARROW.get(kind)
    if arrow is None:
        return list(values)
    if kind == BYTES and any(type(value) not in (bytes, type(None)) for value in values):
        return list(values)  # a field that nothing is known of may hold what it likes
    if kind == DATETIME:
        counts = [None if value is None else microseconds(value) for value in values]
        return of_values(counts, pa.int64()).cast(arrow)
    return of_values(values, arrow)


def to_values(column: ColumnValues, kind: Type) -> list[Value]:
    """A column as Python values."""
    if isinstance(column, list):
        return column
    if kind == DATETIME:
        return [None if count is None else moment_of(count) for count in column.cast(pa.int64()).to_pylist()]
    found: list[Value] = column.to_pylist()
    return found


@dataclass(frozen=True, slots=True)
class ColumnBatch:
    """Rows by column."""

    types: tuple[Type, ...]
    columns: tuple[ColumnValues, ...]
    length: int

    @classmethod
    def from_rows(cls, rows: Sequence[Row], types: Sequence[Type]) -> ColumnBatch:
        columns = tuple(to_column([row[at] for row in rows], kind) for at, kind in enumerate(types))
        return cls(tuple(types), columns, len(rows))

    @classmethod
    def from_arrow(cls, batch: Any, types: Sequence[Type]) -> ColumnBatch:
        """A RecordBatch whose columns have the types' arrow types, or hold what they hold in Python."""
        columns = tuple(
            batch.column(at) if arrow_type(kind) is not None else batch.column(at).to_pylist()
            for at, kind in enumerate(types)
        )
        return cls(tuple(types), columns, batch.num_rows)

    def to_rows(self) -> list[Row]:
        if not self.columns:
            return [()] * self.length
        lists = [to_values(column, kind) for column, kind in zip(self.columns, self.types, strict=True)]
        return list(zip(*lists, strict=True))

    def filter(self, mask: Any) -> ColumnBatch:
        """The rows where a mask is true."""
        kept = mask.to_pylist() if any(isinstance(column, list) for column in self.columns) else []
        columns = tuple(
            [value for value, keep in zip(column, kept, strict=True) if keep]
            if isinstance(column, list)
            else column.filter(mask)
            for column in self.columns
        )
        return ColumnBatch(self.types, columns, pc.sum(mask).as_py() or 0)

    def select(self, places: Iterable[int]) -> ColumnBatch:
        chosen = list(places)
        return ColumnBatch(
            tuple(self.types[at] for at in chosen), tuple(self.columns[at] for at in chosen), self.length
        )
