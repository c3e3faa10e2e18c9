"""One stored part, its blocks read when they are asked for.

Contract: what is read is verified. A part with an overlay reads as if its blocks had been written anew; how many there
are, and what each of them holds, follows from the part's pairs alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.base.checksums import block_hash, verify_block
from incoop.contraction.columns.by_hash import rows_with
from incoop.contraction.columns.column import are_alike
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import EMPTY, Run, join
from incoop.contraction.columns.shards import block_numbers, shard_of
from incoop.contraction.columns.sorted_sets import distinct_numbers, member, union
from incoop.contraction.parts.at_hand import at_hand, stamp_of
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
    #: Whether it is a chunk's whole run, which has blocks of its own number.
    whole_run: bool = False
    _near: dict[int, Run] = field(default_factory=dict)
    #: All blocks as they were written, where they were read together.
    _all: Run | None = None
    _overlays: dict[int, Overlay] = field(default_factory=dict)

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
            *(bits, keys, int(row["sums"]), packs, blocks, over, overlaid, shard_bits, reader),
            bare=bool(row["bare"]),
            whole_run=bool(row["whole"]),
        )

    def blocks(self, numbers: Sequence[int]) -> Run:
        """Several blocks, in ascending order, as one run."""
        if not len(self.over):
            return self._paired(self.written(numbers))
        overlay = self.overlay(distinct_numbers(np.asarray(numbers) >> self._coarser).tolist())
        if len(numbers) == 1 << self.bits:
            return self._paired(overlay.over(self.written(numbers)))
        changes = joined(overlay.cut(self.shard_bits, self.bits, numbers))
        return self._paired(changes.over(self.written(numbers)))

    def whole(self) -> Run:
        """Every block."""
        return self.blocks(range(1 << self.bits))

    def select(self, hashes: Hashes) -> Run:
        """The pairs with these sorted hashes. Blocks that could hold one are read, and kept: they may be rewritten."""
        if self._all is None:
            self.keep(self.touched(hashes, self.bits)[0])
        return self.look_up(hashes)

    def look_up(self, hashes: Hashes) -> Run:
        """The same, but no block is kept."""
        numbers, lows, highs = self.touched(hashes, self.bits)
        blocks = [self._all] if self._all is not None else self._read(numbers)
        if are_alike([block.keys for block in blocks]) and are_alike([block.values for block in blocks]):
            stored = join(blocks)  # which costs less than taking rows of each
            pairs = stored.take(rows_with(stored, hashes))
        else:
            each = zip(blocks, lows, highs, strict=True)
            pairs = join([block.take(rows_with(block, hashes[low:high])) for block, low, high in each])
        if len(self.over) and len(hashes):
            overlay = self.overlay(distinct_numbers(np.array(numbers) >> self._coarser).tolist())
            pairs = overlay.selected(pairs, hashes)
        return self._paired(pairs)

    def keep(self, numbers: Iterable[int]) -> None:
        """Read blocks, and keep them."""
        numbers = list(numbers)
        self._near |= zip(numbers, self._read(numbers), strict=True)

    def keep_all(self) -> Run:
        """Read all blocks as they were written, and keep them."""
        if self._all is None:
            self._all = join(self._read(range(1 << self.bits)))
        return self._all

    def has_kept(self, numbers: Iterable[int]) -> bool:
        """Whether all of these blocks are kept."""
        return all(number in self._near for number in numbers)

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
        numbers = list(numbers)
        if self._all is not None and len(numbers) == 1 << self.bits:
            return self._all
        return join(self._read(numbers))

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

    def _read(self, numbers: Iterable[int]) -> list[Run]:
        """Blocks in ascending order, those that are not kept in as few readings as they lie together."""
        numbers = list(numbers)
        found = {number: self._near[number] for number in numbers if number in self._near}
        rows = [(number, *self.rows[number].item()) for number in numbers if number not in found]
        stamps = {pack: stamp_of(self.reader, self.packs[pack]) for pack in {pack for _, _, pack, _, _ in rows}}
        for number, digest, pack, _, length in rows:
            block = at_hand.get(digest, stamps[pack]) if length else EMPTY
            if block is not None:
                found[number] = block
        missing = [row for row in rows if row[0] not in found]
        stored = self._stored([(pack, offset, length) for _, _, pack, offset, length in missing])
        for number, digest, pack, offset, _ in missing:
            found[number] = read_block(stored[pack, offset], digest, self.packs[pack])
            at_hand.keep(digest, stamps[pack], found[number])
        return [found[number] for number in numbers]

    def _stored(self, places: list[tuple[int, int, int]]) -> dict[tuple[int, int], bytes]:
        """What stands at places of packs, by pack and offset; what stands side by side is read at once."""
        found: dict[tuple[int, int], bytes] = {}
        at = 0
        while at < len(places):
            pack, begin, length = places[at]
            end, last = begin + length, at + 1
            while last < len(places) and places[last][:2] == (pack, end):
                end += places[last][2]
                last += 1
            data = self.reader.read(self.packs[pack], begin, end - begin)
            for _, offset, size in places[at:last]:
                found[pack, offset] = data[offset - begin : offset - begin + size]
            at = last
        return found

    def _overlay_block(self, number: int) -> Overlay:
        if number not in self._overlays:
            digest, pack, offset, length = self.over[number].item()
            stored = self.reader.read(self.packs[pack], offset, length)
            self._overlays[number] = read_overlay(stored, digest, self.packs[pack])
        return self._overlays[number]

    def _paired(self, run: Run) -> Run:
        return run.paired() if self.bare else run


#: Keys of chunk runs that a task keeps at hand from one shard to the next; some 50 bytes each.
_KEYS_AT_HAND = 2_000_000


@dataclass(slots=True)
class Room:
    """How many keys of blocks may still be kept."""

    keys: int = _KEYS_AT_HAND

    def takes(self, run: Part, numbers: range) -> bool:
        """Whether there is room for these blocks of a chunk's run, which is then taken; not where none is shared."""
        keys = run.keys * len(numbers) >> run.bits
        if run.has_kept(numbers) or keys > self.keys:
            return False
        self.keys -= keys
        return True


class ChunkRuns(dict[bytes, "Part"]):
    """Runs of chunks that were read already, by their digests, and room for their blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.room = Room()


@dataclass(frozen=True, slots=True)
class ShardOfRun:
    """One shard of a chunk's run, which is stored as one part."""

    run: Part
    shard: int
    shards: int
    room: Room

    @property
    def keys(self) -> int:
        """About so many: only counting them would tell."""
        return -(-self.run.keys // self.shards)

    def whole(self) -> Run:
        if self.room.takes(self.run, self.numbers):
            self.run.keep(self.numbers)  # the next shard is in the same block
        return shard_of(self.run.blocks(self.numbers), self.shard, self.shards)

    def select(self, hashes: Hashes) -> Run:
        """The pairs with these sorted hashes, which are all of this shard."""
        return self.run.select(hashes)

    def content(self) -> bytes:
        """A hash of what it holds."""
        return block_hash(self.whole().to_bytes())

    @property
    def numbers(self) -> range:
        """The blocks that hold the shard, and perhaps others."""
        count = 1 << self.run.bits
        return range(self.shard * count // self.shards, -(-(self.shard + 1) * count // self.shards))


#: A shard of a run: stored by itself, or with the others.
Shard = Part | ShardOfRun


def shard_part(row: Any, shard: int, shards: int, reader: Reader, runs: ChunkRuns) -> Shard:
    """The shard that a SHARD_ROW points to; `runs` are the chunk runs that were read already."""
    if not row["whole"]:
        return Part.load(row, shards.bit_length() - 1, reader)
    run = chunk_part(row, reader, runs)
    if not run.bits:  # in which all shards are
        run.keep([0])
    return ShardOfRun(run, shard, shards, runs.room)


def chunk_part(row: Any, reader: Reader, runs: ChunkRuns) -> Part:
    """The part of a chunk's whole run; `runs` are those that were read already."""
    digest = bytes(row["digest"])
    if digest not in runs:
        runs[digest] = Part.load(row, 0, reader)
    return runs[digest]


def differing_pairs(old: Shard, new: Shard) -> tuple[Run, Run]:
    """The pairs of two shards, without the blocks that both have in common, or what their overlays have."""
    if isinstance(old, ShardOfRun) and isinstance(new, ShardOfRun) and old.run.bits == new.run.bits:
        before, after = _differing(old.run, new.run, np.array(old.numbers))
        return shard_of(before, old.shard, old.shards), shard_of(after, new.shard, new.shards)
    if isinstance(old, Part) and isinstance(new, Part) and old.bits == new.bits:
        return _differing(old, new, np.arange(1 << old.bits))
    return old.whole(), new.whole()


def _differing(old: Part, new: Part, within: npt.NDArray[np.int64]) -> tuple[Run, Run]:
    """Of two parts with the same number of blocks, within some of these."""
    numbers = within[old.rows["hash"][within] != new.rows["hash"][within]].tolist()
    if not len(old.over) and not len(new.over):
        return old.blocks(numbers), new.blocks(numbers)
    if numbers:
        return old.blocks(within.tolist()), new.blocks(within.tolist())
    changed = union([old.overlay().changed, new.overlay().changed])
    changed = changed[member(block_numbers(changed, old.shard_bits, old.bits), within)]
    return old.select(changed), new.select(changed)
