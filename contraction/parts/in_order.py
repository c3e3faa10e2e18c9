"""Pairs in input order, as they are stored: what a map-only job keeps of a chunk.

    header   what the chunk gave, as a hash; its layers; its leaves in their order, by number
    layer    what the mapper gave for some leaves: a region that says of each its id and how many pairs it gave, and a
             block, compressed, with the pairs

A chunk that was mapped whole is one layer. One that changed is described: layers of the chunks before it, where they
are, and one with what the leaves gave that came. Nothing of the older layers is copied, or decoded.

Contract: a header's `content` follows from the leaves' ends and their pairs alone, however many layers hold them. Equal
contents have equal pairs.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from incoop.base.checksums import block_hash
from incoop.base.content_ids import content_id
from incoop.contraction.columns.column import INTEGER, Column, Ints, concat, starts_of
from incoop.contraction.columns.column_bytes import read_column, write_column
from incoop.contraction.columns.encoded_rows import encoded_rows
from incoop.contraction.columns.run import group_rows
from incoop.contraction.parts.blocks import compressed, decompressed
from incoop.contraction.parts.headers import Region, RunRef, read_decoded, read_region
from incoop.contraction.parts.packs import BlockLost, PackBuilder, Reader
from incoop.contraction.parts.rows import OWN_PACK

#: The hash of what the chunk gave; layers; rows of leaves that follow each other.
_HEAD = struct.Struct("<16sHI")
#: Pack, leaves; digest, offset and length of what is known of them, and of their pairs.
_LAYER = struct.Struct("<16sI16sQI16sQI")
#: Leaves, bytes of the counters.
_LEAVES = struct.Struct("<II")

Counts = dict[str, int]
Ids = npt.NDArray[np.void]

_NOTHING: Counts = {}


@dataclass(frozen=True, slots=True)
class GivenByLeaf:
    """What the mapper gave for some leaves, but for the pairs."""

    ids: Ids
    #: Bytes of each leaf, and how many pairs it gave.
    lengths: Ints
    sizes: Ints
    #: The hash of each leaf's pairs; zero for none.
    digests: Ids
    #: What each leaf's mapper calls counted.
    counters: list[Counts]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return 40 * len(self) + 8 * len(self)

    @classmethod
    def of(cls, ids: Ids, lengths: Ints, sizes: Ints, pairs: Column, counters: list[Counts]) -> GivenByLeaf:
        """Of leaves whose pairs stand one behind the other."""
        return cls(ids, lengths, sizes, _digests(pairs, sizes), counters)

    def take(self, leaves: Ints) -> GivenByLeaf:
        counters = [self.counters[leaf] for leaf in leaves.tolist()] if any(self.counters) else [_NOTHING] * len(leaves)
        return GivenByLeaf(self.ids[leaves], self.lengths[leaves], self.sizes[leaves], self.digests[leaves], counters)

    def content(self) -> bytes:
        """Names the pairs of all leaves together."""
        return content_id(self.digests[self.sizes > 0].tobytes())

    def to_bytes(self) -> bytes:
        counted = json.dumps(self.counters).encode() if any(self.counters) else b""
        out: list[bytes | memoryview] = [_LEAVES.pack(len(self), len(counted)), counted, self.ids.tobytes()]
        for numbers in (self.lengths, self.sizes):
            write_column(Column(INTEGER, len(numbers), numbers=numbers), out)
        out.append(self.digests[self.sizes > 0].tobytes())
        return b"".join(out)

    @classmethod
    def from_bytes(cls, data: bytes) -> GivenByLeaf:
        """Read it back. The bytes must have been verified."""
        count, counted = _LEAVES.unpack_from(data)
        at = _LEAVES.size
        counters = json.loads(data[at : at + counted]) if counted else [_NOTHING] * count
        at += counted
        ids = np.frombuffer(data, "V16", count, at)
        lengths, at = _integers(data, at + 16 * count)
        sizes, at = _integers(data, at)
        digests = np.zeros(count, "V16")
        digests[sizes > 0] = np.frombuffer(data, "V16", int((sizes > 0).sum()), at)
        return cls(ids, lengths, sizes, digests, counters)


def all_given(some: Sequence[GivenByLeaf]) -> GivenByLeaf:
    """What several layers hold, one behind the other."""
    if len(some) == 1:
        return some[0]
    return GivenByLeaf(
        np.concatenate([each.ids for each in some]),
        np.concatenate([each.lengths for each in some]),
        np.concatenate([each.sizes for each in some]),
        np.concatenate([each.digests for each in some]),
        [counts for each in some for counts in each.counters],
    )


def _digests(pairs: Column, sizes: Ints) -> Ids:
    """The hash of each leaf's pairs, each encoded by itself: the same bytes whatever stands beside them."""
    rows, starts = encoded_rows(pairs)
    bounds = starts[starts_of(sizes)].tolist()
    nothing = bytes(16)
    with memoryview(np.ascontiguousarray(rows).data) as view:
        found = [content_id(view[low:high]) if high > low else nothing for low, high in pairwise(bounds)]
    return np.frombuffer(b"".join(found), "V16")


def _integers(data: bytes, at: int) -> tuple[Ints, int]:
    column, at = read_column(data, at)
    assert column.numbers is not None
    return column.numbers, at


@dataclass(frozen=True, slots=True)
class Layer:
    """Where it is stored what some leaves gave."""

    pack: bytes
    leaves: int
    given: Region
    pairs: Region

    @classmethod
    def add(cls, given: GivenByLeaf, pairs: Column, pack: PackBuilder) -> Layer:
        """Write one."""
        out: list[bytes | memoryview] = []
        write_column(pairs, out)
        data = b"".join(out)
        stored = compressed(data, 0)
        block = block_hash(data), pack.add(stored), len(stored)
        return cls(OWN_PACK, len(given), pack.add_region(given.to_bytes()), block)

    def to_bytes(self) -> bytes:
        return _LAYER.pack(self.pack, self.leaves, *self.given, *self.pairs)

    def read_given(self, reader: Reader) -> GivenByLeaf:
        return read_decoded(RunRef(self.pack, *self.given), reader, "what leaves gave", GivenByLeaf.from_bytes)

    def read_pairs(self, reader: Reader) -> Column:
        digest, offset, length = self.pairs
        data = decompressed(reader.read(self.pack, offset, length), digest)
        if data is None:
            raise BlockLost(self.pack, "a block of pairs does not match its hash")
        return read_column(data, 0)[0]


@dataclass(frozen=True, slots=True)
class InOrder:
    """A chunk's pairs: its layers, and where each leaf's pairs are in them."""

    content: bytes
    layers: tuple[Layer, ...]
    #: The chunk's leaves in their order, by number: those of the first layer, and behind them those of the others.
    order: Ints = field(compare=False)

    def write(self, pack: PackBuilder) -> Region:
        """Add it to the pack that its own layer is in."""
        begins = np.flatnonzero(np.diff(self.order, prepend=-2) != 1)
        rows = np.stack([self.order[begins], np.diff(begins, append=len(self.order))]).astype("<u4")
        head = _HEAD.pack(self.content, len(self.layers), len(begins))
        return pack.add_region(b"".join([head, *(layer.to_bytes() for layer in self.layers), rows.tobytes()]))

    @classmethod
    def load(cls, ref: RunRef, reader: Reader) -> InOrder:
        """Read and verify."""
        data = read_region(ref, reader, "a header of pairs")
        content, count, rows = _HEAD.unpack_from(data)
        layers = []
        for at in range(_HEAD.size, _HEAD.size + count * _LAYER.size, _LAYER.size):
            pack, leaves, *regions = _LAYER.unpack_from(data, at)
            found = Layer(pack, leaves, (regions[0], regions[1], regions[2]), (regions[3], regions[4], regions[5]))
            layers.append(replace(found, pack=ref.pack) if pack == OWN_PACK else found)
        stored = np.frombuffer(data, "<u4", 2 * rows, _HEAD.size + count * _LAYER.size).astype(np.int64)
        begins, lengths = stored.reshape(2, rows)
        order = np.repeat(begins - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
        return cls(content, tuple(layers), order)

    @property
    def packs(self) -> bytes:
        """Ids of the other packs that it refers to, packed."""
        return b"".join(sorted({layer.pack for layer in self.layers} - {OWN_PACK}))

    @property
    def nbytes(self) -> int:
        """About how many bytes its pairs take, as they are stored."""
        stored, leaves = sum(layer.pairs[2] for layer in self.layers), sum(layer.leaves for layer in self.layers)
        return -(-stored * len(self.order) // leaves) if leaves else 0

    def given(self, reader: Reader) -> GivenByLeaf:
        """What is known of all leaves of its layers, by number."""
        return all_given([layer.read_given(reader) for layer in self.layers])

    def pairs(self, reader: Reader) -> Column:
        """All pairs, in order."""
        if len(self.layers) == 1 and np.array_equal(self.order, np.arange(self.layers[0].leaves)):
            return self.layers[0].read_pairs(reader)
        return pairs_of_leaves(self.layers, self.order, self.given(reader).sizes, reader)


def pairs_of_leaves(layers: Sequence[Layer], leaves: Ints, sizes: Ints, reader: Reader) -> Column:
    """The pairs of some leaves of layers, in the order given; `sizes` says how many pairs each of all leaves has."""
    bounds = starts_of(np.array([layer.leaves for layer in layers], np.int64))
    taken: list[Column] = []
    place = np.zeros(len(sizes), np.int64)  # of each leaf, where its pairs begin among those that are taken
    at = 0
    for number, layer in enumerate(layers):
        low, high = int(bounds[number]), int(bounds[number + 1])
        own = np.unique(leaves[(leaves >= low) & (leaves < high)])
        own = own[sizes[own] > 0]
        if not len(own):
            continue
        firsts = starts_of(sizes[low:high])[own - low]
        taken.append(layer.read_pairs(reader).take(group_rows(firsts, sizes[own])))
        place[own] = at + starts_of(sizes[own])[:-1]
        at += int(sizes[own].sum())
    return concat(taken).take(group_rows(place[leaves], sizes[leaves]))


def unshared(here: Sequence[InOrder], other: Sequence[InOrder], reader: Reader) -> list[Column]:
    """Pairs of leaves that some chunks have and others have not, counted; of what both have nothing is read."""
    spare = Counter(digest for chunk in other for digest in chunk.given(reader).take(chunk.order).digests.tolist())
    found: list[Column] = []
    for chunk in here:
        given, own = chunk.given(reader), []
        for leaf, digest in zip(chunk.order.tolist(), given.digests[chunk.order].tolist(), strict=True):
            if spare[digest] > 0:
                spare[digest] -= 1
            elif given.sizes[leaf]:
                own.append(leaf)
        found.append(pairs_of_leaves(chunk.layers, np.array(own, np.int64), given.sizes, reader))
    return found
