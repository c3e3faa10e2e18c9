"""Leaves: content-defined pieces of a chunk, of whole records, whose map results are kept one by one (leaf_table.py).

Contract: leaves concatenate to their chunk; where they end, and their ids, follow from its content alone. An edit
changes a leaf or two. A group is some consecutive leaves; where groups end follows from the leaves' ids. There are two
kinds: of bytes (text_leaves.py), and of another run's pairs (pair_leaves.py).

What a leaf's size costs and saves: docs/decisions/0011-a-chunk-is-described.md and 0014-leaves-of-pairs.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from incoop.base.content_ids import content_id
from incoop.contraction.columns.column import Ints
from incoop.contraction.tree.known_combiners import BatchCombiner, QuickBatchCombiner
from incoop.engine.stages.map_contract.leaf_table import Ids, LeafIds
from incoop.engine.stages.map_contract.mapping import Piece, PiecesMapper
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.inchdfs.cutting import stretches
from incoop.inchdfs.cutting.stretches import RecutPieces
from incoop.job import Job, Mapper, Reducer

#: Average bytes of a leaf. An edited record maps a leaf or two again, so small ones win; below this, what is kept of
#: a leaf besides its pairs (16 bytes of id) and cutting it begin to show in the first run.
LEAF = 512

#: A chunk with fewer leaves than this is mapped as a whole.
_LEAVES_IN_A_CHUNK = 4

#: A combiner is called for the values of a key in a group, then for those of the chunk: an edit in a chunk whose few
#: keys have thousands of values each calls it on a group's. A block of pairs has some thousand in all: smaller groups.
GROUP, PAIR_GROUP = 128 << 10, 4 << 10

#: Fewer values of a key in a group are kept as they are: storing them costs less than calling the combiner.
GROUP_VALUES = 8

#: A table larger than this share of its chunk is not kept: it holds values that do not get less.
LARGEST_TABLE = 1

#: Groups end after an eighth of their average at the earliest: the sooner they may, the sooner old ends are met again
#: behind new content.
_EARLIEST = 8


def leaf_bytes(wanted: int | None, combiner: Reducer | None) -> int:
    """Average bytes of a leaf, 0 for none: as the job wants it."""
    if wanted is not None:
        return wanted
    costly = isinstance(combiner, BatchCombiner) and not isinstance(combiner, QuickBatchCombiner)
    return 0 if costly else LEAF


def has_leaves(job: Job) -> bool:
    """Whether all chunks of a job's files are mapped by leaf, as far as they are large enough."""
    mappers = job.mapper.values() if isinstance(job.mapper, Mapping) else [job.mapper]
    return leaf_bytes(job.leaf, job.combiner) > 0 and all(map(by_leaf, mappers))


def by_leaf(mapper: Mapper) -> bool:
    """Whether a mapper can be given less than a chunk."""
    return not isinstance(mapper, ChunkMapper) and not (isinstance(mapper, PiecesMapper) and mapper.whole)


def shaping(wanted: int | None, combiner: Reducer | None, map_only: bool = False) -> str:
    """What leaves have to do with a chunk's run: how values are combined may show in the last digits of a float.

    What a map-only job keeps of a chunk is known by what its leaves gave, and names a block of the next job.
    """
    if combiner is None:
        cut = f"{leaf_bytes(wanted, None)} {stretches.AVERAGE} {_LEAVES_IN_A_CHUNK}"
        return f"in order {cut}" if map_only else ""
    groups = f"{GROUP} {PAIR_GROUP} {_EARLIEST} {GROUP_VALUES}"
    return f"{leaf_bytes(wanted, combiner)} {stretches.AVERAGE} {_LEAVES_IN_A_CHUNK} {groups}"


def large_enough(size: int, leaf: int) -> bool:
    """Whether a chunk of so many bytes is cut into leaves of about `leaf`; 0 for none."""
    return leaf > 0 and size >= leaf * _LEAVES_IN_A_CHUNK


@dataclass(frozen=True)
class Leaves(ABC):
    """A chunk, cut."""

    #: Which leaves there are.
    cut: LeafIds
    #: Average bytes of a leaf, and of a group; 0 where a group is a leaf.
    leaf: int
    group: int
    #: For a chunk by another: which of the other's leaves each one is, -1 for none. None where it is still to be found.
    kept: Ints | None = field(default=None, kw_only=True)

    #: With a key in less than so many bytes of its first group, what a chunk sent is kept by leaf, as it was sent;
    #: else by group, as it was combined: so much less, that mapping a group again costs less than keeping its values.
    bytes_of_a_key: ClassVar[int]

    @abstractmethod
    def records(self, low: int, high: int) -> Sequence[Any]:
        """The records between two ends of leaves."""

    @abstractmethod
    def decoded(self) -> list[Piece]:
        """All leaves, when all of them will be asked for their records; all content is at hand."""

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
        return Piece(partial(self.records, self._begin(leaf), int(self.ends[leaf])))

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
        return Piece(partial(self.records, self._begin(first), int(self.ends[self.groups[group] - 1])))

    @cached_property
    def group_of_leaf(self) -> Ints:
        """The number of each leaf's group."""
        return np.repeat(np.arange(len(self.groups)), np.diff(self.groups, prepend=0))

    def few_keys(self, keys: int) -> bool:
        """Whether the chunk is kept by group, whose first one has so many keys; a short one may have more."""
        return keys <= max(int(self.ends[self.groups[0] - 1]), self.group) // self.bytes_of_a_key

    def _begin(self, leaf: int) -> int:
        return int(self.ends[leaf - 1]) if leaf else 0


class Cutting(Protocol):
    """A chunk that is to be cut."""

    def cut(self) -> Leaves | None:
        """Its leaves; None where it is too small for any. All of it is read."""
        ...

    def recut(self, pieces: RecutPieces, old: LeafIds) -> Leaves | None:
        """The same, given the leaves of a chunk that these pieces refer to; None where that is no help.

        Only what is new is read.
        """
        ...

    def stretches(self) -> bytes:
        """Its stretches as rows, if its leaves were cut by them."""
        ...


@lru_cache(maxsize=16)
def cutter(size: int) -> Callable[[Any], Any]:
    """What cuts bytes into pieces of about `size`. By FastCDC: Rabin would cost a tenth of mapping."""
    from pyfastcdc import FastCDC

    fastcdc = FastCDC(max(size, 256), min_size=max(64, size // 4), max_size=max(1024, min(size * 8, 16 << 20)))
    cuts: Callable[[Any], Any] = fastcdc.cut_buf
    return cuts


def ids_between(content: bytes, ends: Sequence[int]) -> list[bytes]:
    """The ids of pieces that end there."""
    digest = content_id
    with memoryview(content) as view:
        return [digest(view[low:high]) for low, high in pairwise([0, *ends])]


def leaf_ids(content: bytes, ends: Sequence[int]) -> LeafIds:
    """The leaves that end there."""
    lengths = [high - low for low, high in pairwise([0, *ends])]
    return LeafIds.of(ids_between(content, ends), lengths)


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
