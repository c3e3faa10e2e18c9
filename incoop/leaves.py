"""Leaves: content-defined pieces of a chunk whose map results are kept one by one.

Contract: a leaf's values depend on its bytes and the job's code alone. The table of a chunk's leaves says, leaf by
leaf, which keys of the chunk's run the mapper emitted there, and with which values, combined; keys are named by their
place in the run, so a table has no key of its own. `incoop.patching` makes the run of a changed chunk from it.

A table is one compressed region of the chunk's pack: it is read only when the chunk changed.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass

import numpy as np
import zstandard

from contraction.columns import INTEGER, NONE, Column, Ints
from contraction.folds import Fold, recognise
from contraction.run import starts_of
from contraction.wire import read_column, write_column
from inchdfs.records import RecordFormat
from inchdfs.settings import ChunkSettings
from inchdfs.splitter import Splitter
from incoop.batches import BatchCombiner
from incoop.job import Reducer

#: Leaves are cut in chunks that hold at least this many; smaller chunks are mapped as a whole.
_LEAVES_IN_A_CHUNK = 4

#: Where the combiner adds integers up, leaves cost next to nothing (docs/decisions/0001-leaf-size.md).
SUM_LEAF = 8 << 10

#: Other combiners are called for keys of every leaf, so that leaves have to be larger; an eighth of a large chunk.
COMBINED_LEAF = 128 << 10

#: Fewer values of a key are kept as they are: storing them costs less than calling the combiner.
LEAF_VALUES = 8

#: With a key in less than so many bytes of its first leaf, a chunk is not kept by leaf: the combiner's calls for every
#: leaf, and their results, would cost more than they save.
BYTES_OF_A_KEY = 1 << 10

#: A table of combined values larger than this share of its chunk is not kept: it holds values that do not get less.
LARGEST_TABLE = 1 / 2

#: Leaves, entries, whether values were added up, and the bytes of the counters.
_HEAD = struct.Struct("<II?I")

#: zstd's fastest level: a better one saves a tenth of a region that is itself a twentieth of the chunk.
_ZSTD_LEVEL = 1

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
        out = [_HEAD.pack(len(self.ids), len(self.rows), self.counts is None, len(counted)), counted, *self.ids]
        write_column(Column(INTEGER, len(self.sizes), numbers=self.sizes), out)
        # Apart, since the upper bytes are nearly all zero and compress to nothing.
        out.append((gaps & 255).astype(np.uint8).tobytes())
        write_column(Column(INTEGER, len(gaps), numbers=gaps >> 8), out)
        if self.counts is not None:
            write_column(Column(INTEGER, len(self.counts), numbers=self.counts), out)
        write_column(self.values if len(self.values) else Column(NONE, 0), out)
        return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(b"".join(out))

    @classmethod
    def from_bytes(cls, region: bytes) -> LeafTable:
        """Read a table back. The bytes must have been verified."""
        data = zstandard.ZstdDecompressor().decompress(region)
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


def leaf_bytes(wanted: int | None, combiner: Reducer | None) -> int:
    """Average bytes of a leaf, 0 for none: as the job wants it, else as suits its combiner."""
    if wanted is not None:
        return wanted
    if recognise(combiner) is Fold.SUM:
        return SUM_LEAF
    return 0 if combiner is None or isinstance(combiner, BatchCombiner) else COMBINED_LEAF


def shaping(wanted: int | None, combiner: Reducer | None) -> str:
    """What leaves have to do with a chunk's run: how values are combined may show in the last digits of a float."""
    if combiner is None or recognise(combiner) is Fold.SUM:
        return ""
    rule = BYTES_OF_A_KEY if wanted is None else 0
    return f"{leaf_bytes(wanted, combiner)} {rule} {_LEAVES_IN_A_CHUNK} {LEAF_VALUES}"


def leaf_splitter(size: int, chunk: int, records: RecordFormat) -> Splitter | None:
    """What cuts a chunk of so many bytes into leaves of about `size`; None when it is too small, or it is not wanted.

    FastCDC, since leaves are cut once for every chunk that is mapped and Rabin would cost a tenth of mapping.
    """
    if not size or chunk < size * _LEAVES_IN_A_CHUNK:
        return None
    return Splitter(ChunkSettings(average=size, chunker="fastcdc"), records)
