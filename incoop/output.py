"""A run's output as parts that are read one by one: shards of reduced pairs, or chunks of mapped ones.

Contract: the same data gives the same parts in the same order; a part has a content hash that tells whether it
changed. A part's blocks are the chunks of the next stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import xxhash

from contraction.encoding import encode
from contraction.keys import normal
from contraction.parts import BlockLost, Part, differing_blocks, read_block
from contraction.run import EMPTY, Run
from contraction.update import changed_hashes, rows_with
from contraction.wire import read_column
from incoop.contract_stage import COUNTED
from incoop.memo import verify_block
from incoop.runs import BlobReader, RunHeader, RunRef

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class OutputBlock:
    """A stored block of pairs: where it is, and what verifies it."""

    id: bytes
    pack: bytes
    offset: int
    length: int
    #: A shard's block is a run; a mapped chunk's is a column of pairs.
    is_run: bool
    #: Whether a run's values are still to be paired with their keys.
    bare: bool
    #: Where the block stands among its neighbours; shapes the next stage's tree.
    tail: int

    def pairs(self, reader: BlobReader) -> list[Pair]:
        """Read, verify and decode."""
        if not self.length:
            return []
        data = reader.read(self.pack, self.offset, self.length)
        if self.is_run:
            run = read_block(data, self.id, self.pack)
            values = run.paired().values if self.bare else run.values
        elif verify_block(data, self.id):
            values, _ = read_column(data, 0)
        else:
            raise BlockLost(self.pack, "an output block does not match its hash")
        return [pair for pair in values.to_list() if pair[0] is not COUNTED]


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
        stored = self.part(part, reader)
        return [
            OutputBlock(
                *(id_, stored.packs[pack], offset, length),
                is_run=True,
                bare=stored.bare,
                tail=_tail(part, number, len(stored.rows)),
            )
            for number, (id_, pack, offset, length) in enumerate(stored.rows.tolist())
        ]

    def part(self, part: int, reader: BlobReader) -> Part:
        return Part.load(self.header.rows[part], len(self).bit_length() - 1, reader)


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map-only job's pairs, in input order: one part a chunk. Empty for an empty input."""

    refs: Sequence[RunRef] = ()

    def __len__(self) -> int:
        return len(self.refs)

    def content(self, part: int) -> bytes:
        return self.refs[part].digest

    def blocks(self, part: int, reader: BlobReader) -> list[OutputBlock]:
        ref = self.refs[part]
        # The content itself shapes the next tree: a chunk has no neighbours that stay when it changes.
        tail = xxhash.xxh3_64_intdigest(ref.digest)
        return [OutputBlock(ref.digest, ref.pack, ref.offset, ref.length, is_run=False, bare=False, tail=tail)]


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
        old_parts = Counter(old.content(part) for part in range(len(old)))
        new_parts = Counter(new.content(part) for part in range(len(new)))
        return ([], []), (_unshared(old, new_parts, reader), _unshared(new, old_parts, reader))
    if len(old) and len(new):
        if old.content(portion) == new.content(portion):
            return ([], []), ([], [])
        before, after = differing_blocks(_part(old, portion, reader), _part(new, portion, reader))
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
        name = encode(normal(key))
        for pair in pairs:
            if pair[0] is not COUNTED:
                (own if pair[0] is key or encode(normal(pair[0])) == name else others).append(pair)
    return own, others


def _unshared(output: Output, other: Counter[bytes], reader: BlobReader) -> list[Pair]:
    spare = other.copy()
    pairs: list[Pair] = []
    for part in range(len(output)):
        content = output.content(part)
        if spare[content] > 0:
            spare[content] -= 1
        else:
            pairs += read_part(output, part, reader)
    return pairs


def ordered(pairs: list[Pair]) -> list[Pair]:
    """Pairs by key; by the keys' bytes where they do not compare. Pairs of one key keep their order."""
    try:
        return sorted(pairs, key=lambda pair: pair[0])
    except TypeError:
        return sorted(pairs, key=lambda pair: encode(normal(pair[0])))


def _tail(part: int, number: int, count: int) -> int:
    """A hash of a block's place: an edit inside a block leaves the next tree's shape alone."""
    return xxhash.xxh3_64_intdigest(np.array([part, number, count], np.int64).tobytes())
