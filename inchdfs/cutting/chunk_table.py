"""The chunks of an input as columns: a million of them compare, join and travel as a few arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from incoop.base.content_ids import content_id

#: Bytes hashed at either end of a chunk: the head finds a chunk again after it moved, the tail (the boundary's own
#: content) gives the contraction tree its shape.
EDGE = 64

#: One row a chunk.
ROW = np.dtype(
    [
        ("id", "V16"),  # content_id of the chunk's bytes
        ("length", "<u4"),
        ("head", "<u8"),  # xxh3-64 of the first EDGE bytes
        ("tail", "<u8"),  # xxh3-64 of the last EDGE bytes
        ("closed", "?"),  # the cut depends on the chunk's own bytes alone: not on the end of input or on what follows
    ]
)

Rows = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk and where it begins in its file."""

    offset: int
    length: int
    #: Digest of the bytes, never of a path or offset.
    id: bytes
    head: int
    tail: int
    closed: bool

    @property
    def end(self) -> int:
        return self.offset + self.length


def describe(data: memoryview, offset: int, closed: bool) -> Chunk:
    """Hash `data`, which begins at `offset` of its file, into a Chunk."""
    return Chunk(
        offset=offset,
        length=len(data),
        id=content_id(data),
        head=xxhash.xxh3_64_intdigest(data[:EDGE]),
        tail=xxhash.xxh3_64_intdigest(data[-EDGE:]),
        closed=closed,
    )


def rows_of(chunks: Iterable[Chunk]) -> Rows:
    """Chunks as rows; offsets are left out, they follow from the lengths."""
    return np.array([(c.id, c.length, c.head, c.tail, c.closed) for c in chunks], dtype=ROW)


def offsets_of(rows: Rows) -> npt.NDArray[np.int64]:
    """Where each chunk begins when the rows are one file."""
    ends: npt.NDArray[np.int64] = np.cumsum(rows["length"], dtype=np.int64)
    return ends - rows["length"].astype(np.int64)


def chunks_of(rows: Rows) -> Iterator[Chunk]:
    """Rows back as Chunk values."""
    offset = 0
    for id_, length, head, tail, closed in rows.tolist():
        yield Chunk(offset, length, id_, head, tail, closed)
        offset += length


def root_hash(rows: Rows) -> bytes:
    """One digest of an ordered list of chunks; equal content cut equally gives equal roots."""
    return content_id(np.ascontiguousarray(rows["id"]).tobytes())
