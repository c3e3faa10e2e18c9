"""A generation: what one run of a job left behind, as a signed value.

Contract: a generation names the task ids it needs (`live`), packs beyond those of its entries, and a record that only
the engine understands. Large parts lie in one pack; Redis holds their lengths and hashes under a keyed checksum that
covers job and number, so an old or foreign generation cannot stand in for this one.

Layout, little endian: MAC 16 | header | job | inline parts. Parts are record, live, packs, in this order.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incoop.base.checksums import DIGEST_BYTES, Signer, block_hash, verify_block
from incoop.base.ids import ID_BYTES
from incoop.memo.blobs import BlobStore
from incoop.memo.entry import INLINE_BYTES

GENERATION_FORMAT = 1

# format, has pack, job bytes, number, when, lengths of the three parts, their hashes, pack.
_HEADER = struct.Struct("<BBHQdQQQ16s16s16s16s")
_FIELD = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class GenerationHead:
    """A generation without its large parts."""

    job: str
    number: int
    #: Seconds since the epoch at the commit.
    when: float
    #: Bytes of record, live and packs.
    lengths: tuple[int, int, int]
    #: Their hashes.
    digests: tuple[bytes, bytes, bytes]
    #: The pack that holds them; None when they are inline.
    pack: bytes | None
    inline: bytes = b""

    @property
    def live_count(self) -> int:
        return self.lengths[1] // ID_BYTES

    def part(self, which: int, blobs: BlobStore) -> bytes | None:
        """Record (0), live ids (1) or packs (2), verified; None when damaged."""
        offset, length = sum(self.lengths[:which]), self.lengths[which]
        if self.pack is not None:
            return blobs.read_region(self.pack, offset, length, self.digests[which])
        data = self.inline[offset : offset + length]
        return data if verify_block(data, self.digests[which]) else None


@dataclass(frozen=True, slots=True)
class Generation:
    """A committed generation, as the engine sees the previous run."""

    job: str
    number: int
    #: What the engine gave at the commit.
    record: bytes
    #: Seconds since the epoch at the commit.
    when: float
    #: How many task ids it keeps alive.
    live_count: int


def packed_ids(ids: bytes | Sequence[bytes] | Iterable[bytes]) -> bytes:
    """Ids as packed bytes, however they were given."""
    packed = bytes(ids) if isinstance(ids, bytes | bytearray | memoryview) else b"".join(ids)
    if len(packed) % ID_BYTES:
        raise ValueError(f"ids must be {ID_BYTES} bytes each, got {len(packed)} bytes in all")
    return packed


def field_of(job: str, number: int) -> bytes:
    """The generation's field in the hash of generations."""
    return _FIELD.pack(number) + job.encode("utf-8", "surrogatepass")


def make_head(
    job: str, number: int, when: float, parts: tuple[bytes, bytes, bytes], blobs: BlobStore
) -> GenerationHead:
    """Put the parts where they belong, by size; the head that finds them. Raises PackWriteFailed."""
    lengths = (len(parts[0]), len(parts[1]), len(parts[2]))
    digests = (block_hash(parts[0]), block_hash(parts[1]), block_hash(parts[2]))
    if sum(lengths) <= INLINE_BYTES:
        return GenerationHead(job, number, when, lengths, digests, None, b"".join(parts))
    return GenerationHead(job, number, when, lengths, digests, blobs.write(parts))


def encode_head(head: GenerationHead, signer: Signer) -> bytes:
    name = head.job.encode("utf-8", "surrogatepass")
    header = _HEADER.pack(
        GENERATION_FORMAT,
        head.pack is not None,
        len(name),
        head.number,
        head.when,
        *head.lengths,
        *head.digests,
        head.pack or bytes(ID_BYTES),
    )
    body = header + name + head.inline
    return signer.sign_generation(body) + body


def decode_head(field: bytes, raw: bytes | None, signer: Signer) -> GenerationHead | None:
    """The head stored under a field; None when it is absent, changed, or belongs under another field."""
    if raw is None or len(raw) < DIGEST_BYTES + _HEADER.size:
        return None
    body = raw[DIGEST_BYTES:]
    if not signer.accepts_generation(body, raw[:DIGEST_BYTES]):
        return None
    layout, has_pack, name_bytes, number, when, *rest = _HEADER.unpack_from(body)
    ends = _HEADER.size + name_bytes
    job = body[_HEADER.size : ends].decode("utf-8", "surrogatepass")
    if layout != GENERATION_FORMAT or field != field_of(job, number):
        return None
    lengths, digests, pack = tuple(rest[0:3]), tuple(rest[3:6]), rest[6]
    return GenerationHead(job, number, when, lengths, digests, pack if has_pack else None, body[ends:])
