"""The leaves of a chunk that was made from another: those of a base, and those that came since.

Contract: a chunk is kept as a base (a run, a table of its leaves) and, if it is not the base itself, as a patch to it:
which leaves it has, in which order, what those gave that the base has not. A patch is always one to the base, however
many chunks lie between; when it has grown too large, the chunk becomes a base of its own. Which of the two a chunk is
says nothing of what it holds.

Keys are named by number: a row of the base's run, as it was written, or behind those a key that came since.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from incoop.contraction.columns.column import Column, Ints
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.parts.headers import LeafRegions, RunRef, read_decoded, read_region
from incoop.contraction.parts.packs import Reader
from incoop.engine.stages.map_contract.leaf_table import NO_LEAVES, LeafIds, LeafTable, all_leaves

#: Pack, digest, offset and length of the base's header; rows of leaves that follow each other, leaves that came, keys
#: that came.
_HEAD = struct.Struct("<16s16sQIIII")

#: A patch whose leaves are this share of its chunk's makes it a base of its own: the sooner, the less an update writes
#: on average, and the more often it writes a whole chunk. Chunks have different shares, from this one down to half of
#: it, by their content: they would else become bases all on one day.
_LARGEST_PATCH = 1 / 4

_NO_NUMBERS = np.empty(0, np.int64)
_NO_HASHES = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True)
class Patch:
    """What a chunk's leaves are beside those of its base."""

    #: Where the base's header is.
    base: RunRef
    #: The chunk's leaves in their order, by number: those of the base, and behind them those of `came`.
    order: Ints
    came: LeafTable
    #: Hashes of keys that the base's run does not have.
    extra: Hashes

    def to_bytes(self) -> bytes:
        begins = np.flatnonzero(np.diff(self.order, prepend=-2) != 1)
        lengths = np.diff(begins, append=len(self.order))
        head = _HEAD.pack(
            *(self.base.pack, self.base.digest, self.base.offset, self.base.length),
            *(len(begins), len(self.came.leaves), len(self.extra)),
        )
        rows = np.stack([self.order[begins], lengths]).astype("<u4")
        return b"".join(
            [
                head,
                rows.tobytes(),
                self.came.leaves.to_bytes(),
                self.extra.astype("<u8").tobytes(),
                self.came.to_bytes(),
            ]
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Patch:
        """Read a patch back. The bytes must have been verified."""
        *base, rows, leaves, extra = _HEAD.unpack_from(data)
        at = _HEAD.size
        begins, lengths = np.frombuffer(data, "<u4", 2 * rows, at).astype(np.int64).reshape(2, rows)
        at += 8 * rows
        ids = LeafIds.from_bytes(memoryview(data)[at : at + 20 * leaves])
        at += 20 * leaves
        hashes = np.frombuffer(data, "<u8", extra, at).astype(np.uint64)
        order = np.repeat(begins - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
        return cls(RunRef(*base), order, LeafTable.from_bytes(memoryview(data)[at + 8 * extra :], ids), hashes)

    def too_large(self, chunk: bytes) -> bool:
        """Whether the chunk of this id should become a base of its own."""
        return len(self.came.leaves) > len(self.order) * _LARGEST_PATCH * (0.5 + chunk[0] / 512)


class StoredLeaves:
    """The leaves of a stored chunk: its ids, and when that is asked for, what each gave."""

    def __init__(self, ref: RunRef, reader: Reader) -> None:
        self._reader = reader
        self.ref = ref
        regions = LeafRegions.of(ref, reader)
        self.patch: Patch | None = None
        if regions.leaves is not None and regions.ids is None:
            self.patch = Patch.from_bytes(read_region(regions.leaves, reader, "a patch"))
            ref = self.patch.base
            regions = LeafRegions.of(ref, reader)
        #: Where the base's header is.
        self.base = ref
        self._table = regions.leaves
        self._leaves = self._ids(regions.ids) if regions.ids is not None else NO_LEAVES

    @property
    def order(self) -> Ints:
        """The chunk's leaves, by number."""
        return self.patch.order if self.patch is not None else np.arange(len(self._leaves))

    @cached_property
    def leaves(self) -> LeafIds:
        """The chunk's leaves in their order; none where they are not kept."""
        if self.patch is None:
            return self._leaves
        return all_leaves([self._leaves, self.patch.came.leaves]).take(self.patch.order)

    def table(self) -> LeafTable:
        """What the base's leaves gave."""
        region = self._table
        assert region is not None
        # Chunks with other leaves may have an equal table.
        return replace(read_decoded(region, self._reader, "a table of leaves", _without_ids), leaves=self._leaves)

    def _ids(self, region: RunRef) -> LeafIds:
        return read_decoded(region, self._reader, "ids of leaves", LeafIds.from_bytes)

    def came(self, base: LeafTable) -> LeafTable:
        """What the leaves gave that came since; `base` is what `table` gave."""
        if self.patch is not None:
            return self.patch.came
        values = Column.of([])
        return LeafTable(NO_LEAVES, _NO_NUMBERS, _NO_NUMBERS, values, [], base.grouped)

    @property
    def extra(self) -> Hashes:
        return self.patch.extra if self.patch is not None else _NO_HASHES


def _without_ids(data: bytes) -> LeafTable:
    return LeafTable.from_bytes(data, NO_LEAVES)
