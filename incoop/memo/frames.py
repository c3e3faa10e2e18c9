"""Compressed packs that can still be read in parts.

Contract: offsets and lengths mean the uncompressed bytes. The bytes are cut every FRAME_BYTES, each frame compressed
alone, and an index at the end says where each begins, so a reader decompresses the frames that its range touches.
What comes out is as little trusted as any stored byte: the caller checks it against a hash.

Layout, little endian: frames | stored length u32 per frame | bytes u64, frame bytes u32, frames u32, magic 8.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from incoop.memo.errors import PackUnreadable

#: Larger frames compress a little better, smaller ones waste less on a block of a few kilobytes; 64 KiB take about
#: 0.1 ms to decompress. bench/bench_memo.py prints sizes and rates.
FRAME_BYTES = 1 << 16

_TAIL = struct.Struct("<QII8s")
_MAGIC = b"incoopz1"

#: A first read of this many bytes at the end of a pack holds the index of packs up to about 60 MB.
_TAIL_GUESS = 4096

#: The lengths in an index are untrusted; nothing that we write is longer: 4 million frames are a pack of 256 GiB, and
#: where they begin takes 160 MB of memory.
_FRAME_LIMIT = 1 << 24
_FRAMES_LIMIT = 1 << 22


@dataclass(frozen=True, slots=True)
class FrameIndex:
    """Where each frame of a compressed pack begins."""

    size: int
    frame_bytes: int
    #: Offsets of the frames in the file, with the end of the last one.
    offsets: tuple[int, ...]


class FrameWriter:
    """A file object's `write`, compressing; `finish` writes the index."""

    def __init__(self, out: BinaryIO, level: int) -> None:
        self._out = out
        self._compress = zstandard.ZstdCompressor(level=level).compress
        self._pending = bytearray()
        self._lengths: list[int] = []
        self._size = 0

    def write(self, data: bytes | memoryview) -> None:
        pending = self._pending
        pending += data
        self._size += len(data)
        if len(pending) >= FRAME_BYTES:
            whole = len(pending) - len(pending) % FRAME_BYTES
            with memoryview(pending) as view:
                for at in range(0, whole, FRAME_BYTES):
                    self._frame(view[at : at + FRAME_BYTES])
            del pending[:whole]

    def finish(self) -> None:
        if self._pending:
            self._frame(self._pending)
        count = len(self._lengths)
        self._out.write(struct.pack(f"<{count}I", *self._lengths) + _TAIL.pack(self._size, FRAME_BYTES, count, _MAGIC))

    def _frame(self, data: bytearray | memoryview) -> None:
        frame = self._compress(data)
        self._out.write(frame)
        self._lengths.append(len(frame))


def read_index(pack: str, file_size: int, read: Callable[[int, int], bytes]) -> FrameIndex:
    """The index of a compressed pack; `read(offset, length)` gives stored bytes."""
    guess = min(file_size, _TAIL_GUESS)
    tail = read(file_size - guess, guess)
    if len(tail) < _TAIL.size:
        raise PackUnreadable(pack, "truncated")
    size, frame_bytes, count, magic = _TAIL.unpack_from(tail, len(tail) - _TAIL.size)
    index_bytes = 4 * count + _TAIL.size
    sound = magic == _MAGIC and 0 < frame_bytes <= _FRAME_LIMIT and index_bytes <= file_size and count <= _FRAMES_LIMIT
    if not sound or -(-size // frame_bytes) != count:
        raise PackUnreadable(pack, "truncated, or its index is damaged")
    if index_bytes > guess:
        tail = read(file_size - index_bytes, index_bytes)
    lengths = struct.unpack_from(f"<{count}I", tail, len(tail) - index_bytes)
    offsets = (0, *itertools.accumulate(lengths))
    if offsets[-1] != file_size - index_bytes:
        raise PackUnreadable(pack, "its index is damaged")
    return FrameIndex(size, frame_bytes, offsets)


def read_frames(
    pack: str,
    index: FrameIndex,
    ranges: Sequence[tuple[int, int]],
    read: Callable[[Sequence[tuple[int, int]]], list[bytes]],
) -> list[bytes]:
    """The uncompressed bytes of each range; `read(ranges)` gives stored bytes. A frame is read once."""
    step = index.frame_bytes
    spans = [(offset // step, -(-(offset + length) // step)) for offset, length in ranges]
    wanted = sorted({number for first, last in spans for number in range(first, last)})
    stored = read([(index.offsets[n], index.offsets[n + 1] - index.offsets[n]) for n in wanted])
    decompress = zstandard.ZstdDecompressor().decompress
    frames: dict[int, bytes] = {}
    for number, data in zip(wanted, stored, strict=True):
        expected = min(step, index.size - number * step)
        try:
            # Looked at before anything is allocated: a forged header may promise any length.
            if zstandard.frame_content_size(data) != expected:
                raise PackUnreadable(pack, "a compressed frame has the wrong length")
            frames[number] = decompress(data)
        except zstandard.ZstdError as error:
            raise PackUnreadable(pack, f"a compressed frame is damaged ({error})") from None
    out = []
    for (offset, length), (first, last) in zip(ranges, spans, strict=True):
        joined = b"".join([frames[n] for n in range(first, last)])
        at = offset - first * step
        out.append(joined[at : at + length])
    return out
