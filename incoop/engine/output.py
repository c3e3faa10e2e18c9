"""A run's output as parts that are read one by one: shards of reduced pairs, or chunks of mapped ones.

Contract: the same data gives the same parts in the same order; a part has a content hash that tells whether it
changed. A part's blocks are the chunks of the next stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import xxhash

from incoop.base.checksums import block_hash, verify_block
from incoop.contraction.columns.by_hash import changed_hashes, rows_with
from incoop.contraction.columns.column import Column
from incoop.contraction.columns.column_bytes import read_column
from incoop.contraction.columns.normal import name_of
from incoop.contraction.columns.run import EMPTY, Run
from incoop.contraction.parts.blocks import read_block, read_overlay
from incoop.contraction.parts.headers import RunHeader, RunRef
from incoop.contraction.parts.in_order import InOrder, unshared
from incoop.contraction.parts.packs import BlockLost
from incoop.contraction.parts.part import Part, differing_pairs
from incoop.engine.blocks import PairBlock
from incoop.engine.running.counters import COUNTED
from incoop.engine.stored import BlobReader

Pair = tuple[Any, Any]

NO_PAIRS = Column.of([])


@dataclass(frozen=True, slots=True)
class OutputBlock(PairBlock):
    """A stored block of pairs: where it is, and what verifies it."""

    id: bytes
    pack: bytes
    offset: int
    length: int
    #: A shard's block is a run; a mapped chunk's is a column of pairs.
    is_run: bool
    #: Whether a run's values are still to be paired with their keys.
    bare: bool
    tail: int
    #: What changed in a shard's block since it was written.
    changes: BlockChanges | None = field(default=None, kw_only=True)

    @property
    def is_empty(self) -> bool:
        """Never: whether one of a part's blocks has pairs must not show in the shape of the next tree."""
        return False

    def pairs(self, reader: BlobReader) -> list[Pair]:
        return shown_pairs(self.stored_pairs(reader).to_list())

    def stored_pairs(self, reader: BlobReader) -> Column:
        """Read and verify."""
        if not self.length and self.changes is None:
            return NO_PAIRS
        data = reader.read(self.pack, self.offset, self.length) if self.length else b""
        if self.is_run:
            run = self.changes.over(data, self.pack, reader) if self.changes else read_block(data, self.id, self.pack)
            return run.paired().values if self.bare else run.values
        if not verify_block(data, self.id):
            raise BlockLost(self.pack, "an output block does not match its hash")
        return read_column(data, 0)[0]


@dataclass(frozen=True, slots=True)
class MappedBlock(OutputBlock):
    """What a map-only job keeps of a chunk."""

    #: Where it says which layers its pairs are in.
    header: RunRef

    @classmethod
    def of(cls, ref: RunRef, reader: BlobReader) -> MappedBlock:
        stored = InOrder.load(ref, reader)
        # The content itself shapes the next tree: a chunk has no neighbours that stay when it changes.
        tail = xxhash.xxh3_64_intdigest(stored.content)
        return cls(stored.content, ref.pack, ref.offset, stored.nbytes, False, False, tail, ref)

    def stored_pairs(self, reader: BlobReader) -> Column:
        return InOrder.load(self.header, reader).pairs(reader)


def shown_pairs(pairs: list[Pair]) -> list[Pair]:
    """Those among stored pairs that a user's function gave."""
    return [pair for pair in pairs if pair[0] is not COUNTED]


@dataclass(frozen=True, slots=True)
class BlockChanges:
    """The slice of an overlay that belongs to one block."""

    #: The hash of the block without it.
    block: bytes
    #: The overlay's block: hash, pack, offset, length.
    stored: tuple[bytes, bytes, int, int]
    #: Which range of its shard's hashes the block is: of 2**bits, counted from 0.
    shard_bits: int
    bits: int
    number: int

    def over(self, data: bytes, pack: bytes, reader: BlobReader) -> Run:
        """The block, read from `pack`, as it is now."""
        written = read_block(data, self.block, pack) if data else EMPTY
        digest, overlay_pack, offset, length = self.stored
        overlay = read_overlay(reader.read(overlay_pack, offset, length), digest, overlay_pack)
        (change,) = overlay.cut(self.shard_bits, self.bits, [self.number])
        return change.over(written)


class Output(Protocol):
    """What a Result reads."""

    def __len__(self) -> int: ...

    def content(self, part: int) -> bytes: ...

    def blocks(self, part: int, reader: BlobReader) -> list[OutputBlock]: ...


@dataclass(frozen=True, slots=True)
class Sharded:
    """Reduced pairs: one part a shard."""

    header: RunHeader

    def __len__(self) -> int:
        return len(self.header.rows)

    def content(self, part: int) -> bytes:
        return bytes(self.header.rows["content"][part])

    def blocks(self, part: int, reader: BlobReader) -> list[OutputBlock]:
        """None of a part without keys."""
        if not self.header.rows["keys"][part]:
            return []
        stored = self.part(part, reader)
        changes = _changes(stored)
        return [
            OutputBlock(
                *(id_ if change is None else change[0], stored.packs[pack], offset, length),
                is_run=True,
                bare=stored.bare,
                tail=_tail(part, number, len(stored.rows)),
                changes=change and change[1],
            )
            for number, ((id_, pack, offset, length), change) in enumerate(
                zip(stored.rows.tolist(), changes, strict=True)
            )
        ]

    def part(self, part: int, reader: BlobReader) -> Part:
        return Part.load(self.header.rows[part], len(self).bit_length() - 1, reader)


@dataclass(frozen=True, slots=True)
class Unreduced:
    """A map-only job's pairs, in input order: one part a chunk. Empty for an empty input."""

    refs: Sequence[RunRef] = ()
    reader: BlobReader | None = None

    def __len__(self) -> int:
        return len(self.refs)

    def content(self, part: int) -> bytes:
        assert self.reader is not None
        return InOrder.load(self.refs[part], self.reader).content

    def blocks(self, part: int, reader: BlobReader) -> list[OutputBlock]:
        return [MappedBlock.of(self.refs[part], reader)]


def _changes(part: Part) -> list[tuple[bytes, BlockChanges] | None]:
    """For each block of a part that its overlay changes, what it is known by now, and the change."""
    if not len(part.over):
        return [None] * len(part.rows)
    found: list[tuple[bytes, BlockChanges] | None] = []
    coarser = part.bits - part.over_bits
    for number, overlay in enumerate(part.overlay().cut(part.shard_bits, part.bits)):
        digest, pack, offset, length = part.over[number >> coarser].item()
        block = bytes(part.rows["hash"][number])
        change = BlockChanges(block, (digest, part.packs[pack], offset, length), part.shard_bits, part.bits, number)
        found.append((block_hash(block + overlay.to_bytes()), change) if len(overlay) else None)
    return found


def read_part(output: Output, part: int, reader: BlobReader) -> list[Pair]:
    """All pairs of one part."""
    return read_blocks(output.blocks(part, reader), reader)


def read_blocks(blocks: Sequence[OutputBlock], reader: BlobReader) -> list[Pair]:
    """The pairs of a part's blocks: a shard's by key, a mapped chunk's in input order."""
    pairs = [pair for block in blocks for pair in block.pairs(reader)]
    return ordered(pairs) if any(block.is_run for block in blocks) else pairs


#: Pairs of an old and of a new output.
Sides = tuple[list[Pair], list[Pair]]


def portions(old: Output, new: Output) -> int:
    """In how many portions `differing` compares two outputs."""
    return max(len(old), len(new)) if _comparable(old, new) else 1


def differing(old: Output, new: Output, portion: int, reader: BlobReader) -> tuple[Sides, Sides]:
    """Pairs that two outputs may not share: those under the key that gave them, and those under another.

    All pairs of a key that differs are among the first, in one portion, unless another key gave one, too. Between
    outputs of one kind only what differs is read.
    """
    if not _comparable(old, new):
        return ([], []), _unshared(old, new, reader)
    if len(old) and len(new):
        if old.content(portion) == new.content(portion):
            return ([], []), ([], [])
        before, after = differing_pairs(_part(old, portion, reader), _part(new, portion, reader))
        changed = changed_hashes(before, after)
        before, after = before.take(rows_with(before, changed)), after.take(rows_with(after, changed))
    else:
        before = _part(old, portion, reader).whole() if len(old) else EMPTY
        after = _part(new, portion, reader).whole() if len(new) else EMPTY
    (own_before, other_before), (own_after, other_after) = _by_giver(before), _by_giver(after)
    return (own_before, own_after), (other_before, other_after)


def _comparable(old: Output, new: Output) -> bool:
    """Whether two outputs can be compared part by part: the same shards, or only one of them has any."""
    sharded = [output for output in (old, new) if len(output)]
    return all(isinstance(each, Sharded) for each in sharded) and len({len(each) for each in sharded}) == 1


def _part(output: Output, part: int, reader: BlobReader) -> Part:
    assert isinstance(output, Sharded)
    return output.part(part, reader)


def _by_giver(run: Run) -> tuple[list[Pair], list[Pair]]:
    """The pairs under the key whose reducer call gave them, and the others."""
    own: list[Pair] = []
    others: list[Pair] = []
    for key, pairs in run.groups():
        name = name_of(key)
        for pair in pairs:
            if pair[0] is not COUNTED:
                (own if pair[0] is key or name_of(pair[0]) == name else others).append(pair)
    return own, others


def _unshared(old: Output, new: Output, reader: BlobReader) -> Sides:
    """Pairs of parts that only one of two outputs has; of those of map-only jobs, pairs of leaves."""
    old_parts = [old.content(part) for part in range(len(old))]
    new_parts = [new.content(part) for part in range(len(new))]
    gone, come = _not_in(old_parts, new_parts), _not_in(new_parts, old_parts)
    if isinstance(old, Unreduced) and isinstance(new, Unreduced):
        before = [InOrder.load(old.refs[part], reader) for part in gone]
        after = [InOrder.load(new.refs[part], reader) for part in come]
        return _listed(unshared(before, after, reader)), _listed(unshared(after, before, reader))
    return (
        [pair for part in gone for pair in read_part(old, part, reader)],
        [pair for part in come for pair in read_part(new, part, reader)],
    )


def _not_in(parts: Sequence[bytes], others: Sequence[bytes]) -> list[int]:
    """Numbers of the parts that the others do not have, counted."""
    spare = Counter(others)
    left: list[int] = []
    for number, content in enumerate(parts):
        if spare[content] > 0:
            spare[content] -= 1
        else:
            left.append(number)
    return left


def _listed(columns: Sequence[Column]) -> list[Pair]:
    return [pair for column in columns for pair in shown_pairs(column.to_list())]


def ordered(pairs: list[Pair]) -> list[Pair]:
    """Pairs by key; by the keys' bytes where they do not compare. Pairs of one key keep their order."""
    try:
        return sorted(pairs, key=lambda pair: pair[0])
    except Exception:  # what comparing raises is up to the keys: a Decimal that is no number, an array
        return sorted(pairs, key=lambda pair: name_of(pair[0]))


def _tail(part: int, number: int, count: int) -> int:
    """A hash of a block's place: an edit inside a block leaves the next tree's shape alone."""
    return xxhash.xxh3_64_intdigest(np.array([part, number, count], np.int64).tobytes())
