"""Stored runs as tasks and the driver pass them around: a reference, and the header it points to.

Contract: a reference holds the hash that the header is verified with; the header's rows hold those of the parts. The
header also lists, shard by shard, the packs that a part refers to, so that none is collected while it is needed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from incoop.base.checksums import verify_block
from incoop.base.ids import split_ids
from incoop.contraction.parts.at_hand import Sized, at_hand, stamp_of
from incoop.contraction.parts.packs import BlockLost, PackBuilder, Reader
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rows import SHARD_ROW, Rows, with_own_pack

#: Where a chunk's leaves and their ids are, in the pack of its header: digest, offset, length. Then the number of rows.
_HEAD = struct.Struct("<16sQI16sQIH")
NO_REGION = (bytes(16), 0, 0)

Decoded = TypeVar("Decoded", bound=Sized)


@dataclass(frozen=True, slots=True)
class RunRef:
    """Where a run's header is."""

    pack: bytes
    digest: bytes
    offset: int
    length: int
    #: Of a chunk's run: whether it has few keys, so that its tree may have few shards.
    few: bool = False

    @classmethod
    def of_row(cls, row: Any) -> RunRef:
        return cls(*row.item())

    @classmethod
    def of_fact(cls, fact: list[Any]) -> RunRef:
        """What `to_fact` gave."""
        pack, digest, offset, length = fact
        return cls(bytes.fromhex(pack), bytes.fromhex(digest), offset, length)

    def to_fact(self) -> list[Any]:
        """As JSON can hold it."""
        return [self.pack.hex(), self.digest.hex(), self.offset, self.length]

    def row(self) -> tuple[bytes, bytes, int, int, bool]:
        return self.pack, self.digest, self.offset, self.length, self.few


@dataclass(frozen=True, slots=True)
class StoredChange:
    """Where it is stored how a chunk's run differs from an older one: a Delta of sums, or an Overlay."""

    #: The digest of the older run's header.
    base: bytes
    ref: RunRef
    #: Whether it is a Delta.
    summed: bool


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The rows of all shards of a run, with absolute packs."""

    rows: Rows
    #: For each shard, the ids of other packs that its part refers to, packed.
    refs: tuple[bytes, ...]

    @classmethod
    def load(cls, ref: RunRef, shards: int, reader: Reader) -> RunHeader:
        """Read and verify a header. That of a chunk's run has one row, which stands for all shards."""
        data = read_region(ref, reader, "a run header")
        *_, stored = _HEAD.unpack_from(data)
        rows = with_own_pack(np.frombuffer(data, SHARD_ROW, stored, _HEAD.size), ref.pack)
        at = _HEAD.size + stored * SHARD_ROW.itemsize
        counts = np.frombuffer(data, "<u2", stored, at).tolist()
        at += 2 * stored
        refs = []
        for count in counts:
            refs.append(data[at : at + 16 * count])
            at += 16 * count
        if rows["whole"][0]:
            rows = np.repeat(rows, shards)
            rows["keys"] = -(-rows["keys"] // shards)  # how many there are in one is not known, and only estimated with
            return cls(rows, tuple(refs * shards))
        return cls(rows, tuple(refs))

    def packs(self) -> set[bytes]:
        """Every pack that the run's parts and blocks lie in."""
        own = {bytes(pack) for pack in self.rows["pack"].tolist()}
        return own.union(*(split_ids(packed) for packed in self.refs))


def read_run(ref: RunRef, reader: Reader) -> Part:
    """A chunk's run, as the one part that it is."""
    return Part.load(RunHeader.load(ref, 1, reader).rows[0], 0, reader)


#: In a pack: digest, offset, length.
Region = tuple[bytes, int, int]


def write_header(
    rows: Rows, refs: Sequence[bytes], pack: PackBuilder, leaves: Region = NO_REGION, leaf_ids: Region = NO_REGION
) -> Region:
    """Add a run header to a pack; return where it is. `leaves` and `leaf_ids` are regions of the same pack."""
    counts = np.array([len(packed) // 16 for packed in refs], "<u2")
    data = b"".join([_HEAD.pack(*leaves, *leaf_ids, len(rows)), rows.tobytes(), counts.tobytes(), *refs])
    return pack.add_region(data)


@dataclass(frozen=True, slots=True)
class LeafRegions:
    """Where the leaves of a chunk's run are, and their ids; None for what it does not have."""

    leaves: RunRef | None
    ids: RunRef | None

    @classmethod
    def of(cls, ref: RunRef, reader: Reader) -> LeafRegions:
        *fields, _ = _HEAD.unpack_from(read_region(ref, reader, "a run header"))
        leaves, ids = (RunRef(ref.pack, *each) if each[2] else None for each in (fields[:3], fields[3:]))
        return cls(leaves, ids)


def read_region(ref: RunRef, reader: Reader, what: str = "a region") -> bytes:
    """Stored bytes, verified."""
    data = reader.read(ref.pack, ref.offset, ref.length)
    if not verify_block(data, ref.digest):
        raise BlockLost(ref.pack, f"{what} does not match its hash")
    return data


def read_decoded(ref: RunRef, reader: Reader, what: str, decode: Callable[[bytes], Decoded]) -> Decoded:
    """What stored bytes are decoded to, found at hand where they were read before; by `decode`, which knows no more."""
    stamp = stamp_of(reader, ref.pack)
    found: Decoded | None = at_hand.get(ref.digest, stamp)
    if found is None:
        found = decode(read_region(ref, reader, what))
        at_hand.keep(ref.digest, stamp, found)
    return found
