"""What the mapper gave for each leaf of a chunk, as bytes.

Contract: a leaf's values depend on its bytes and the job's code alone. The table says, leaf by leaf, which keys of the
chunk's run the mapper emitted there, and with which values; keys are named by their place in the run, so a table has no
key of its own. `incoop.engine.stages.map_contract.patching` makes the run of a changed chunk from it.

A table is one region of the chunk's pack: it is read only when the chunk changed.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass

import numpy as np
import zstandard

from incoop.contraction.columns.column import INTEGER, NONE, Column, Ints, starts_of
from incoop.contraction.columns.column_bytes import read_column, write_column

#: Leaves, entries, whether values were added up, and the bytes of the counters.
_HEAD = struct.Struct("<II?I")

#: zstd's fastest level: a better one saves a tenth of a region that is itself a twentieth of the chunk.
_ZSTD_LEVEL = 1

#: Whether compressing pays is tried with so many bytes in the middle: numbers with many digits stay as they are.
_TRIED, _PAYS = 16 << 10, 0.9
_STORED, _COMPRESSED = b"\0", b"\1"

Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class LeafTable:
    """What the mapper gave for each leaf of a chunk. An entry is a key of a leaf, with its values there."""

    ids: list[bytes]
    #: How many entries each leaf has.
    sizes: Ints
    #: For each entry, its key's row in the chunk's run; ascending within a leaf.
    rows: Ints
    values: Column
    #: How many values each entry has; None where they were added up to one.
    counts: Ints | None
    #: What each leaf's mapper calls counted.
    counters: list[Counts]

    @property
    def starts(self) -> Ints:
        return starts_of(self.sizes)

    def to_bytes(self) -> bytes:
        counted = json.dumps(self.counters).encode() if any(self.counters) else b""
        gaps = np.diff(self.rows, prepend=0)
        gaps[self.starts[:-1][self.sizes > 0]] = self.rows[self.starts[:-1][self.sizes > 0]]
        head = _HEAD.pack(len(self.ids), len(self.rows), self.counts is None, len(counted))
        out: list[bytes | memoryview] = [head, counted, *self.ids]
        write_column(Column(INTEGER, len(self.sizes), numbers=self.sizes), out)
        # Apart, since the upper bytes are nearly all zero and compress to nothing.
        out.append((gaps & 255).astype(np.uint8).tobytes())
        write_column(Column(INTEGER, len(gaps), numbers=gaps >> 8), out)
        if self.counts is not None:
            write_column(Column(INTEGER, len(self.counts), numbers=self.counts), out)
        write_column(self.values if len(self.values) else Column(NONE, 0), out)
        return _packed(out)

    @classmethod
    def from_bytes(cls, region: bytes) -> LeafTable:
        """Read a table back. The bytes must have been verified."""
        data = region[1:] if region[:1] == _STORED else zstandard.ZstdDecompressor().decompress(region[1:])
        leaves, entries, summed, counted = _HEAD.unpack_from(data)
        at = _HEAD.size
        counters = json.loads(data[at : at + counted]) if counted else [{} for _ in range(leaves)]
        at += counted
        ids = [data[at + 16 * leaf : at + 16 * (leaf + 1)] for leaf in range(leaves)]
        sizes, at = _integers(data, at + 16 * leaves, leaves)
        low = np.frombuffer(data, np.uint8, entries, at)
        high, at = _integers(data, at + entries, entries)
        gaps = (high << 8) + low
        counts = None
        if not summed:
            counts, at = _integers(data, at, entries)
        values, _ = read_column(data, at)
        # Gaps begin anew in each leaf: take off what the leaves before add up to.
        rows = np.cumsum(gaps)
        begins = starts_of(sizes)[:-1]
        before = np.where(begins > 0, rows[np.maximum(begins - 1, 0)], 0) if entries else np.zeros(leaves, np.int64)
        return cls(ids, sizes, rows - np.repeat(before, sizes), values, counts, counters)


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
