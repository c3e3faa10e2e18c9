"""Parts: one shard of a run, as immutable blocks named by their content, in packs.

    run header    one row a shard: where the shard's part header is, and the hash of its content
    part header   the packs it refers to; one row a block: hash, pack, offset, length
    block         a slice of a run (`Run.to_bytes`), compressed (contraction/blocks.py)

Contract: each is verified by a hash that the one above holds, and the topmost by a signed memo entry. The content
hash of a part follows from its pairs alone, never from where its blocks lie. A part is cut into a power of two of
blocks, by its own size: growing needs no agreement, and rewrites one part.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from contraction.blocks import compressed, decompressed
from contraction.columns import INTEGER, NONE, RAW, TEXT, Column, concat
from contraction.keys import Hashes
from contraction.run import EMPTY, Run, merge
from contraction.update import rows_with
from incoop.errors import IncoopError
from incoop.memo.checksum import block_hash, verify_block

#: Keys of a block, roughly: a changed key rewrites a block, so small; a block costs 40 bytes and some microseconds,
#: so not too small.
KEYS_PER_BLOCK = 2048

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
    ]
)

#: Values that are no single integers, or keys that are no plain ones; one integer for each plain key; one above zero,
#: so that a sum of zero means that there is no value.
OTHER, INTEGERS, COUNTS = range(3)

_PART_HEAD = struct.Struct("<BII")  # bits, keys, packs referred to

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


def read_block(stored: bytes, digest: bytes, pack: bytes) -> Run:
    """Read back and verify a block that lies in `pack`."""
    data = decompressed(stored)
    if data is None or not verify_block(data, digest):
        raise BlockLost(pack, "a block does not match its hash")
    return Run.from_bytes(data)


class Reader(Protocol):
    """Reads ranges of packs. Raises BlockLost."""

    def read(self, pack: bytes, offset: int, length: int) -> bytes: ...


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


def block_numbers(hashes: Hashes, shard_bits: int, bits: int) -> npt.NDArray[np.int64]:
    """The block of its part that each hash belongs to."""
    if bits == 0:
        return np.zeros(len(hashes), np.int64)
    return ((hashes << np.uint64(shard_bits)) >> np.uint64(64 - bits)).astype(np.int64)


def write_part(part: Run, shard_bits: int, pack: PackBuilder) -> tuple[Any, ...]:
    """Add a part's blocks and header to a pack; return its SHARD_ROW, in that pack."""
    bits = bits_for(len(part))
    rows = np.zeros(1 << bits, BLOCK_ROW)
    numbers = block_numbers(part.hashes, shard_bits, bits)
    bounds = np.searchsorted(numbers, np.arange((1 << bits) + 1)).tolist()
    for number in range(1 << bits):
        rows[number] = _write_block(part.slice(bounds[number], bounds[number + 1]), 0, pack)
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


def _write_block(block: Run, own: int, pack: PackBuilder) -> tuple[bytes, int, int, int]:
    data = block.to_bytes()
    stored = compressed(data, block.random_bytes)
    return block_hash(data), own, pack.add(stored), len(stored)


def write_part_header(
    bits: int, keys: int, packs: Sequence[bytes], rows: Rows, pack: PackBuilder, sums: int
) -> tuple[Any, ...]:
    """Add a part header to a pack; return its SHARD_ROW."""
    data = b"".join([_PART_HEAD.pack(bits, keys, len(packs)), *packs, rows.tobytes()])
    content = block_hash(np.ascontiguousarray(rows["hash"]).tobytes())
    return content, block_hash(data), OWN_PACK, pack.add(data), len(data), keys, sums, False


@dataclass(slots=True)
class Part:
    """One shard of a stored run, its blocks read when asked for."""

    bits: int
    keys: int
    sums: int
    packs: list[bytes]
    rows: Rows
    shard_bits: int
    reader: Reader
    bare: bool = False
    _near: dict[int, Run] = field(default_factory=dict)

    @classmethod
    def load(cls, row: Any, shard_bits: int, reader: Reader) -> Part:
        """Read and verify the header that a SHARD_ROW points to."""
        pack, length = bytes(row["pack"]), int(row["length"])
        data = reader.read(pack, int(row["offset"]), length)
        if not verify_block(data, bytes(row["digest"])):
            raise BlockLost(pack, "a part header does not match its hash")
        bits, keys, count = _PART_HEAD.unpack_from(data)
        at = _PART_HEAD.size
        ids = [data[at + 16 * i : at + 16 * (i + 1)] for i in range(count)]
        packs = [pack if each == OWN_PACK else each for each in ids]
        rows = np.frombuffer(data, BLOCK_ROW, 1 << bits, at + 16 * count)
        return cls(bits, keys, int(row["sums"]), packs, rows, shard_bits, reader, bool(row["bare"]))

    def block(self, number: int) -> Run:
        """Read and verify one block."""
        _, pack, offset, length = self.rows[number].item()
        if not length:
            return EMPTY
        stored = self.reader.read(self.packs[pack], offset, length)
        run = read_block(stored, bytes(self.rows["hash"][number]), self.packs[pack])
        return run.paired() if self.bare else run

    def blocks(self, numbers: Sequence[int]) -> Run:
        """Several blocks, in ascending order, as one run."""
        return join([self._near[number] if number in self._near else self.block(number) for number in numbers])

    def whole(self) -> Run:
        """Every block."""
        return self.blocks(range(1 << self.bits))

    def select(self, hashes: Hashes) -> Run:
        """The pairs with these sorted hashes. Blocks that could hold one are read, and kept: they may be rewritten."""
        numbers, lows, highs = self.touched(hashes)
        self._near |= {number: self.block(number) for number in numbers if number not in self._near}
        found = []
        for number, low, high in zip(numbers, lows, highs, strict=True):
            block = self._near[number]
            found.append(block.take(rows_with(block, hashes[low:high])))
        return join(found)

    def touched(self, hashes: Hashes) -> tuple[list[int], list[int], list[int]]:
        """The blocks that sorted hashes fall in; and for each, where its hashes begin and end."""
        places = block_numbers(hashes, self.shard_bits, self.bits)
        begins = np.flatnonzero(places[1:] != places[:-1]) + 1
        lows = [0, *begins.tolist()] if len(places) else []
        return places[lows].tolist(), lows, [*lows[1:], len(places)] if lows else []


def join(runs: Sequence[Run]) -> Run:
    """Runs whose hashes ascend from one to the next, as one run."""
    runs = [run for run in runs if len(run)]
    if len(runs) < 2:
        return runs[0] if runs else EMPTY
    hashes = np.concatenate([run.hashes for run in runs])
    if any(run.firsts is not None for run in runs):
        return merge(runs)[0]
    return Run(hashes, concat([run.keys for run in runs]), concat([run.values for run in runs]))


def differing_blocks(old: Part, new: Part) -> tuple[Run, Run]:
    """The pairs of two parts, without the blocks that both have in common."""
    if old.bits != new.bits:
        return old.whole(), new.whole()
    numbers = np.flatnonzero(old.rows["hash"] != new.rows["hash"]).tolist()
    return old.blocks(numbers), new.blocks(numbers)


def rewrite_part(old: Part, changed: Hashes, fresh: Run, pack: PackBuilder) -> tuple[tuple[Any, ...], list[bytes]]:
    """A part in which the pairs of the sorted `changed` hashes are those of `fresh`; other blocks stay where they are.

    Returns its SHARD_ROW, and the older packs that it refers to.

    (1) Only blocks that a changed hash falls in are read and written, one by one: a block fits in a processor's cache.
    (2) A part that thereby gets too many or too few blocks for its size is written anew.
    """
    from contraction.splice import replaced_keys

    numbers, lows, highs = old.touched(changed)
    places = block_numbers(fresh.hashes, old.shard_bits, old.bits)
    begins, ends = (np.searchsorted(places, numbers, side=side).tolist() for side in ("left", "right"))
    keys = old.keys
    blocks: list[Run] = []
    for number, low, high, begin, end in zip(numbers, lows, highs, begins, ends, strict=True):  # step (1)
        before = old.blocks([number])
        blocks.append(replaced_keys(before, changed[low:high], fresh.slice(begin, end)))
        keys += len(blocks[-1]) - len(before)
    if bits_for(keys) != old.bits:  # step (2)
        return write_part(replaced_keys(old.whole(), changed, fresh), old.shard_bits, pack), []
    rows = old.rows.copy()
    for number, block in zip(numbers, blocks, strict=True):
        rows[number] = _write_block(block, len(old.packs), pack)
    packs, rows["pack"] = _used_packs([*old.packs, OWN_PACK], rows)
    row = write_part_header(old.bits, keys, packs, rows, pack, min(old.sums, kind_of_sums(fresh)))
    return row, [each for each in packs if each != OWN_PACK]


def _used_packs(packs: list[bytes], rows: Rows) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """The packs that rows still refer to, and the rows' places among them."""
    used, places = np.unique(rows["pack"], return_inverse=True)
    return [packs[number] for number in used.tolist()], places


def write_run(run: Run, shards: int, pack: PackBuilder) -> Rows:
    """Add all parts of a run to a pack; return its rows."""
    bounds = shard_bounds(run, shards)
    shard_bits = shards.bit_length() - 1
    return np.array(
        [write_part(run.slice(bounds[s], bounds[s + 1]), shard_bits, pack) for s in range(shards)], SHARD_ROW
    )
