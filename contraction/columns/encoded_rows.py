"""The values of a column, each encoded by itself, all at once: what says whether two stretches of pairs are the same.

Contract: a value's bytes are those that `encode` gives for it, whatever column it stands in (but for containers nested
nearly as deep as `DEEPEST`). No value is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.column import ANY, INTEGER, NONE, NUMBER, PAIR, TEXT, Column, Ints, starts_of

Bytes = npt.NDArray[np.uint8]

#: How a tuple of two begins.
_TWO = np.frombuffer(b"t\x02", "<u2")[0]

#: From so much on, an integer needs one, two, ... bytes more than one.
_MORE_BYTES = np.array([1 << 8 * size - 1 for size in range(1, 9)], np.uint64)


def encoded_rows(column: Column) -> tuple[Bytes, Ints]:
    """The encoded values of a column, one behind the other; and where each begins, and the end of the last.

    Example:
        >>> blob, starts = encoded_rows(Column.of([("a", 1), ("b", 300)]))
        >>> blob.tobytes(), starts.tolist()
        (b't\\x02s\\x01ai\\x01\\x01t\\x02s\\x01bi\\x02,\\x01', [0, 8, 17])
    """
    pieces = list(_pieces(column))
    if len(pieces) == 1:
        blob, sizes = pieces[0]
        return blob, starts_of(sizes)
    starts = starts_of(np.sum([sizes for _, sizes in pieces], axis=0))
    joined = np.empty(int(starts[-1]), np.uint8)
    at = starts[:-1].copy()
    for blob, sizes in pieces:
        # Where each byte goes: its piece's place in the row, plus how far into the piece it is.
        joined[np.repeat(at - np.cumsum(sizes) + sizes, sizes) + np.arange(len(blob))] = blob
        at += sizes
    return joined, starts


def _pieces(column: Column) -> Iterator[tuple[Bytes, Ints]]:
    """What stands in each row, from left to right: all bytes of a piece, and how many of them each row has."""
    count = column.length
    if column.kind == PAIR:
        assert column.children is not None
        yield np.full(count, _TWO).view(np.uint8), np.full(count, 2, np.int64)
        for child in column.children:
            yield from _pieces(child)
    elif column.kind == NONE:
        yield np.full(count, ord("N"), np.uint8), np.ones(count, np.int64)
    elif column.kind == INTEGER:
        yield _integers(column)
    elif column.kind == NUMBER:
        assert column.numbers is not None
        rows = np.full((count, 9), ord("f"), np.uint8)
        rows[:, 1:] = np.ascontiguousarray(column.numbers, "<f8").view(np.uint8).reshape(count, 8)
        yield rows.ravel(), np.full(count, 9, np.int64)
    else:
        assert column.blob is not None
        if column.kind != ANY:
            yield _heads(ord("s" if column.kind == TEXT else "b"), column.sizes())
        yield np.ascontiguousarray(column.blob), column.sizes()


def _integers(column: Column) -> tuple[Bytes, Ints]:
    """Tag, size, and the fewest bytes that hold the number with its sign, as `encode` counts them."""
    assert column.numbers is not None
    numbers = np.ascontiguousarray(column.numbers, "<i8")
    magnitudes = np.where(numbers < 0, ~numbers + 1, numbers).view(np.uint64)  # also of the smallest: it wraps
    sizes = 1 + np.searchsorted(_MORE_BYTES, magnitudes, side="right")
    rows = np.empty((len(numbers), 2 + int(sizes.max(initial=1))), np.uint8)
    rows[:, 0] = ord("i")
    rows[:, 1] = sizes
    rows[:, 2:10] = numbers.view(np.uint8).reshape(-1, 8)[:, : rows.shape[1] - 2]
    rows[:, 10:] = np.where(numbers < 0, 255, 0)[:, None]
    return _beginnings(rows, sizes + 2)


def _heads(tag: int, sizes: Ints) -> tuple[Bytes, Ints]:
    """A tag, and a length: seven bits a byte, the highest bit says that more follow."""
    most = max(1, -(-int(sizes.max(initial=0)).bit_length() // 7))
    left = sizes[:, None] >> 7 * np.arange(most)
    more = left > 0x7F
    rows = np.empty((len(sizes), 1 + most), np.uint8)
    rows[:, 0] = tag
    rows[:, 1:] = np.where(more, left | 0x80, left)  # of which the lowest eight bits are taken
    return _beginnings(rows, 2 + more.sum(axis=1))


def _beginnings(rows: npt.NDArray[np.uint8], sizes: Ints) -> tuple[Bytes, Ints]:
    """Of each row so many bytes, one row behind the other."""
    if (sizes == rows.shape[1]).all():
        return rows.ravel(), sizes
    return rows[np.arange(rows.shape[1]) < sizes[:, None]], sizes
