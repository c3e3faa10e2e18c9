"""The bytes of a block, smaller: hashes do not compress, the keys behind them do.

Contract: what is verified is the block, not its compressed form, which another version of zstd may write otherwise.
"""

from __future__ import annotations

import threading

import zstandard

#: Words lose a fifth and pairs of words a third at 350 MB a second; level 3 gains a hundredth for half of the speed.
_LEVEL = 1

#: Made once for a thread, since making one costs as much as compressing a block; they must not be shared by threads.
_own = threading.local()


def compressed(data: bytes) -> bytes:
    """The stored form of a block; empty for an empty one."""
    if not data:
        return b""
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    stored: bytes = _own.compressor.compress(data)
    return stored


def decompressed(stored: bytes) -> bytes | None:
    """What `compressed` was given; None for bytes that it did not make."""
    if not stored:
        return b""
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    try:
        data: bytes = _own.decompressor.decompress(stored)
    except zstandard.ZstdError:
        return None
    return data
