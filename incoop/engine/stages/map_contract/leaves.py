"""Leaves: content-defined pieces of a chunk whose map results are kept one by one (leaf_table.py)."""

from __future__ import annotations

from incoop.contraction.tree.folds import Fold, recognise
from incoop.contraction.tree.known_combiners import BatchCombiner
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.splitter import Splitter
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
_BYTES_OF_A_KEY = 1 << 10

#: A table of combined values larger than this share of its chunk is not kept: it holds values that do not get less.
LARGEST_TABLE = 1

#: Large leaves are cut after an eighth of their average at the earliest, since the sooner they may be, the sooner old
#: cuts are met again behind new content: after half of it, a twentieth of the chunks replaced made a tenth more to map.
_EARLIEST = 8
_LARGE_LEAF = 64 << 10


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
    rule = _BYTES_OF_A_KEY if wanted is None else 0
    return f"{leaf_bytes(wanted, combiner)} {_EARLIEST} {rule} {_LEAVES_IN_A_CHUNK} {LEAF_VALUES}"


def most_keys(first: int) -> int:
    """With more keys in a first leaf of so many bytes, a chunk is not kept by leaf. A short one may have as many."""
    return max(first, COMBINED_LEAF) // _BYTES_OF_A_KEY


def leaf_splitter(size: int, chunk: int, records: RecordFormat) -> Splitter | None:
    """What cuts a chunk of so many bytes into leaves of about `size`; None when it is too small, or it is not wanted.

    FastCDC, since leaves are cut once for every chunk that is mapped and Rabin would cost a tenth of mapping.
    """
    if not size or chunk < size * _LEAVES_IN_A_CHUNK:
        return None
    earliest = size // _EARLIEST if size >= _LARGE_LEAF else 0
    return Splitter(ChunkSettings(average=size, minimum=earliest, chunker="fastcdc"), records)
