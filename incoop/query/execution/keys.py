"""Keys of groups as keys of the engine, and back.

Contract: values that are one (order.py) are one key, and only they: 1, 1.0 and true are three, which a dict takes for
one. What `keys` was given, in its canonical form, `values` gives back. All keys of a form are of one type, as columns
are: text, bytes, integers, or pairs of these, one in the other; null is a value of that type, too. One value is not:
the smallest long is an integer that no column of integers takes, since null has its place there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from incoop.query.execution.order_bytes import decoded
from incoop.query.order import canonical, encoded
from incoop.query.types import BOOLEAN, BYTES, INT, LONG, TEXT, Row, Type, Value

#: In front of keys of which some stay apart by input: the mark of the others.
TOGETHER = -1

#: Null among integers of 32 bits, and of 64, where the one that looks so is another; and in text and bytes, where what
#: begins so is marked.
_NULL_INT, _NULL_LONG, _SMALLEST_LONG, _NULL_TEXT, _NULL_BYTES = 1 << 40, -(1 << 63), 1 << 63, "\0", b"\0n"


@dataclass(frozen=True, slots=True)
class Values:
    """Values of keys, by column: there is no tuple for each key. Rows of any width are one column of tuples."""

    columns: Sequence[Sequence[Any]]
    count: int

    def with_null(self) -> list[bool]:
        """Which keys have a null in them."""
        there = [column for column in self.columns if None in column]
        return [None in values for values in zip(*there, strict=True)] if there else [False] * self.count


@dataclass(frozen=True, slots=True)
class KeyForm:
    """How keys of some types are written."""

    #: None for rows of any width.
    types: tuple[Type, ...] | None
    #: Whether keys with a null stay apart by input.
    marked: bool = False

    def keys(self, found: Values, mark: int = TOGETHER) -> list[Any]:
        """Keys of the engine for canonical values; `mark` is the input's number."""
        if self.types is None:
            return [encoded(values) for values in found.columns[0]]
        columns = [
            _WRITERS.get(kind, _write_any)(column) for kind, column in zip(self.types, found.columns, strict=True)
        ]
        written: list[Any] = columns.pop() if columns else [0] * found.count
        while columns:
            written = list(zip(columns.pop(), written, strict=True))
        if self.marked:
            apart = found.with_null()
            return [(mark if null else TOGETHER, key) for null, key in zip(apart, written, strict=True)]
        return written

    def values(self, key: Any) -> Row:
        """The values of a key."""
        if self.types is None:
            return tuple(decoded(key))
        if self.marked:
            key = key[1]
        parts: list[Value] = []
        last = len(self.types) - 1
        for at, kind in enumerate(self.types):
            part, key = (key, None) if at == last else key
            parts.append(_READERS.get(kind, _read_any)(part))
        return tuple(parts)

    def columns(self, keys: Sequence[Any]) -> list[list[Value]]:
        """The values of many keys, by column; types must be known."""
        assert self.types is not None
        if self.marked:
            keys = [key for _, key in keys]
        columns: list[list[Value]] = []
        for at, kind in enumerate(self.types):
            parts = keys
            if at < len(self.types) - 1:
                parts, keys = [part for part, _ in keys], [rest for _, rest in keys]
            columns.append(_read_column(parts, kind))
        return columns


def _read_column(parts: Sequence[Any], kind: Type) -> list[Value]:
    """Values of one type; where none looks like a mark, they are what was written."""
    if kind == TEXT and "\0" not in "".join(parts):
        return list(parts)
    if kind == LONG and parts and min(parts) > _NULL_LONG and max(parts) < _SMALLEST_LONG:
        return list(parts)
    return list(map(_READERS.get(kind, _read_any), parts))


def _write_ints(column: Sequence[Value]) -> list[Any]:
    if set(map(type, column)) <= {int}:
        return list(column)
    return [_NULL_INT if value is None else int(value) for value in column]


def _write_longs(column: Sequence[Value]) -> list[Any]:
    if None not in column and _NULL_LONG not in column:
        return list(column)
    return [_NULL_LONG if value is None else _SMALLEST_LONG if value == _NULL_LONG else value for value in column]


def _write_texts(column: Sequence[Value]) -> list[Any]:
    if None not in column and "\0" not in "".join(column):
        return list(column)
    return [_NULL_TEXT if value is None else f"\0{value}" if value[:1] == "\0" else value for value in column]


def _write_bytes(column: Sequence[Value]) -> list[Any]:
    """Bytes; but a field of which nothing is known may hold anything."""
    return [
        (value if value[:1] != b"\0" else b"\0b" + value)
        if isinstance(value, bytes)
        else _NULL_BYTES
        if value is None
        else b"\0v" + encoded(canonical(value))
        for value in column
    ]


def _write_any(column: Sequence[Value]) -> list[Any]:
    return [encoded(canonical(value)) for value in column]


def _read_int(part: Any) -> Value:
    return None if part == _NULL_INT else part


def _read_boolean(part: Any) -> Value:
    return None if part == _NULL_INT else bool(part)


def _read_long(part: Any) -> Value:
    return part if abs(part) < _SMALLEST_LONG else None if part == _NULL_LONG else _NULL_LONG


def _read_text(part: Any) -> Value:
    return part if part[:1] != "\0" else part[1:] if len(part) > 1 else None


def _read_bytes(part: Any) -> Value:
    if part[:1] != b"\0":
        return part
    return None if part == _NULL_BYTES else part[2:] if part[1:2] == b"b" else decoded(part[2:])


def _read_any(part: Any) -> Value:
    return decoded(part)


_WRITERS: dict[Type, Callable[[Sequence[Value]], list[Any]]] = {
    INT: _write_ints,
    LONG: _write_longs,
    TEXT: _write_texts,
    BYTES: _write_bytes,
    BOOLEAN: _write_ints,
}
_READERS: dict[Type, Callable[[Any], Value]] = {
    INT: _read_int,
    LONG: _read_long,
    TEXT: _read_text,
    BYTES: _read_bytes,
    BOOLEAN: _read_boolean,
}
