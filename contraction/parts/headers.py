"""Stored runs as tasks and the driver pass them around: a reference, and the header it points to.

Contract: a reference holds the hash that the header is verified with; the header's rows hold those of the parts. The
header also lists, shard by shard, the packs that a part refers to, so that none is collected while it is needed.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.base.checksums import verify_block
from incoop.base.ids import split_ids
from incoop.contraction.columns.run import Run, join
from incoop.contraction.parts.packs import BlockLost, PackBuilder, Reader
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rows import SHARD_ROW, Rows, with_own_pack

#: Where a chunk's leaves are, in the pack of its header: digest, offset, length. Then the number of rows.
_LEAVES = struct.Struct("<16sQIH")
NO_REGION = (bytes(16), 0, 0)


@dataclass(frozen=True, slots=True)
class RunRef:
    """Where a run's header is."""

    pack: bytes
    digest: bytes
    offset: int
    length: int

    @classmethod
    def of_row(cls, row: Any) -> RunRef:
        pack, digest, offset, length = row.item()
        return cls(pack, digest, offset, length)

    @classmethod
    def of_fact(cls, fact: list[Any]) -> RunRef:
        """What `to_fact` gave."""
        pack, digest, offset, length = fact
        return cls(bytes.fromhex(pack), bytes.fromhex(digest), offset, length)

    def to_fact(self) -> list[Any]:
        """As JSON can hold it."""
        return [self.pack.hex(), self.digest.hex(), self.offset, self.length]

    def row(self) -> tuple[bytes, bytes, int, int]:
        return self.pack, self.digest, self.offset, self.length


@dataclass(frozen=True, slots=True)
class StoredDelta:
    """Where it is stored how a chunk's sums differ from those of an older run."""

    #: The digest of the older run's header.
    base: bytes
    ref: RunRef


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The rows of all shards of a run, with absolute packs."""

    rows: Rows
    #: For each shard, the ids of other packs that its part refers to, packed.
    refs: tuple[bytes, ...]

    @classmethod
    def load(cls, ref: RunRef, shards: int, reader: Reader) -> RunHeader:
        """Read and verify a header."""
        data = read_region(ref, reader, "a run header")
        *_, stored = _LEAVES.unpack_from(data)
        rows = with_own_pack(np.frombuffer(data, SHARD_ROW, stored, _LEAVES.size), ref.pack)
        if rows["small"][0]:
            rows = np.repeat(rows, shards)
            rows["keys"] = -(-rows["keys"] // shards)  # how many there are in one is not known, and only estimated with
            return cls(rows, (b"",) * shards)
        at = _LEAVES.size + stored * SHARD_ROW.itemsize
        counts = np.frombuffer(data, "<u2", stored, at).tolist()
        at += 2 * stored
        refs = []
        for count in counts:
            refs.append(data[at : at + 16 * count])
            at += 16 * count
        return cls(rows, tuple(refs))

    def packs(self) -> set[bytes]:
        """Every pack that the run's parts and blocks lie in."""
        own = {bytes(pack) for pack in self.rows["pack"].tolist()}
        return own.union(*(split_ids(packed) for packed in self.refs))


#: Length of the header of a small run: one row, which refers to no other pack.
_SMALL_HEADER = _LEAVES.size + SHARD_ROW.itemsize + 2


def all_small(refs: Rows) -> bool:
    """Whether all runs of chunks are small, given their REF_ROWs."""
    return bool((refs["length"] == _SMALL_HEADER).all())


class _Span:
    """A reader with one stretch of a pack in memory."""

    def __init__(self, reader: Reader, pack: bytes, low: int, high: int) -> None:
        self._reader, self._pack, self._low, self._high = reader, pack, low, high
        self._data = reader.read(pack, low, high - low)

    def read(self, pack: bytes, offset: int, length: int) -> bytes:
        if pack == self._pack and self._low <= offset and offset + length <= self._high:
            return self._data[offset - self._low : offset - self._low + length]
        return self._reader.read(pack, offset, length)


def read_run(ref: RunRef, shards: int, reader: Reader) -> Run:
    """A chunk's whole run. Its parts lie side by side in its own pack, so one reading gets nearly all of them."""
    rows = RunHeader.load(ref, shards, reader).rows
    if rows["small"][0]:
        return Part.load(rows[0], 0, reader).whole()
    ends = rows["offset"].astype(np.int64) + rows["length"]
    span = _Span(reader, ref.pack, int(ends[0]), max(int(ends[-1]), int(ends[0])))
    shard_bits = shards.bit_length() - 1
    return join([Part.load(row, shard_bits, span).whole() for row in rows])


def write_header(
    rows: Rows, refs: Sequence[bytes], pack: PackBuilder, leaves: tuple[bytes, int, int] = NO_REGION
) -> tuple[bytes, int, int]:
    """Add a run header to a pack; return its digest, offset and length. `leaves` is a region of the same pack."""
    counts = np.array([len(packed) // 16 for packed in refs], "<u2")
    data = b"".join([_LEAVES.pack(*leaves, len(rows)), rows.tobytes(), counts.tobytes(), *refs])
    return pack.add_region(data)


def read_leaf_region(ref: RunRef, reader: Reader) -> bytes:
    """The kept leaves of a chunk's run; empty when it has none."""
    digest, offset, length, _ = _LEAVES.unpack_from(read_region(ref, reader, "a run header"))
    if not length:
        return b""
    return read_region(RunRef(ref.pack, digest, offset, length), reader, "a table of leaves")


def read_region(ref: RunRef, reader: Reader, what: str = "a region") -> bytes:
    """Stored bytes, verified."""
    data = reader.read(ref.pack, ref.offset, ref.length)
    if not verify_block(data, ref.digest):
        raise BlockLost(ref.pack, f"{what} does not match its hash")
    return data
