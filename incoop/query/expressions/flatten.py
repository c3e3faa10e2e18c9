"""Values of a projection to rows: some are taken apart.

Contract: a bag gives a row for each of its rows, several bags all pairs; a tuple's fields stand side by side; a map
gives its pairs. A bag or map that is empty or null gives no row, or with `outer` one of nulls; a tuple that is null
gives nulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from incoop.query.expressions.bag_nodes import Flatten
from incoop.query.types import BagType, MapType, Row, TupleType, Type, Value


def flattened(values: Sequence[Value], flatten: Sequence[Flatten], types: Sequence[Type]) -> list[Row]:
    """The rows that the values of one row make.

    Example:
        >>> from incoop.query.types import BYTES
        >>> flattened([1, [("a",), ("b",)]], ["no", "yes"], [BYTES, BagType()])
        [(1, 'a'), (1, 'b')]
    """
    choices = [
        [(value,)] if how == "no" else _taken_apart(value, how, kind)
        for value, how, kind in zip(values, flatten, types, strict=True)
    ]
    return [tuple(part for piece in pieces for part in piece) for pieces in product(*choices)]


def _taken_apart(value: Value, how: Flatten, kind: Type) -> list[Row]:
    if isinstance(value, tuple):
        return [value]
    if isinstance(value, list | dict):
        rows = value if isinstance(value, list) else [(key, value[key]) for key in sorted(value)]
        return rows if rows or how == "yes" else [_nulls(kind)]
    if value is None and isinstance(kind, BagType | MapType):
        return [] if how == "yes" else [_nulls(kind)]
    return [_nulls(kind)] if value is None else [(value,)]


def _nulls(kind: Type) -> Row:
    if isinstance(kind, MapType):
        return (None, None)
    known = kind.fields if isinstance(kind, TupleType | BagType) else None
    return (None,) * (1 if known is None else len(known))
