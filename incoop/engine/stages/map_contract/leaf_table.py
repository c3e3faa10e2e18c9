"""What the mapper gave for each leaf of a chunk, as bytes.

Contract: a leaf's values depend on its bytes and the job's code alone. The table says, leaf by leaf, which keys the
mapper emitted there, and with which values; keys are named by number: their row in the chunk's run as it was first
written, and behind those the keys that came since (chunk_leaves.py). So a table has no key of its own.

A table is one region of a pack, the ids of its leaves another: it is read only when the chunk changed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import zstandard

from incoop.contraction.columns.column import INTEGER, NONE, Column, Ints, starts_of
from incoop.contraction.columns.column_bytes import read_column, write_column

#: Leaves, entries, whether values are those of the run, whether leaves are groups, and the bytes of the counters.
_HEAD = struct.Struct("<II??I")

#: zstd's fastest level: a better one saves a tenth of a region that is itself a fraction of the chunk.
_ZSTD_LEVEL = 1

#: Whether compressing pays is tried with so many bytes in the middle: numbers with many digits stay as they are.
_TRIED, _PAYS = 16 << 10, 0.9
_STORED, _COMPRESSED = b"\0", b"\1"

_ID_AND_LENGTH = 16 + 4

Counts = dict[str, int]

#: Ids of 16 bytes.
Ids = npt.NDArray[np.void]

_NOTHING: Counts = {}


@dataclass(frozen=True, slots=True)
class LeafIds:
    """Which leaves there are, and how many bytes each has."""

    ids: Ids
    lengths: Ints

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, ids: Sequence[bytes], lengths: Sequence[int] | Ints) -> LeafIds:
        return cls(np.frombuffer(b"".join(ids), "V16"), np.array(lengths, np.int64))

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return int(self.ids.nbytes + self.lengths.nbytes)

    def to_bytes(self) -> bytes:
        return self.ids.tobytes() + self.lengths.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> LeafIds:
        """Read ids back. The bytes must have been verified."""
        count = len(data) // _ID_AND_LENGTH
        return cls(np.frombuffer(data, "V16", count), np.frombuffer(data, "<u4", count, 16 * count).astype(np.int64))

    def take(self, leaves: Ints) -> LeafIds:
        return LeafIds(self.ids[leaves], self.lengths[leaves])


NO_LEAVES = LeafIds(np.empty(0, "V16"), np.empty(0, np.int64))


def all_leaves(some: Sequence[LeafIds]) -> LeafIds:
    """Leaves of several tables, one behind the other."""
    return LeafIds(np.concatenate([each.ids for each in some]), np.concatenate([each.lengths for each in some]))


@dataclass(frozen=True, slots=True)
class LeafTable:
    """What the mapper gave for each leaf of a chunk. An entry is a key of a leaf with one of its values there."""

    leaves: LeafIds
    #: How many entries each leaf has.
    sizes: Ints
    #: For each entry, the number of its key; ascending within a leaf, values of one key in input order.
    numbers: Ints
    #: None where a key's values are those that it has in the run, in the order of the leaves.
    values: Column | None
    #: What each leaf's mapper calls counted.
    counters: list[Counts]
    #: Whether its leaves are groups of leaves, and its values combined in each.
    grouped: bool = False

    @property
    def starts(self) -> Ints:
        return starts_of(self.sizes)

    @property
    def nbytes(self) -> int:
        """How much memory it takes, but for the ids and what was counted."""
        values = self.values.nbytes if self.values is not None else 0
        return int(self.sizes.nbytes + self.numbers.nbytes + values)

    def to_bytes(self) -> bytes:
        """All but the ids."""
        counted = json.dumps(self.counters).encode() if any(self.counters) else b""
        begins = self.starts[:-1][self.sizes > 0]
        gaps = np.diff(self.numbers, prepend=0)
        gaps[begins] = self.numbers[begins]
        head = _HEAD.pack(len(self.sizes), len(self.numbers), self.values is None, self.grouped, len(counted))
        out: list[bytes | memoryview] = [head, counted]
        write_column(Column(INTEGER, len(self.sizes), numbers=self.sizes), out)
        # Apart, since the upper bytes are nearly all zero and compress to nothing.
        out.append((gaps & 255).astype(np.uint8).tobytes())
        write_column(Column(INTEGER, len(gaps), numbers=gaps >> 8), out)
        if self.values is not None:
            write_column(self.values if len(self.values) else Column(NONE, 0), out)
        return _packed(out)

    @classmethod
    def from_bytes(cls, region: bytes | memoryview, ids: LeafIds) -> LeafTable:
        """Read a table back. The bytes must have been verified."""
        data = bytes(region[1:]) if region[:1] == _STORED else zstandard.ZstdDecompressor().decompress(region[1:])
        leaves, entries, of_run, grouped, counted = _HEAD.unpack_from(data)
        at = _HEAD.size
        counters = json.loads(data[at : at + counted]) if counted else [_NOTHING] * leaves
        sizes, at = _integers(data, at + counted, leaves)
        low = np.frombuffer(data, np.uint8, entries, at)
        high, at = _integers(data, at + entries, entries)
        numbers = np.cumsum((high << 8) + low)
        values = None if of_run else read_column(data, at)[0]
        # Gaps begin anew in each leaf: take off what the leaves before add up to.
        begins = starts_of(sizes)[:-1]
        before = np.where(begins > 0, numbers[np.maximum(begins - 1, 0)], 0) if entries else np.zeros(leaves, np.int64)
        return cls(ids, sizes, numbers - np.repeat(before, sizes), values, counters, grouped)


def _integers(data: bytes, at: int, length: int) -> tuple[Ints, int]:
    column, at = read_column(data, at)
    return column.numbers if column.numbers is not None else np.zeros(length, np.int64), at


def _packed(out: list[bytes | memoryview]) -> bytes:
    data = b"".join([_STORED, *out])
    middle = len(data) // 2
    compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
    tried = memoryview(data)[middle : middle + _TRIED]
    if len(compressor.compress(tried)) > _PAYS * len(tried):
        return data
    return _COMPRESSED + compressor.compress(memoryview(data)[1:])
