"""The bytes of a block, smaller: hashes do not compress, and left among the keys they keep these from compressing.

Contract: what is verified is the block, not its compressed form, which another version of zstd may write otherwise.
"""

from __future__ import annotations

import struct
import threading

import zstandard

from incoop.base.checksums import GrowingBlock, block_hash, verify_block
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.packs import BlockLost, PackBuilder

#: Words lose a third and pairs of words nearly half, at 350 MB a second; level 3 takes twice as long for a hundredth.
_LEVEL = 1

_HEAD = struct.Struct("<I")  # bytes that are stored as they are

#: No block is larger: chunks are not, and a block is a part of a few.
_LARGEST = 1 << 31

#: Nothing is verified before it is decompressed. A frame that claims more than so many bytes, and more than so many
#: times its own length, is verified in small pieces first, so that damage takes no memory that the signed length of
#: what is stored does not account for. Words and numbers come to 2 to 10 times.
_AT_ONCE = 4 << 20
_USUAL_RATIO = 32

#: For a look at it in pieces: level 1 never needs a larger window.
_WINDOW = 1 << 23
_PIECE = 1 << 18

#: Made once for a thread, since making one costs as much as compressing a block; they must not be shared by threads.
_own = threading.local()


def compressed(data: bytes, random: int) -> bytes:
    """The stored form of a block whose first bytes look random; empty for an empty one."""
    if not data:
        return b""
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return b"".join([_HEAD.pack(random), data[:random], _own.compressor.compress(memoryview(data)[random:])])


def decompressed(stored: bytes, digest: bytes) -> bytes | None:
    """What `compressed` was given, if that has this hash; None for any other bytes."""
    if not stored:
        return b"" if verify_block(b"", digest) else None
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    try:
        (random,) = _HEAD.unpack_from(stored)
        begin = _HEAD.size + random
        head, frame = stored[_HEAD.size : begin], memoryview(stored)[begin:]
        claimed = zstandard.frame_content_size(frame)
        if not 0 <= claimed <= _LARGEST:
            return None
        if claimed > max(_AT_ONCE, _USUAL_RATIO * len(stored)) and not _is_in_pieces(head, frame, digest):
            return None
        data = b"".join([head, _own.decompressor.decompress(frame)])
        return data if verify_block(data, digest) else None
    except (struct.error, zstandard.ZstdError, MemoryError):  # a damaged frame may claim any size
        return None


def _is_in_pieces(head: bytes, frame: memoryview, digest: bytes) -> bool:
    """Whether a block has that hash, found out without making all of it."""
    growing = GrowingBlock()
    growing.update(head)
    reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(frame, read_size=_PIECE)
    while piece := reader.read(_PIECE):
        growing.update(piece)
    return growing.matches(digest)


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
    data = decompressed(stored, digest)
    if data is None:
        raise BlockLost(pack, "a block does not match its hash")
    return data
