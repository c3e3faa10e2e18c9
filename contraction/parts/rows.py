"""The rows that headers are made of, and what their fields mean.

    run header    one SHARD_ROW a shard: where the shard's part header is, and the hash of its content
    part header   the packs it refers to; one BLOCK_ROW a block: hash, pack, offset, length; the same for an overlay's
    block         a slice of a run (`Run.to_bytes`) or of an overlay, compressed (blocks.py)

Contract: each is verified by a hash that the one above holds, and the topmost by a signed memo entry.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

#: "The pack that this header itself is in": a pack's name is known only when it is written.
OWN_PACK = bytes(16)

BLOCK_ROW = np.dtype([("hash", "V16"), ("pack", "<u4"), ("offset", "<u8"), ("length", "<u4")])
SHARD_ROW = np.dtype(
    [
        ("content", "V16"),  # hash of the block hashes: what the shard holds
        ("digest", "V16"),  # hash of the part header's bytes: what to verify before reading it
        ("pack", "V16"),
        ("offset", "<u8"),
        ("length", "<u4"),
        ("keys", "<u4"),
        ("sums", "u1"),  # what is known of its values: OTHER, INTEGERS or COUNTS
        ("bare", "u1"),  # of an output: whether it is the root as it is, each key with its value for a pair
        ("whole", "u1"),  # of a chunk's run: the part holds all shards, of which this is one
    ]
)

#: Values that are no single integers, or keys that are no plain ones; one integer for each plain key; one above zero,
#: so that a sum of zero means that there is no value.
OTHER, INTEGERS, COUNTS = range(3)

#: Bits, keys, packs referred to, blocks of the overlay, hashes that it decides about.
PART_HEAD = struct.Struct("<BIIII")

Rows = npt.NDArray[Any]

#: Where a run's header is.
REF_ROW = np.dtype([("pack", "V16"), ("digest", "V16"), ("offset", "<u8"), ("length", "<u4"), ("few", "?")])


def as_row(values: tuple[Any, ...]) -> Any:
    """One SHARD_ROW."""
    return np.array([values], SHARD_ROW)[0]


def with_own_pack(rows: Rows, pack: bytes) -> Rows:
    """SHARD_ROWs that say by name which pack their parts lie in, once it is written."""
    placed = rows.copy()
    placed["pack"][placed["pack"] == np.void(OWN_PACK)] = np.void(pack)
    return placed
