"""The leaves of a chunk that is known by another: what is new in it is read and cut, the rest is as it was.

Contract: the leaves are those that cutting the whole chunk gives. Of the chunk's bytes only stretches are read that the
other chunk does not have; each is verified by its id.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
import xxhash

from incoop.code import unwatched
from incoop.contraction.columns.column import Ints
from incoop.contraction.tree.alignment import places_in
from incoop.engine.stages.map_contract.leaf_table import LeafIds, all_leaves
from incoop.engine.stages.map_contract.leaves import Leaves, cut_by_stretch, cut_stretch
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.stretches import NEW, RecutPiece
from incoop.inchdfs.errors import FileChangedWhileRead, InputUnreadable
from incoop.inchdfs.store.packs import Location


@dataclass(slots=True)
class _Windows:
    """Some stretches of a chunk, as content."""

    starts: list[int] = field(default_factory=list)
    stretches: list[bytes] = field(default_factory=list)

    def __getitem__(self, part: slice) -> bytes:
        at = bisect_right(self.starts, part.start) - 1
        begin = self.starts[at]
        return self.stretches[at][part.start - begin : part.stop - begin]


@dataclass(slots=True)
class _Joined:
    """Leaves on their way: those of the other chunk, and between them those that are new."""

    old: LeafIds
    found: list[LeafIds] = field(default_factory=list)
    kept: list[Ints] = field(default_factory=list)
    #: Leaves that were cut since the last that stayed, which is the one before this place.
    _new: list[LeafIds] = field(default_factory=list)
    _behind: int = 0

    def stay(self, low: int, high: int) -> None:
        self.settle(low)
        self.found.append(LeafIds(self.old.ids[low:high], self.old.lengths[low:high]))
        self.kept.append(np.arange(low, high))
        self._behind = high

    def come(self, leaves: LeafIds) -> None:
        self._new.append(leaves)

    def settle(self, until: int) -> None:
        """Find old leaves, up to a place, among those that were cut."""
        if self._new:
            came = all_leaves(self._new)
            at = np.array(places_in(self.old.ids[self._behind : until].tolist(), came.ids.tolist()), np.int64)
            self.found.append(came)
            self.kept.append(np.where(at >= 0, at + self._behind, -1))
            self._new = []


def recut_leaves(
    where: Location, pieces: tuple[RecutPiece, ...], old: LeafIds, size: int, form: RecordFormat, group: int
) -> Leaves | None:
    """The leaves of the chunk at `where`, given those of the one that its pieces refer to; None where they do not fit.

    Leaves have about `size` bytes, and groups of them about `group`; 0 for one each.
    """
    if not cut_by_stretch(size) or not len(old):
        return None
    ends = np.cumsum(old.lengths)
    joined, windows, at = _Joined(old), _Windows(), 0
    with unwatched():
        try:
            file = os.open(where.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise InputUnreadable(where.path, error.strerror or str(error)) from error
        try:
            for piece in pieces:
                if piece.before == NEW:
                    content = os.pread(file, piece.length, where.offset + at)
                    if xxhash.xxh3_128_digest(content) != piece.id:
                        raise FileChangedWhileRead(where.path)
                    windows.starts.append(at)
                    windows.stretches.append(content)
                    joined.come(cut_stretch(content, size, form))
                else:
                    low = int(np.searchsorted(ends, piece.before, side="right"))
                    high = int(np.searchsorted(ends, piece.before + piece.length)) + 1
                    if high > len(ends) or (ends[low - 1] if low else 0) != piece.before:
                        return None
                    if ends[high - 1] != piece.before + piece.length:
                        return None
                    joined.stay(low, high)
                at += piece.length
        finally:
            os.close(file)
    joined.settle(len(old))
    return Leaves(windows, form, all_leaves(joined.found), size, group, kept=np.concatenate(joined.kept))
