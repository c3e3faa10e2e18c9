"""Leaves: content-defined pieces of a chunk, of whole records, whose map results are kept one by one (leaf_table.py).

Contract: leaves concatenate to the chunk's stretches; where they end follows from the bytes of their stretch alone. An
edit changes a leaf or two. A group is some consecutive leaves; where groups end follows from the leaves' ids.

What a leaf's size costs and saves: docs/decisions/0011-a-chunk-is-described.md.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from incoop.base.content_ids import content_id
from incoop.contraction.columns.column import Ints
from incoop.contraction.tree.known_combiners import BatchCombiner
from incoop.engine.blocks import records_of
from incoop.engine.stages.map_contract.leaf_table import Ids, LeafIds
from incoop.engine.stages.map_contract.mapping import Piece
from incoop.inchdfs.cutting import stretches
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
    return f"{leaf_bytes(wanted, combiner)} {stretches.AVERAGE} {GROUP} {_EARLIEST} {_LEAVES_IN_A_CHUNK} {GROUP_VALUES}"


def few_keys(keys: int, size: int) -> bool:
    """Whether a chunk is kept by group, whose first one has so many bytes and keys; a short one may have more."""
    return keys <= max(size, GROUP) // _BYTES_OF_A_KEY


class Content(Protocol):
    """A chunk's bytes, as far as they are at hand."""

    def __getitem__(self, part: slice, /) -> bytes: ...


@dataclass(frozen=True)
class Leaves:
    """A chunk, cut."""

    content: Content
    form: RecordFormat
    #: Which leaves there are.
    cut: LeafIds
    #: Average bytes of a leaf, and of a group; 0 where a group is a leaf.
    leaf: int
    group: int
    #: For a chunk by another: which of the other's leaves each one is, -1 for none. None where it is still to be found.
    kept: Ints | None = None
    #: Where stretches end, if that is known.
    stretch_ends: Sequence[int] = ()

    @cached_property
    def ends(self) -> Ints:
        return np.cumsum(self.cut.lengths)

    @cached_property
    def groups(self) -> list[int]:
        """How many leaves stand before the end of each group."""
        if not self.group:
            return [*range(1, len(self.cut) + 1)]
        return _group_ends(self.ends, self.cut.ids, self.group, self.leaf)

    def piece(self, leaf: int) -> Piece:
        """A leaf, with a way to its records."""
        return Piece(partial(self._records, self._begin(leaf), int(self.ends[leaf])))

    @cached_property
    def cut_by_group(self) -> LeafIds:
        """Groups as if they were leaves."""
        packed = self.cut.ids.tobytes()
        bounds = pairwise([0, *self.groups])
        ids = [content_id(packed[16 * first : 16 * behind]) for first, behind in bounds]
        lengths = np.diff(self.ends[np.array(self.groups) - 1], prepend=0)
        return LeafIds.of(ids, lengths)

    def group_piece(self, group: int) -> Piece:
        """A group, with a way to its records."""
        first = self.groups[group - 1] if group else 0
        return Piece(partial(self._records, self._begin(first), int(self.ends[self.groups[group] - 1])))

    def decoded(self) -> list[Piece]:
        """All leaves, when all of them will be asked for their records; all content is at hand."""
        form, content = self.form, self.content
        plain = isinstance(content, bytes) and isinstance(form, Lines) and _stateless(form.encoding)
        if not plain or not isinstance(content, bytes) or b"\r" in content:
            return [self.piece(leaf) for leaf in range(len(self.cut))]
        lines = records_of(form, content)
        behind: list[int] = np.searchsorted(_newlines(content), np.asarray(self.ends), side="right").tolist()
        behind[-1] = len(lines)  # the last line may have no newline
        return [Piece(partial(_between, lines, low, high)) for low, high in pairwise([0, *behind])]

    @cached_property
    def group_of_leaf(self) -> Ints:
        """The number of each leaf's group."""
        return np.repeat(np.arange(len(self.groups)), np.diff(self.groups, prepend=0))

    def _begin(self, leaf: int) -> int:
        return int(self.ends[leaf - 1]) if leaf else 0

    def _records(self, low: int, high: int) -> Sequence[Any]:
        return records_of(self.form, self.content[low:high])


def _between(lines: Sequence[Any], low: int, high: int) -> Sequence[Any]:
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
    bounds = list(stretches.stretch_ends(content, form)) if cut_by_stretch(size) else [len(content)]
    cuts, proposed = _cutter(size), []
    with memoryview(content) as view:
        for low, high in pairwise([0, *bounds]):
            proposed += [low + chunk.offset + chunk.length for chunk in cuts(view[low:high])]
    ends = _record_ends(content, proposed, form)
    return Leaves(
        content, form, _hashed(content, ends), size, group, stretch_ends=bounds if cut_by_stretch(size) else ()
    )


def cut_by_stretch(size: int) -> bool:
    """Whether leaves of a size are cut stretch by stretch: stretches have some of them."""
    return 0 < size <= stretches.AVERAGE // 2


def cut_stretch(content: bytes, size: int, form: RecordFormat) -> tuple[list[bytes], list[int]]:
    """The leaves of one stretch: their ids, and their lengths."""
    ends = _record_ends(content, [cut.offset + cut.length for cut in _cutter(size)(content)], form)
    return _ids(content, ends), [high - low for low, high in pairwise([0, *ends])]


def _hashed(content: bytes, ends: list[int]) -> LeafIds:
    return LeafIds.of(_ids(content, ends), np.diff(ends, prepend=0))


def _ids(content: bytes, ends: list[int]) -> list[bytes]:
    digest = content_id
    with memoryview(content) as view:
        return [digest(view[low:high]) for low, high in pairwise([0, *ends])]


@lru_cache(maxsize=16)
def _cutter(size: int) -> Callable[[Any], Any]:
    from pyfastcdc import FastCDC

    cutter = FastCDC(max(size, 256), min_size=max(64, size // 4), max_size=max(1024, min(size * 8, 16 << 20)))
    cuts: Callable[[Any], Any] = cutter.cut_buf
    return cuts


#: Below so many bytes, searching newlines one by one costs less than looking at all bytes at once.
_FEW_BYTES = 64 << 10


def _record_ends(content: bytes, proposed: list[int], form: RecordFormat) -> list[int]:
    """The ends of the records that proposed cuts fall in."""
    if isinstance(form, Lines) and len(content) >= _FEW_BYTES:
        newlines = _newlines(content)
        at = np.searchsorted(newlines, proposed)
        found: list[int] = np.unique(newlines[at[at < len(newlines)]]).tolist()
        return found if found and found[-1] == len(content) else [*found, len(content)]
    ends: list[int] = []
    start = 0
    for cut in proposed:
        if cut <= start:
            continue
        if isinstance(form, Lines):
            start = content.find(b"\n", cut - 1) + 1 or len(content)
        else:
            after = form.ends_around(content, start, cut, len(content))[1]
            start = after if after >= 0 else len(content)
        ends.append(start)
    return ends


def _group_ends(ends: Ints, ids: Ids, average: int, leaf: int) -> list[int]:
    """How many leaves stand before the end of each group."""
    earliest, latest = average // _EARLIEST, average * 2
    mask = (1 << max(1, (average // leaf).bit_length() - 1)) - 1
    marked = np.flatnonzero(np.frombuffer(ids.tobytes(), "<u4")[::4] & mask == 0)
    found: list[int] = []
    start = 0
    while start < ends[-1]:
        soonest = int(np.searchsorted(ends, start + earliest))  # the first leaf that may end the group
        last = int(np.searchsorted(ends, start + latest))
        at = int(np.searchsorted(marked, soonest))
        number = min(int(marked[at]) if at < len(marked) else len(ends) - 1, last, len(ends) - 1)
        found.append(number + 1)
        start = int(ends[number])
    return found
