"""Bytes that rows are sorted by, ties included; and values read back from the bytes of `order.encoded`.

Contract: `decoded(encoded(value))` is the canonical form of the value. `row_order` compares as `bag_key` does: equal
for rows that are one and look alike only.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from incoop.query.order import Direction, encoded, encoded_keys, moment_of
from incoop.query.types import Row, Value

#: Complemented bytes are in the opposite order.
COMPLEMENT = bytes(255 - byte for byte in range(256))


def row_order(row: Row, keys: Iterable[Value] = (), directions: Iterable[Direction] = ()) -> bytes:
    """What a row is sorted by: keys in their directions, then the canonical order of rows.

    Example:
        >>> row_order((2,)) < row_order((10,)), row_order((-0.0,)) < row_order((0.0,))
        (True, True)
    """
    return encoded_keys(keys, directions) + encoded(row) + row_signs(row)


def row_signs(value: Value) -> bytes:
    """Tells -0.0 from 0.0; as long for values that are one."""
    if isinstance(value, float):
        return b"\0" if value == 0.0 and math.copysign(1.0, value) < 0 else b"\1"
    if isinstance(value, tuple | list):
        return b"".join(map(row_signs, value))
    if isinstance(value, dict):
        return b"".join(row_signs(value[key]) for key in sorted(value))
    return b""


def decoded(data: bytes) -> Value:
    """The value that was encoded.

    Example:
        >>> from incoop.query.order import encoded
        >>> decoded(encoded((1, -300, None, 2.5, "a\\0b", [(True,)])))
        (1, -300, None, 2.5, 'a\\x00b', [(True,)])
    """
    value, end = _value(data, 0)
    assert end == len(data)
    return value


def _value(data: bytes, at: int) -> tuple[Value, int]:
    kind, at = data[at], at + 1
    if kind == 1:
        return None, at
    if kind == 2:
        return data[at] == 1, at + 1
    if kind == 3:
        return _integer(data, at)
    if kind == 4:
        return _float(data[at : at + 8]), at + 8
    if kind == 5:
        return _decimal(data, at)
    if kind == 6:
        count, at = _integer(data, at)
        return moment_of(count), at
    if kind in (7, 8):
        raw, at = _unescaped(data, at)
        return (raw if kind == 7 else raw.decode("utf-8", "surrogatepass")), at
    parts: list[Any] = []
    while data[at]:
        part, at = _value(data, at)
        parts.append(part)
    if kind == 9:
        return dict(zip(parts[::2], parts[1::2], strict=True)), at + 1
    return (tuple(parts) if kind == 10 else parts), at + 1


def _integer(data: bytes, at: int) -> tuple[int, int]:
    head = data[at]
    size = head - 0x80 if head >= 0x80 else 0x7F - head
    end = at + 1 + size
    number = int.from_bytes(data[at + 1 : end], "big")
    return (number if head >= 0x80 else number - (1 << 8 * size)), end


def _float(bits: bytes) -> float:
    if bits == b"\xff" * 8:
        return math.nan
    plain = bytes([bits[0] & 0x7F]) + bits[1:] if bits[0] & 0x80 else bits.translate(COMPLEMENT)
    (value,) = struct.unpack(">d", plain)
    return float(value)


def _unescaped(data: bytes, at: int) -> tuple[bytes, int]:
    start, found = at, at
    while True:
        found = data.index(b"\0", found)
        if data[found + 1] == 0:
            return data[start:found].replace(b"\0\xff", b"\0"), found + 2
        found += 2


def _decimal(data: bytes, at: int) -> tuple[Decimal, int]:
    sign, at = data[at], at + 1
    if sign == 1:
        return Decimal(0), at
    end = data.index(b"\xff" if sign == 0 else b"\0", at + 2)
    body = data[at:end].translate(COMPLEMENT) if sign == 0 else data[at:end]
    power = struct.unpack(">H", body[:2])[0] - 0x8000
    digits = tuple(digit - 1 for digit in body[2:])
    return Decimal((int(sign == 0), digits, power - len(digits) + 1)), end + 1
