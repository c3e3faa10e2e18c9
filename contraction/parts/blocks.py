"""The bytes of a block, smaller: hashes do not compress, and left among the keys they keep these from compressing.

Contract: what is verified is the block, not its compressed form, which another version of zstd may write otherwise.
"""

from __future__ import annotations

import struct
import threading

import zstandard

from incoop.base.checksums import block_hash, verify_block
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.packs import BlockLost, PackBuilder

#: Words lose a third and pairs of words nearly half, at 350 MB a second; level 3 takes twice as long for a hundredth.
_LEVEL = 1

_HEAD = struct.Struct("<I")  # bytes that are stored as they are

#: Nothing is verified before it is decompressed. No block is larger: chunks are not, and a block is a part of a few.
_LARGEST = 1 << 31

#: Made once for a thread, since making one costs as much as compressing a block; they must not be shared by threads.
_own = threading.local()


def compressed(data: bytes, random: int) -> bytes:
    """The stored form of a block whose first bytes look random; empty for an empty one."""
    if not data:
        return b""
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return b"".join([_HEAD.pack(random), data[:random], _own.compressor.compress(memoryview(data)[random:])])


def decompressed(stored: bytes) -> bytes | None:
    """What `compressed` was given; None for bytes that it did not make."""
    if not stored:
        return b""
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    try:
        (random,) = _HEAD.unpack_from(stored)
        begin = _HEAD.size + random
        if not 0 <= zstandard.frame_content_size(memoryview(stored)[begin:]) <= _LARGEST:
            return None
        return b"".join([stored[_HEAD.size : begin], _own.decompressor.decompress(memoryview(stored)[begin:])])
    except (struct.error, zstandard.ZstdError, MemoryError):  # a damaged frame may claim any size
        return None


def write_block(block: Run | Overlay, own: int, pack: PackBuilder) -> tuple[bytes, int, int, int]:
    """Add a block to a pack, which is number `own` of those that its part refers to; return its BLOCK_ROW."""
    data = block.to_bytes()
    stored = compressed(data, block.random_bytes)
    return block_hash(data), own, pack.add(stored), len(stored)


def read_block(stored: bytes, digest: bytes, pack: bytes) -> Run:
    """Read back and verify a block that lies in `pack`."""
    return Run.from_bytes(_verified(stored, digest, pack))


def read_overlay(stored: bytes, digest: bytes, pack: bytes) -> Overlay:
    """The same for a block of an overlay."""
    return Overlay.from_bytes(_verified(stored, digest, pack))


def _verified(stored: bytes, digest: bytes, pack: bytes) -> bytes:
    data = decompressed(stored)
    if data is None or not verify_block(data, digest):
        raise BlockLost(pack, "a block does not match its hash")
    return data
