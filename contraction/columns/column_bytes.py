"""Columns as bytes: the narrowest arrays that hold them, so that equal columns give equal bytes and few of them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.column import ANY, INTEGER, NONE, NUMBER, PAIR, RAW, TEXT, Column

_HEAD = struct.Struct("<BBI")  # kind, bytes per number or length, values
_SIGNED = {1: "<i1", 2: "<i2", 4: "<i4", 8: "<i8"}
_UNSIGNED = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<u8"}


def write_column(column: Column, out: list[bytes | memoryview]) -> None:
    """Append the column's bytes to `out`, as memory of the column where there may be many."""
    if column.kind == NONE:
        out.append(_HEAD.pack(NONE, 0, column.length))
    elif column.kind == INTEGER:
        assert column.numbers is not None
        width = _signed_width(column.numbers)
        out.append(_HEAD.pack(INTEGER, width, column.length))
        out.append(column.numbers.astype(_SIGNED[width]).tobytes())
    elif column.kind == NUMBER:
        assert column.numbers is not None
        out.append(_HEAD.pack(NUMBER, 8, column.length))
        out.append(column.numbers.astype("<f8").tobytes())
    elif column.kind == PAIR:
        assert column.children is not None
        out.append(_HEAD.pack(PAIR, 0, column.length))
        for child in column.children:
            write_column(child, out)
    else:
        assert column.blob is not None and column.starts is not None
        sizes = column.sizes()
        width = _unsigned_width(sizes)
        out.append(_HEAD.pack(column.kind, width, column.length))
        out.append(sizes.astype(_UNSIGNED[width]).tobytes())
        out.append(np.ascontiguousarray(column.blob).data)


def read_column(data: bytes | memoryview, at: int) -> tuple[Column, int]:
    """Read a column that begins at `at`; return it and where it ends."""
    kind, width, length = _HEAD.unpack_from(data, at)
    at += _HEAD.size
    if kind == NONE:
        return Column(NONE, length), at
    if kind in (INTEGER, NUMBER):
        stored = np.frombuffer(data, _SIGNED[width] if kind == INTEGER else "<f8", length, at)
        numbers = stored.astype(np.int64) if kind == INTEGER else stored
        return Column(kind, length, numbers=numbers), at + length * width
    if kind == PAIR:
        first, at = read_column(data, at)
        second, at = read_column(data, at)
        return Column(PAIR, length, children=(first, second)), at
    assert kind in (TEXT, RAW, ANY)
    starts = np.empty(length + 1, np.int64)
    starts[0] = 0
    np.cumsum(np.frombuffer(data, _UNSIGNED[width], length, at), dtype=np.int64, out=starts[1:])
    at += length * width
    end = at + int(starts[-1])
    return Column(kind, length, blob=np.frombuffer(data, np.uint8, end - at, at), starts=starts), end


def _signed_width(numbers: npt.NDArray[Any]) -> int:
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    return next(width for width in (1, 2, 4, 8) if -(1 << 8 * width - 1) <= low and high < 1 << 8 * width - 1)


def _unsigned_width(sizes: npt.NDArray[np.int64]) -> int:
    high = int(sizes.max()) if len(sizes) else 0
    return next(width for width in (1, 2, 4, 8) if high < 1 << 8 * width)
