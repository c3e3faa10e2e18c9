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
from incoop.engine.stages.map_contract.leaf_table import Ids, LeafIds, all_leaves
from incoop.engine.stages.map_contract.leaves import large_enough
from incoop.engine.stages.map_contract.text_leaves import TextLeaves, cut_by_stretch, cut_stretch
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.stretches import NEW, RecutPieces
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
    """Leaves on their way: ranges of the other chunk's, and between them those that were cut."""

    #: Ids of the other chunk's leaves.
    old: Ids
    #: By number: those of the other chunk, and behind them those that were cut.
    order: list[Ints] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    #: For each that was cut, which of the other's it is, -1 for none.
    found: list[int] = field(default_factory=list)
    #: The last that stayed is the one before this place.
    _behind: int = 0

    def stay(self, low: int, high: int) -> None:
        self.settle(low)
        self.order.append(np.arange(low, high))
        self._behind = high

    def come(self, ids: list[bytes], lengths: list[int]) -> None:
        self.ids += ids
        self.lengths += lengths

    def settle(self, until: int) -> None:
        """Find old leaves, up to a place, among those that were cut since the last that stayed."""
        first, last = len(self.found), len(self.ids)
        if first == last:
            return
        behind = self._behind
        at = places_in(self.old[behind:until].tolist(), self.ids[first:])
        self.found += [behind + place if place >= 0 else -1 for place in at]
        self.order.append(np.arange(len(self.old) + first, len(self.old) + last))


def recut_leaves(
    where: Location, pieces: RecutPieces, old: LeafIds, size: int, form: RecordFormat, group: int
) -> TextLeaves | None:
    """The leaves of the chunk at `where`, given those of the one that its pieces refer to; None where they do not fit.

    Leaves have about `size` bytes, and groups of them about `group`; 0 for one each.
    """
    if not cut_by_stretch(size) or not len(old) or not large_enough(sum(pieces.lengths), size):
        return None
    bounds = np.concatenate([[0], np.cumsum(old.lengths)])
    lengths, before = np.array(pieces.lengths, np.int64), np.array(pieces.before, np.int64)
    stays = before != NEW
    ends = np.stack([before, before + lengths])[:, stays]
    places = np.searchsorted(bounds, ends)
    if not (places < len(bounds)).all() or not (bounds[places] == ends).all():
        return None
    ranges, ids = iter(places.T.tolist()), iter(pieces.ids)
    joined, windows, at = _Joined(old.ids), _Windows(), 0
    with _opened(where.path) as file:
        for length, stays_here in zip(pieces.lengths, stays.tolist(), strict=True):
            if stays_here:
                joined.stay(*next(ranges))
            else:
                content = os.pread(file, length, where.offset + at)
                if content_id(content) != next(ids):
                    raise FileChangedWhileRead(where.path)
                windows.starts.append(at)
                windows.stretches.append(content)
                joined.come(*cut_stretch(content, size, form))
            at += length
    joined.settle(len(old))
    order, new = np.concatenate(joined.order), LeafIds.of(joined.ids, joined.lengths)
    kept = np.concatenate([np.arange(len(old)), np.array(joined.found, np.int64)])[order]
    return TextLeaves(all_leaves([old, new]).take(order), size, group, windows, form, kept=kept)


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
