"""What many rows are sorted by, found by column; and rows in their order.

Contract: what `order_bytes.row_order` says of each row. Integers and texts are encoded without a look at each value's
type, and sorted as they are: Python compares them as their bytes do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from incoop.query.execution.order_bytes import COMPLEMENT, row_order, row_signs
from incoop.query.order import Direction, encoded
from incoop.query.types import Row, Value

_ASCENDING = Direction()


def row_orders(
    rows: Sequence[Row], keys: Sequence[Sequence[Value]] = (), directions: Sequence[Direction] = ()
) -> list[bytes]:
    """What each row is sorted by; `keys` are columns.

    Example:
        >>> row_orders([(2, "b"), (1, "a")], [[2, 1]], [Direction()]) == [row_order((2, "b"), (2,), (Direction(),)),
        ...     row_order((1, "a"), (1,), (Direction(),))]
        True
    """
    width = len(rows[0]) if rows else 0
    if set(map(len, rows)) != {width}:
        values = zip(*keys, strict=True) if keys else [()] * len(rows)
        return [row_order(row, key, directions) for row, key in zip(rows, values, strict=True)]
    parts: list[Iterable[bytes]] = [name_column(key, way) for key, way in zip(keys, directions, strict=True)]
    parts.append([b"\x0a"] * len(rows))
    parts += [_encoded_column([row[at] for row in rows]) for at in range(width)]
    parts.append([b"\0"] * len(rows))
    if any(set(map(type, map(itemgetter(at), rows))) - _WITHOUT_SIGNS for at in range(width)):
        parts.append(map(row_signs, rows))
    return list(map(b"".join, zip(*parts, strict=True)))


#: Types of values whose looks tell no more than their order.
_WITHOUT_SIGNS = {int, str, bool, bytes, type(None)}


def name_column(values: Sequence[Value], way: Direction) -> list[bytes]:
    """What `Direction.encoded` gives for each value."""
    if not set(map(type, values)) <= {int, str}:
        return list(map(way.encoded, values))
    found = _encoded_column(values)
    if way.descending:
        return [b"\x01" + each.translate(COMPLEMENT) for each in found]
    return [b"\x01" + each for each in found]


def _encoded_column(values: Sequence[Any]) -> list[bytes]:
    """What `encoded` gives for each value."""
    kinds = set(map(type, values))
    if kinds == {int}:
        known = {value: encoded(value) for value in set(values)}  # counts repeat themselves
        return [known[value] for value in values]
    if kinds == {str} and "\0" not in "".join(values):
        return [b"\x08%b\0\0" % value.encode("utf-8", "surrogatepass") for value in values]
    return list(map(encoded, values))


def in_order(rows: list[Row], keys: Sequence[Sequence[Value]], directions: Sequence[Direction]) -> list[Row]:
    """Rows sorted by columns of keys, those with equal keys in their canonical order.

    Example:
        >>> in_order([(1, "b"), (2, "a"), (1, "a")], [[1, 2, 1]], [Direction(True)])
        [(2, 'a'), (1, 'a'), (1, 'b')]
    """
    if not rows:
        return []
    width = len(rows[0])
    if set(map(len, rows)) == {width}:
        ties = [[row[at] for row in rows] for at in range(width)]
        if all(set(map(type, column)) in ({int}, {str}) for column in (*keys, *ties)):
            columns = [*zip(keys, directions, strict=True), *((each, _ASCENDING) for each in ties if each not in keys)]
            order = list(range(len(rows)))
            for column, way in reversed(columns):  # a sort keeps what the one before it did
                order.sort(key=column.__getitem__, reverse=way.descending)
            return [rows[at] for at in order]
    names = row_orders(rows, keys, directions)
    return [rows[at] for at in sorted(range(len(rows)), key=names.__getitem__)]
