"""Write a run: its parts, one a shard, as immutable blocks named by their content, in a pack.

Contract: the content hash of a part without an overlay follows from its pairs alone, never from where its blocks lie. A
part is cut into a power of two of blocks, by its own size: growing needs no agreement, and rewrites one part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from incoop.base.checksums import block_hash
from incoop.contraction.columns.column import INTEGER
from incoop.contraction.columns.keys import tells_apart
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.shards import block_numbers, shard_bounds
from incoop.contraction.parts.blocks import write_block
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.rows import BLOCK_ROW, COUNTS, INTEGERS, OTHER, OWN_PACK, PART_HEAD, SHARD_ROW, Rows

#: Keys of a block, at least, in a part of several: a changed key rewrites a block, a millisecond, so not too many;
#: reading a block costs a quarter of a millisecond whatever is in it, so not too few.
KEYS_PER_BLOCK = 4096

#: A chunk's run with fewer keys is one part for all shards: a part costs some hundred microseconds, however small.
SMALL_RUN = 1024


def bits_for(keys: int) -> int:
    """A part of so many keys is cut into 2**bits blocks."""
    return max(0, (keys // KEYS_PER_BLOCK).bit_length() - 1)


def write_part(part: Run, shard_bits: int, pack: PackBuilder) -> tuple[Any, ...]:
    """Add a part's blocks and header to a pack; return its SHARD_ROW, in that pack."""
    bits = bits_for(len(part))
    rows = np.zeros(1 << bits, BLOCK_ROW)
    numbers = block_numbers(part.hashes, shard_bits, bits)
    bounds = np.searchsorted(numbers, np.arange((1 << bits) + 1)).tolist()
    for number in range(1 << bits):
        rows[number] = write_block(part.slice(bounds[number], bounds[number + 1]), 0, pack)
    return write_part_header(bits, len(part), [OWN_PACK], rows, pack, kind_of_sums(part))


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
) -> tuple[Any, ...]:
    """Add a part header to a pack; return its SHARD_ROW. The overlay's rows stand behind those of the blocks."""
    head = PART_HEAD.pack(bits, keys, len(packs), overlay_blocks, overlaid)
    data = b"".join([head, *packs, rows.tobytes()])
    content = block_hash(np.ascontiguousarray(rows["hash"]).tobytes())
    return content, block_hash(data), OWN_PACK, pack.add(data), len(data), keys, sums, False, False


def write_run(run: Run, shards: int, pack: PackBuilder, may_be_small: bool) -> Rows:
    """Add all parts of a run to a pack; return its rows, of which a small one has one."""
    if may_be_small and len(run) < SMALL_RUN:
        rows = np.array([write_part(run, 0, pack)], SHARD_ROW)
        rows["small"] = True
        return rows
    bounds = shard_bounds(run, shards)
    shard_bits = shards.bit_length() - 1
    return np.array(
        [write_part(run.slice(bounds[s], bounds[s + 1]), shard_bits, pack) for s in range(shards)], SHARD_ROW
    )
