"""Leaves: content-defined pieces of a chunk, of whole records, whose map results are kept one by one (leaf_table.py).

Contract: leaves concatenate to the chunk; where they end follows from its bytes alone. An edit changes a leaf or two. A
group is some consecutive leaves; where groups end follows from the leaves' ids.

What a leaf's size costs and saves: docs/decisions/0011-a-chunk-is-described.md.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from incoop.base.content_ids import content_id
from incoop.contraction.tree.known_combiners import BatchCombiner
from incoop.engine.stages.map_contract.mapping import Piece
from incoop.inchdfs.cutting.records import Lines, RecordFormat
from incoop.job import Reducer

#: Average bytes of a leaf. An edited record maps a leaf or two again, so small ones win; below this, what is kept of
#: a leaf besides its pairs (16 bytes of id) and cutting it begin to show in the first run.
LEAF = 512

#: A chunk with fewer leaves than this is mapped as a whole.
_LEAVES_IN_A_CHUNK = 4

#: A combiner is called for the values of a key in a group, then for those of the chunk: an edit in a chunk whose few
#: keys have thousands of values each calls it on a group's.
GROUP = 128 << 10

#: Fewer values of a key in a group are kept as they are: storing them costs less than calling the combiner.
GROUP_VALUES = 8

#: With a key in less than so many bytes of its first group, what a chunk sent is kept by leaf, as it was sent; else by
#: group, as it was combined: that is so much less, that mapping a group again costs less than keeping its values.
_BYTES_OF_A_KEY = 1 << 10

#: A table larger than this share of its chunk is not kept: it holds values that do not get less.
LARGEST_TABLE = 1

#: Groups end after an eighth of their average at the earliest: the sooner they may, the sooner old ends are met again
#: behind new content.
_EARLIEST = 8

#: Encodings in which a line's text does not depend on the lines before it, so that a chunk is decoded at once.
_STATELESS = frozenset({"utf-8", "ascii", "iso8859-1"})


def leaf_bytes(wanted: int | None, combiner: Reducer | None) -> int:
    """Average bytes of a leaf, 0 for none: as the job wants it."""
    if wanted is not None:
        return wanted
    return 0 if isinstance(combiner, BatchCombiner) else LEAF


def shaping(wanted: int | None, combiner: Reducer | None) -> str:
    """What leaves have to do with a chunk's run: how values are combined may show in the last digits of a float."""
    if combiner is None:
        return ""
    return f"{leaf_bytes(wanted, combiner)} {GROUP} {_EARLIEST} {_LEAVES_IN_A_CHUNK} {GROUP_VALUES}"


def few_keys(keys: int, size: int) -> bool:
    """Whether a chunk is kept by group, whose first one has so many bytes and keys; a short one may have more."""
    return keys <= max(size, GROUP) // _BYTES_OF_A_KEY


@dataclass(frozen=True)
class Leaves:
    """A chunk's content, cut."""

    content: bytes
    form: RecordFormat
    ends: list[int]
    ids: list[bytes]
    #: Average bytes of a leaf, and of a group; 0 where a group is a leaf.
    leaf: int
    group: int

    @cached_property
    def groups(self) -> list[int]:
        """How many leaves stand before the end of each group."""
        return (
            _group_ends(self.ends, self.ids, self.group, self.leaf) if self.group else [*range(1, len(self.ends) + 1)]
        )

    def piece(self, leaf: int) -> Piece:
        """A leaf, with a way to its records."""
        return Piece(self.ids[leaf], partial(self._records, self._begin(leaf), self.ends[leaf]))

    @cached_property
    def group_ids(self) -> list[bytes]:
        bounds = pairwise([0, *self.groups])
        return [content_id(b"".join(self.ids[first:behind])) for first, behind in bounds]

    def group_piece(self, group: int) -> Piece:
        """A group, with a way to its records."""
        first = self.groups[group - 1] if group else 0
        records = partial(self._records, self._begin(first), self.ends[self.groups[group] - 1])
        return Piece(self.group_ids[group], records)

    def decoded(self) -> list[Piece]:
        """All leaves, when all of them will be asked for their records."""
        form = self.form
        if not isinstance(form, Lines) or not _stateless(form.encoding) or b"\r" in self.content:
            return [self.piece(leaf) for leaf in range(len(self.ids))]
        lines = form.records(self.content)
        behind = np.searchsorted(_newlines(self.content), self.ends, side="right").tolist()
        behind[-1] = len(lines)  # the last line may have no newline
        bounds = pairwise([0, *behind])
        return [
            Piece(id_, partial(_between, lines, low, high)) for id_, (low, high) in zip(self.ids, bounds, strict=True)
        ]

    @property
    def group_of_leaf(self) -> Any:
        """The number of each leaf's group."""
        return np.repeat(np.arange(len(self.groups)), np.diff(self.groups, prepend=0))

    def _begin(self, leaf: int) -> int:
        return self.ends[leaf - 1] if leaf else 0

    def _records(self, low: int, high: int) -> Sequence[Any]:
        return records_of(self.form, self.content[low:high])


def records_of(form: RecordFormat, content: bytes) -> Sequence[Any]:
    """All records of some bytes."""
    records = form.records(content)
    return records if isinstance(records, list) else list(records)


def _between(lines: list[Any], low: int, high: int) -> list[Any]:
    return lines[low:high]


@lru_cache(maxsize=16)
def _stateless(encoding: str | None) -> bool:
    return encoding is None or codecs.lookup(encoding).name in _STATELESS


def _newlines(content: bytes) -> Any:
    """Where lines end: behind each newline."""
    return np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n")) + 1


def cut_leaves(content: bytes, size: int, form: RecordFormat, group: int = 0) -> Leaves | None:
    """Cut a chunk into leaves of about `size` bytes, and these into groups of about `group`; 0 for one each.

    None when the chunk is too small, or no leaves are wanted. By FastCDC: Rabin would cost a tenth of mapping.
    """
    if not size or len(content) < size * _LEAVES_IN_A_CHUNK:
        return None
    proposed = _cutter(size)(content)
    if isinstance(form, Lines):
        newlines = _newlines(content)
        at = np.searchsorted(newlines, proposed)
        ends = np.unique(newlines[at[at < len(newlines)]]).tolist()
        if not ends or ends[-1] != len(content):
            ends.append(len(content))
    else:
        ends = _record_ends(content, proposed, form)
    view, digest = memoryview(content), content_id
    ids = [digest(view[low:high]) for low, high in pairwise([0, *ends])]
    return Leaves(content, form, ends, ids, size, group)


@lru_cache(maxsize=16)
def _cutter(size: int) -> Callable[[bytes], list[int]]:
    from pyfastcdc import FastCDC

    cutter = FastCDC(max(size, 256), min_size=max(64, size // 4), max_size=max(1024, min(size * 8, 16 << 20)))

    def cuts(content: bytes) -> list[int]:
        return [chunk.offset + chunk.length for chunk in cutter.cut_buf(content)]

    return cuts


def _record_ends(content: bytes, proposed: list[int], form: RecordFormat) -> list[int]:
    """The ends of the records that proposed cuts fall in."""
    ends: list[int] = []
    start = 0
    for cut in proposed:
        if cut <= start:
            continue
        after = form.ends_around(content, start, cut, len(content))[1]
        start = after if after >= 0 else len(content)
        ends.append(start)
    return ends


def _group_ends(ends: Sequence[int], ids: Sequence[bytes], average: int, leaf: int) -> list[int]:
    """How many leaves stand before the end of each group."""
    earliest, latest = average // _EARLIEST, average * 2
    mask = (1 << max(1, (average // leaf).bit_length() - 1)) - 1
    found: list[int] = []
    start = 0
    for number, (end, id_) in enumerate(zip(ends, ids, strict=True), 1):
        size = end - start
        if size >= latest or (size >= earliest and not int.from_bytes(id_[:4], "little") & mask):
            found.append(number)
            start = end
    if not found or found[-1] != len(ends):
        found.append(len(ends))
    return found
