"""Columns of queries as those that the engine stores, and back: no value becomes an object of Python on the way.

Contract: `stored_column` gives the column that `Column.of` makes of the values; `query_column` what `to_column` makes
of those of several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from incoop.contraction.columns.column import INTEGER, NONE, NUMBER, PAIR, RAW, TEXT, Column, concat
from incoop.query.arrays import blob_of, numbers_of, of_blob, of_numbers
from incoop.query.expressions.batches import ColumnValues, arrow_type, to_column, to_values
from incoop.query.types import BYTES, DOUBLE, FLOAT, INT, LONG, Type
from incoop.query.types import TEXT as TEXT_TYPE

_INTEGERS, _NUMBERS = (INT, LONG), (FLOAT, DOUBLE)
_BLOBS: dict[Type, int] = {TEXT_TYPE: TEXT, BYTES: RAW}


def stored_column(column: ColumnValues, kind: Type) -> Column:
    """A column of a query, to be stored."""
    if not len(column):
        return Column(NONE, 0)
    if isinstance(column, list) or column.null_count:
        return Column.of(to_values(column, kind))
    if kind in _INTEGERS:
        return Column(INTEGER, len(column), numbers=numbers_of(column).astype(np.int64))
    if kind in _NUMBERS:
        return Column(NUMBER, len(column), numbers=numbers_of(column).astype(np.float64))
    if kind in _BLOBS:
        blob, starts = blob_of(column)
        return Column(_BLOBS[kind], len(column), blob=blob, starts=starts)
    return Column.of(to_values(column, kind))


def query_column(columns: Sequence[Column], kind: Type) -> ColumnValues:
    """Stored columns, one after the other, as one of a query."""
    columns = [each for each in columns if len(each)]
    arrow, kinds = arrow_type(kind), {each.kind for each in columns}
    if arrow is not None and len(kinds) == 1:
        whole = concat(columns)
        if whole.kind == INTEGER and kind in _INTEGERS and whole.numbers is not None:
            return of_numbers(whole.numbers.astype(np.int32 if kind == INT else np.int64))
        if whole.kind == NUMBER and kind in _NUMBERS and whole.numbers is not None:
            return of_numbers(whole.numbers.astype(np.float32 if kind == FLOAT else np.float64))
        if whole.kind == _BLOBS.get(kind) and whole.blob is not None and whole.starts is not None:
            found = of_blob(whole.blob, whole.starts, arrow)
            if found is not None:
                return found
    return to_column([value for each in columns for value in each.to_list()], kind)


def nested(columns: Sequence[Column], length: int) -> Column:
    """Columns as one of pairs, whose second is another such pair: so each keeps its type."""
    if not columns:
        return Column(NONE, length)
    found = columns[-1]
    for each in reversed(columns[:-1]):
        found = Column(PAIR, length, children=(each, found))
    return found


def apart(column: Column, width: int) -> list[Column]:
    """The columns that were nested."""
    found: list[Column] = []
    for _ in range(width - 1):
        assert column.children is not None
        first, column = column.children
        found.append(first)
    return [*found, column] if width else []


def fields_of(value: Any, width: int) -> list[Any]:
    """The same of one value."""
    found: list[Any] = []
    for _ in range(width - 1):
        first, value = value
        found.append(first)
    return [*found, value] if width else []
