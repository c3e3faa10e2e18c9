"""The bytes of a block, smaller: hashes do not compress, and left among the keys they keep these from compressing.

Contract: what is verified is the block, not its compressed form, which another version of zstd may write otherwise.
"""

from __future__ import annotations

import struct
import threading

import zstandard

#: Words lose a third and pairs of words nearly half, at 350 MB a second; level 3 takes twice as long for a hundredth.
_LEVEL = 1

_HEAD = struct.Struct("<I")  # bytes that are stored as they are

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
        return b"".join([stored[_HEAD.size : begin], _own.decompressor.decompress(memoryview(stored)[begin:])])
    except (struct.error, zstandard.ZstdError, MemoryError):  # a damaged frame may claim any size
        return None
