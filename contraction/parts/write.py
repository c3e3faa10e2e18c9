"""Write a part, as immutable blocks named by their content, in a pack: a shard of a node, or a chunk's whole run.

Contract: the content hash of a part without an overlay follows from its pairs alone, never from where its blocks lie. A
part is cut into a power of two of blocks, by its own size: growing needs no agreement, and rewrites one part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from incoop.base.checksums import block_hash
from incoop.contraction.columns.column import INTEGER
from incoop.contraction.columns.keys import tells_apart
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.shards import block_numbers
from incoop.contraction.parts.blocks import write_block
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.rows import BLOCK_ROW, COUNTS, INTEGERS, OTHER, OWN_PACK, PART_HEAD, Rows

#: Keys of a block, at least, in a part of several: a changed key rewrites a block, a millisecond, so not too many;
#: reading a block costs a quarter of a millisecond whatever is in it, so not too few.
KEYS_PER_BLOCK = 4096

#: A chunk's run with fewer keys has few, and is one block.
SMALL_RUN = 1024

#: With more it has 2**4 blocks at least: as many as a job has shards unless told otherwise, so that a task that
#: contracts a shard reads that shard, and on a cluster keeps no other beside it.
CHUNK_BITS = 4


def bits_for(keys: int, whole: bool = False) -> int:
    """A part of so many keys is cut into 2**bits blocks; `whole` for one that is a chunk's whole run."""
    bits = max(0, (keys // KEYS_PER_BLOCK).bit_length() - 1)
    return max(bits, CHUNK_BITS) if whole and keys >= SMALL_RUN else bits


def write_part(part: Run, shard_bits: int, pack: PackBuilder, whole: bool = False) -> tuple[Any, ...]:
    """Add a part's blocks and header to a pack; return its SHARD_ROW, in that pack."""
    bits = bits_for(len(part), whole)
    numbers = block_numbers(part.hashes, shard_bits, bits)
    bounds = np.searchsorted(numbers, np.arange((1 << bits) + 1)).tolist()
    blocks = (part.slice(low, high) for low, high in pairwise(bounds))
    return write_blocks(blocks, bits, len(part), kind_of_sums(part), pack, whole)


def write_blocks(
    blocks: Iterable[Run], bits: int, keys: int, sums: int, pack: PackBuilder, whole: bool = False
) -> tuple[Any, ...]:
    """The same for the 2**bits blocks of a part with so many keys, one after the other."""
    rows = np.zeros(1 << bits, BLOCK_ROW)
    for number, block in enumerate(blocks):
        rows[number] = write_block(block, 0, pack)
    return write_part_header(bits, keys, [OWN_PACK], rows, pack, sums, whole=whole)


def kind_of_sums(run: Run) -> int:
    """Whether sums of a run's values can be updated by addition.

    Not where keys may be equal and yet look different (1, 1.0 and True): which one stands in a node then depends on all
    its children.
    """
    if not len(run):
        return COUNTS
    if run.firsts is not None or run.values.kind != INTEGER or run.values.numbers is None or not tells_apart(run.keys):
        return OTHER
    return COUNTS if run.values.numbers.min() > 0 else INTEGERS


def write_part_header(
    bits: int,
    keys: int,
    packs: Sequence[bytes],
    rows: Rows,
    pack: PackBuilder,
    sums: int,
    overlay_blocks: int = 0,
    overlaid: int = 0,
    whole: bool = False,
) -> tuple[Any, ...]:
    """Add a part header to a pack; return its SHARD_ROW. The overlay's rows stand behind those of the blocks."""
    head = PART_HEAD.pack(bits, keys, len(packs), overlay_blocks, overlaid)
    data = b"".join([head, *packs, rows.tobytes()])
    content = block_hash(np.ascontiguousarray(rows["hash"]).tobytes())
    return content, block_hash(data), OWN_PACK, pack.add(data), len(data), keys, sums, False, whole
