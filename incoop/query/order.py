"""A total order over all values, as Python sort keys and as bytes; which values are one.

Contract: null comes first, then values by kind (boolean, integer, float, decimal, datetime, bytes, text, map, tuple,
bag), then by value. -0.0 and 0.0 are one value here, NaN equals itself and is the largest float. 1, 1.0 and True,
which Python confuses, are three. For all values, `encoded(a)` and `encoded(b)` compare as `sort_key(a)` and
`sort_key(b)` do; no encoding begins another, so encodings may stand side by side, and be complemented for a
descending order.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from incoop.query.types import Row, Value

#: What ranks kinds of values, and begins their encoding. Zero ends a sequence, so it ranks none.
_NULL, _BOOLEAN, _INTEGER, _FLOAT, _DECIMAL, _DATETIME, _BYTES, _TEXT, _MAP, _TUPLE, _BAG = range(1, 12)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_COMPLEMENT = bytes(255 - byte for byte in range(256))
_NAN = float("nan")


def microseconds(moment: datetime) -> int:
    """A moment as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(count: int) -> datetime:
    """The moment that many microseconds after 1970 began."""
    return _EPOCH + timedelta(microseconds=count)


def sort_key(value: Value) -> tuple[Any, ...]:
    """What values are sorted by in Python.

    Example:
        >>> sorted([2.5, None, "a", 1, True], key=sort_key)
        [None, True, 1, 2.5, 'a']
    """
    if value is None:
        return (_NULL,)
    if isinstance(value, str):
        return (_TEXT, value)
    if isinstance(value, bool):
        return (_BOOLEAN, value)
    if isinstance(value, int):
        return (_INTEGER, value)
    if isinstance(value, float):
        return (_FLOAT, True, 0.0) if value != value else (_FLOAT, False, value)
    if isinstance(value, tuple):
        return (_TUPLE, tuple(map(sort_key, value)))
    if isinstance(value, bytes):
        return (_BYTES, value)
    if isinstance(value, list):
        return (_BAG, tuple(map(sort_key, value)))
    if isinstance(value, dict):
        return (_MAP, tuple((key, sort_key(value[key])) for key in sorted(value)))
    if isinstance(value, datetime):
        return (_DATETIME, value)
    if isinstance(value, Decimal):
        return (_DECIMAL, value)
    raise TypeError(f"no value of a query: {type(value).__name__}")


def encoded(value: Value) -> bytes:
    """Bytes that are ordered as values are, and equal where these are one.

    Example:
        >>> encoded(-1) < encoded(1) < encoded(1.0) < encoded("a") < encoded("a\\0") < encoded("b")
        True
    """
    if value is None:
        return b"\x01"
    if isinstance(value, str):
        return b"\x08" + _escaped(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bool):
        return b"\x02\x01" if value else b"\x02\x00"
    if isinstance(value, int):
        return b"\x03" + _integer(value)
    if isinstance(value, float):
        return b"\x04" + _float(value)
    if isinstance(value, tuple):
        return b"\x0a" + b"".join(map(encoded, value)) + b"\0"
    if isinstance(value, bytes):
        return b"\x07" + _escaped(value)
    if isinstance(value, list):
        return b"\x0b" + b"".join(map(encoded, value)) + b"\0"
    if isinstance(value, dict):
        return b"\x09" + b"".join(encoded(key) + encoded(value[key]) for key in sorted(value)) + b"\0"
    if isinstance(value, datetime):
        return b"\x06" + _integer(microseconds(value))
    if isinstance(value, Decimal):
        return b"\x05" + _decimal(value)
    raise TypeError(f"no value of a query: {type(value).__name__}")


def _escaped(data: bytes) -> bytes:
    """Ended by two zeros; a zero inside is followed by what no end has."""
    return data.replace(b"\0", b"\0\xff") + b"\0\0"


def _integer(value: int) -> bytes:
    """How many bytes it has, from the smallest negative one up, then these bytes."""
    if value >= 0:
        size = (value.bit_length() + 7) // 8
        return bytes([0x80 + size]) + value.to_bytes(size, "big")
    size = ((~value).bit_length() + 7) // 8
    return bytes([0x7F - size]) + (value + (1 << 8 * size)).to_bytes(size, "big")


def _float(value: float) -> bytes:
    if value != value:
        return b"\xff" * 8
    bits = struct.pack(">d", value + 0.0)
    return bits.translate(_COMPLEMENT) if bits[0] & 0x80 else bytes([bits[0] | 0x80]) + bits[1:]


def _decimal(value: Decimal) -> bytes:
    sign, digits, _ = value.as_tuple()
    if not value:
        return b"\x01"
    kept = bytes(digits).lstrip(b"\0").rstrip(b"\0")
    body = struct.pack(">H", value.adjusted() + 0x8000) + bytes(digit + 1 for digit in kept) + b"\0"
    return b"\0" + body.translate(_COMPLEMENT) if sign else b"\x02" + body


@dataclass(frozen=True, slots=True)
class Direction:
    """How one key of a sort is ordered."""

    descending: bool = False
    #: None: nulls are the smallest, so they come last where the order descends.
    nulls_first: bool | None = None

    def encoded(self, value: Value) -> bytes:
        if value is None:
            first = not self.descending if self.nulls_first is None else self.nulls_first
            return b"\0" if first else b"\xff"
        data = encoded(value)
        return b"\x01" + (data.translate(_COMPLEMENT) if self.descending else data)


def encoded_keys(values: Iterable[Value], directions: Iterable[Direction]) -> bytes:
    """Bytes that several keys are sorted by, each in its direction."""
    return b"".join(way.encoded(value) for value, way in zip(values, directions, strict=True))


def canonical(value: Value) -> Value:
    """The one of equal values that stands for all of them: what keys of groups are shown as."""
    if isinstance(value, float):
        return _NAN if value != value else value + 0.0
    if isinstance(value, tuple):
        return tuple(map(canonical, value))
    if isinstance(value, list):
        return [canonical(each) for each in value]
    if isinstance(value, dict):
        return {key: canonical(value[key]) for key in sorted(value)}
    return value


def canonical_bag(rows: Iterable[Row]) -> list[Row]:
    """Rows in the order that a bag has, whichever order they came in."""
    return sorted(rows, key=bag_key)


def bag_key(row: Row) -> tuple[Any, ...]:
    """The order of values, and of values that are one the order of their looks."""
    return (sort_key(row), _looks(row))


def _looks(value: Value) -> tuple[Any, ...]:
    """Tells -0.0 from 0.0; of equal shape for equal values, so that it compares."""
    if isinstance(value, float):
        return (math.copysign(1.0, value) if value == 0.0 else 0.0,)
    if isinstance(value, tuple | list):
        return tuple(map(_looks, value))
    if isinstance(value, dict):
        return tuple(_looks(value[key]) for key in sorted(value))
    return ()


def is_same(one: Value, other: Value) -> bool:
    """Whether two values are one."""
    return sort_key(one) == sort_key(other)


def unique(values: Sequence[Value]) -> list[Value]:
    """Values without those that are one with an earlier one."""
    seen: dict[bytes, Value] = {}
    for value in values:
        seen.setdefault(encoded(value), value)
    return list(seen.values())
