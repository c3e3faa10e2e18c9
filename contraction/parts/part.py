"""One stored part, its blocks read when they are asked for.

Contract: what is read is verified. A part with an overlay reads as if its blocks had been written anew; how many there
are, and what each of them holds, follows from the part's pairs alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from incoop.base.checksums import block_hash, verify_block
from incoop.contraction.columns.by_hash import rows_with
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import EMPTY, Run, join
from incoop.contraction.columns.shards import block_numbers, shard_of
from incoop.contraction.parts.blocks import read_block, read_overlay
from incoop.contraction.parts.overlay import Overlay, joined
from incoop.contraction.parts.packs import BlockLost, Reader
from incoop.contraction.parts.rows import BLOCK_ROW, OWN_PACK, PART_HEAD, Rows


@dataclass(slots=True)
class Part:
    """One shard of a stored run."""

    bits: int
    keys: int
    sums: int
    packs: list[bytes]
    rows: Rows
    #: Blocks of the overlay, cut as those of the part are; none where there is no overlay.
    over: Rows
    #: How many hashes the overlay decides about.
    overlaid: int
    shard_bits: int
    reader: Reader
    bare: bool = False
    _near: dict[int, Run] = field(default_factory=dict)
    _overlays: dict[int, Overlay] = field(default_factory=dict)

    @classmethod
    def of_shard(cls, row: Any, shard: int, shards: int, reader: Reader, wholes: dict[bytes, Part]) -> Part:
        """The part that a SHARD_ROW points to. Of a small run, which is read once, it is a slice.

        `wholes` are small runs that were read already, by their digests.
        """
        if not row["small"]:
            return cls.load(row, shards.bit_length() - 1, reader)
        digest = bytes(row["digest"])
        if digest not in wholes:
            wholes[digest] = cls.load(row, 0, reader)
            wholes[digest]._near[0] = wholes[digest].whole()
        whole = wholes[digest]
        pairs = shard_of(whole._near[0], shard, shards)
        return replace(whole, keys=len(pairs), shard_bits=shards.bit_length() - 1, _near={0: pairs})

    @classmethod
    def load(cls, row: Any, shard_bits: int, reader: Reader) -> Part:
        """Read and verify the header that a SHARD_ROW points to."""
        pack, length = bytes(row["pack"]), int(row["length"])
        data = reader.read(pack, int(row["offset"]), length)
        if not verify_block(data, bytes(row["digest"])):
            raise BlockLost(pack, "a part header does not match its hash")
        bits, keys, count, overlay_blocks, overlaid = PART_HEAD.unpack_from(data)
        at = PART_HEAD.size
        ids = [data[at + 16 * i : at + 16 * (i + 1)] for i in range(count)]
        packs = [pack if each == OWN_PACK else each for each in ids]
        rows = np.frombuffer(data, BLOCK_ROW, (1 << bits) + overlay_blocks, at + 16 * count)
        blocks, over = rows[: 1 << bits], rows[1 << bits :]
        return cls(
            bits, keys, int(row["sums"]), packs, blocks, over, overlaid, shard_bits, reader, bare=bool(row["bare"])
        )

    def blocks(self, numbers: Sequence[int]) -> Run:
        """Several blocks, in ascending order, as one run."""
        if not len(self.over):
            return self._paired(self.written(numbers))
        overlay = self.overlay(np.unique(np.asarray(numbers) >> self._coarser).tolist())
        if len(numbers) == 1 << self.bits:
            return self._paired(overlay.over(self.written(numbers)))
        changes = joined(overlay.cut(self.shard_bits, self.bits, numbers))
        return self._paired(changes.over(self.written(numbers)))

    def whole(self) -> Run:
        """Every block."""
        return self.blocks(range(1 << self.bits))

    def select(self, hashes: Hashes) -> Run:
        """The pairs with these sorted hashes. Blocks that could hold one are read, and kept: they may be rewritten."""
        numbers, lows, highs = self.touched(hashes, self.bits)
        self._near |= {number: self._block(number) for number in numbers if number not in self._near}
        found = []
        for number, low, high in zip(numbers, lows, highs, strict=True):
            block = self._near[number]
            found.append(block.take(rows_with(block, hashes[low:high])))
        pairs = join(found)
        if len(self.over) and len(hashes):
            overlay = self.overlay(np.unique(np.array(numbers) >> self._coarser).tolist())
            pairs = overlay.selected(pairs, hashes)
        return self._paired(pairs)

    def touched(self, hashes: Hashes, bits: int) -> tuple[list[int], list[int], list[int]]:
        """Of 2**bits blocks, those that sorted hashes fall in; and for each, where its hashes begin and end."""
        places = block_numbers(hashes, self.shard_bits, bits)
        begins = np.flatnonzero(places[1:] != places[:-1]) + 1
        lows = [0, *begins.tolist()] if len(places) else []
        return places[lows].tolist(), lows, [*lows[1:], len(places)] if lows else []

    def content(self) -> bytes:
        """The hash that the part has, or would have if its blocks were written anew."""
        hashes = np.ascontiguousarray(self.rows["hash"]).tobytes()
        if len(self.over):
            hashes = b"".join(block_hash(self.blocks([number]).to_bytes()) for number in range(1 << self.bits))
        return block_hash(hashes)

    def written(self, numbers: Iterable[int]) -> Run:
        """Blocks as they were written, without the overlay."""
        return join([self._near[number] if number in self._near else self._block(number) for number in numbers])

    def overlay(self, numbers: Iterable[int] | None = None) -> Overlay:
        """The overlay, or some of its blocks, in ascending order."""
        numbers = range(len(self.over)) if numbers is None else numbers
        return joined([self._overlay_block(number) for number in numbers])

    @property
    def over_bits(self) -> int:
        """An overlay has 2**over_bits blocks."""
        return len(self.over).bit_length() - 1

    @property
    def _coarser(self) -> int:
        """An overlay's block stands beside 2**_coarser blocks."""
        return self.bits - self.over_bits

    def _block(self, number: int) -> Run:
        _, pack, offset, length = self.rows[number].item()
        if not length:
            return EMPTY
        stored = self.reader.read(self.packs[pack], offset, length)
        return read_block(stored, bytes(self.rows["hash"][number]), self.packs[pack])

    def _overlay_block(self, number: int) -> Overlay:
        if number not in self._overlays:
            digest, pack, offset, length = self.over[number].item()
            stored = self.reader.read(self.packs[pack], offset, length)
            self._overlays[number] = read_overlay(stored, digest, self.packs[pack])
        return self._overlays[number]

    def _paired(self, run: Run) -> Run:
        return run.paired() if self.bare else run


def differing_pairs(old: Part, new: Part) -> tuple[Run, Run]:
    """The pairs of two parts, without the blocks that both have in common, or what their overlays have."""
    if old.bits != new.bits:
        return old.whole(), new.whole()
    numbers = np.flatnonzero(old.rows["hash"] != new.rows["hash"]).tolist()
    if not len(old.over) and not len(new.over):
        return old.blocks(numbers), new.blocks(numbers)
    if numbers:
        return old.whole(), new.whole()
    changed = np.union1d(old.overlay().changed, new.overlay().changed)
    return old.select(changed), new.select(changed)
