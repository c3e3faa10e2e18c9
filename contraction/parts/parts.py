"""Parts: one shard of a run, as immutable blocks named by their content, in packs.

    run header    one row a shard: where the shard's part header is, and the hash of its content
    part header   the packs it refers to; one row a block: hash, pack, offset, length; the same for an overlay's blocks
    block         a slice of a run (`Run.to_bytes`) or of an overlay, compressed (contraction/parts/blocks.py)

Contract: each is verified by a hash that the one above holds, and the topmost by a signed memo entry. The content
hash of a part without an overlay follows from its pairs alone, never from where its blocks lie. A part is cut into a
power of two of blocks, by its own size: growing needs no agreement, and rewrites one part.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incoop.base.checksums import block_hash
from incoop.base.errors import IncoopError
from incoop.contraction.columns.columns import INTEGER, NONE, RAW, TEXT, Column
from incoop.contraction.columns.keys import block_numbers
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.blocks import compressed

if TYPE_CHECKING:
    from incoop.contraction.parts.overlay import Overlay

#: Keys of a block, at least, in a part of several: a changed key rewrites a block, a millisecond, so not too many;
#: reading a block costs a quarter of a millisecond whatever is in it, so not too few.
KEYS_PER_BLOCK = 4096

#: A chunk's run with fewer keys is one part for all shards: a part costs some hundred microseconds, however small.
SMALL_RUN = 1024

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
        ("small", "u1"),  # of a chunk's run: whether the part holds all shards, of which this is one
    ]
)

#: Values that are no single integers, or keys that are no plain ones; one integer for each plain key; one above zero,
#: so that a sum of zero means that there is no value.
OTHER, INTEGERS, COUNTS = range(3)

#: Bits, keys, packs referred to, blocks of the overlay, hashes that it decides about.
PART_HEAD = struct.Struct("<BIIII")

Rows = npt.NDArray[Any]


class BlockLost(IncoopError):
    """A stored block or header is missing or is not what it was; its task has to run again."""

    def __init__(self, pack: bytes, why: str, also: tuple[bytes, ...] = ()) -> None:
        super().__init__(pack, why, also)
        self.pack, self.why = pack, why
        #: Other packs that were found lost on the way.
        self.also = also

    @classmethod
    def of_all(cls, losses: Sequence[BlockLost]) -> BlockLost:
        """Several losses as one, so that all are mended at once."""
        first = losses[0]
        return cls(first.pack, first.why, tuple({pack for each in losses for pack in (each.pack, *each.also)}))

    def __str__(self) -> str:
        return f"pack {self.pack.hex()}: {self.why}"


class PackBuilder:
    """Collects the bytes of one pack."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self._at: dict[int, int] = {}

    def add(self, data: bytes) -> int:
        """Append; return the offset."""
        offset = self.size
        if data:
            self._at[offset] = len(self.parts)
            self.parts.append(data)
            self.size += len(data)
        return offset

    def add_region(self, data: bytes) -> tuple[bytes, int, int]:
        """Append; return the hash that verifies it, the offset and the length."""
        return block_hash(data), self.add(data), len(data)

    def read(self, offset: int, length: int) -> bytes:
        """What was added at `offset`."""
        data = self.parts[self._at[offset]]
        assert len(data) == length
        return data


def shard_bounds(run: Run, shards: int) -> list[int]:
    """Where each shard begins in a run, and the run's end. Shards are equal ranges of the hash's leading bits."""
    starts = (
        (np.arange(shards, dtype=np.uint64)) * np.uint64((1 << 64) // shards) if shards > 1 else np.zeros(1, np.uint64)
    )
    return [*np.searchsorted(run.hashes, starts).tolist(), len(run)]


def shard_of(run: Run, shard: int, shards: int) -> Run:
    """The slice of a run that is one shard."""
    bounds = shard_bounds(run, shards)
    return run.slice(bounds[shard], bounds[shard + 1])


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


def tells_apart(keys: Column) -> bool:
    """Whether keys that are equal have equal bytes."""
    return keys.kind in (TEXT, RAW, INTEGER, NONE) or (
        keys.children is not None and all(map(tells_apart, keys.children))
    )


def write_block(block: Run | Overlay, own: int, pack: PackBuilder) -> tuple[bytes, int, int, int]:
    """Add a block to a pack, which is number `own` of those that its part refers to; return its BLOCK_ROW."""
    data = block.to_bytes()
    stored = compressed(data, block.random_bytes)
    return block_hash(data), own, pack.add(stored), len(stored)


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
