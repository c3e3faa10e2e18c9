"""The leaves of a chunk that is known by another: what is new in it is read and cut, the rest is as it was.

Contract: the leaves are those that cutting the whole chunk gives. Of the chunk's bytes only stretches are read that the
other chunk does not have; each is verified by its id.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from incoop.base.content_ids import content_id
from incoop.code import unwatched
from incoop.contraction.columns.column import Ints
from incoop.contraction.tree.alignment import places_in
from incoop.engine.stages.map_contract.leaf_table import LeafIds, all_leaves
from incoop.engine.stages.map_contract.text_leaves import TextLeaves, cut_by_stretch, cut_stretch
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
    """Leaves on their way: ranges of the other chunk's, and between them those that are new."""

    old: LeafIds
    parts: list[LeafIds] = field(default_factory=list)
    kept: list[Ints] = field(default_factory=list)
    #: Leaves that were cut since the last that stayed, which is the one before this place.
    _ids: list[bytes] = field(default_factory=list)
    _lengths: list[int] = field(default_factory=list)
    _behind: int = 0

    def stay(self, low: int, high: int) -> None:
        self.settle(low)
        self.parts.append(LeafIds(self.old.ids[low:high], self.old.lengths[low:high]))
        self.kept.append(np.arange(low, high))
        self._behind = high

    def come(self, ids: list[bytes], lengths: list[int]) -> None:
        self._ids += ids
        self._lengths += lengths

    def settle(self, until: int) -> None:
        """Find old leaves, up to a place, among those that were cut."""
        if self._ids:
            at = np.array(places_in(self.old.ids[self._behind : until].tolist(), self._ids), np.int64)
            ids = np.frombuffer(b"".join(self._ids), "V16")
            self.parts.append(LeafIds(ids, np.array(self._lengths, np.int64)))
            self.kept.append(np.where(at >= 0, at + self._behind, -1))
            self._ids, self._lengths = [], []


def recut_leaves(
    where: Location, pieces: tuple[RecutPiece, ...], old: LeafIds, size: int, form: RecordFormat, group: int
) -> TextLeaves | None:
    """The leaves of the chunk at `where`, given those of the one that its pieces refer to; None where they do not fit.

    Leaves have about `size` bytes, and groups of them about `group`; 0 for one each.
    """
    if not cut_by_stretch(size) or not len(old):
        return None
    bounds = dict(zip(np.cumsum(old.lengths).tolist(), range(1, len(old) + 1), strict=True))
    bounds[0] = 0
    joined, windows, at = _Joined(old), _Windows(), 0
    with _opened(where.path) as file:
        for piece in pieces:
            if piece.before == NEW:
                content = os.pread(file, piece.length, where.offset + at)
                if content_id(content) != piece.id:
                    raise FileChangedWhileRead(where.path)
                windows.starts.append(at)
                windows.stretches.append(content)
                joined.come(*cut_stretch(content, size, form))
            else:
                low, high = bounds.get(piece.before), bounds.get(piece.before + piece.length)
                if low is None or high is None:
                    return None
                joined.stay(low, high)
            at += piece.length
    joined.settle(len(old))
    return TextLeaves(all_leaves(joined.parts), size, group, windows, form, kept=np.concatenate(joined.kept))


@contextmanager
def _opened(path: str) -> Iterator[int]:
    with unwatched():
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise InputUnreadable(path, error.strerror or str(error)) from error
        try:
            yield file
        finally:
            os.close(file)
