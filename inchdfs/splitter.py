"""Cut a stream of bytes into stable chunks of whole records.

Contract: chunks concatenate to the input; each holds whole records; the same bytes give the same chunks however they
arrive. A chunk is between minimum and maximum long, except the last one and one that holds a record longer than
maximum - minimum. Where a chunk ends depends on nothing before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inchdfs.chunk_table import Chunk, describe
from inchdfs.records import Buffer, Lines, RecordFormat
from inchdfs.rolling_hash import MarkerFinder, marker_finder
from inchdfs.settings import ChunkSettings

#: Reads into the given memory, returns how many bytes; 0 at the end. `file.readinto` is one.
ReadInto = Callable[[memoryview], int]

#: The buffer holds this many maximum-size chunks, so that sliding it copies a quarter of what it reads at most.
_BUFFERED_CHUNKS = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a chunk ends, and whether its own bytes alone say so."""

    position: int
    closed: bool


def next_cut(
    data: Buffer,
    start: int,
    end: int,
    at_end: bool,
    finder: MarkerFinder,
    settings: ChunkSettings,
    records: RecordFormat,
) -> Cut | None:
    """Find the end of the chunk that begins at `start`; None when more bytes than `data[:end]` are needed.

    (1) The content proposes a cut: the first marker, or the maximum size.
    (2) The input ends before either: the chunk is what is left.
    (3) The cut moves on to the end of its record,
    (4) or, where that passes the maximum, back to the end of the record before, if the minimum allows.
    """
    window = min(end, start + settings.maximum)
    with memoryview(data) as whole, whole[start:window] as view:
        proposed = start + finder.first_marker(view)  # step (1)
    if proposed == end and at_end:  # step (2)
        return Cut(end, closed=False)
    before, after = records.ends_around(data, start, proposed, end)
    ends_with_input = after < 0 and at_end
    if ends_with_input:
        after = end
    if 0 <= after <= start + settings.maximum:  # step (3)
        return Cut(after, closed=not ends_with_input)
    if before >= start + settings.minimum:  # step (4)
        return Cut(before, closed=False)
    if after < 0:
        return None
    return Cut(after, closed=not ends_with_input)


class Splitter:
    """Cuts streams with one setting; holds the marker finder between streams."""

    def __init__(self, settings: ChunkSettings, records: RecordFormat | None = None) -> None:
        self.settings = settings
        self.records = records if records is not None else Lines()
        self._finder = marker_finder(settings)

    def split(self, read_into: ReadInto, offset: int = 0) -> Iterator[tuple[Chunk, memoryview]]:
        """Give each chunk with its bytes, which are valid until the next chunk is asked for.

        `offset` is where the stream stands in its file, and must be where a chunk begins.
        """
        data = bytearray(self.settings.maximum * _BUFFERED_CHUNKS)
        start = end = 0
        at_end = False
        while True:
            # One byte beyond the maximum tells a record that ends there from an input that does.
            if not at_end and end - start <= self.settings.maximum:
                data, start, end, at_end = _slide_and_fill(data, start, end, read_into)
            if start == end:
                return
            cut = next_cut(data, start, end, at_end, self._finder, self.settings, self.records)
            while cut is None:
                # A record longer than the buffer: grow until it ends.
                data = _grown(data)
                data, start, end, at_end = _slide_and_fill(data, start, end, read_into)
                cut = next_cut(data, start, end, at_end, self._finder, self.settings, self.records)
            with memoryview(data)[start : cut.position] as view:
                yield describe(view, offset, cut.closed), view
            offset += cut.position - start
            start = cut.position

    def split_bytes(self, content: bytes) -> list[Chunk]:
        """Cut bytes that are already in memory.

        Example:
            >>> chunks = Splitter(ChunkSettings(average=1024)).split_bytes(b"a line of text\\n" * 1000)
            >>> sum(chunk.length for chunk in chunks)
            15000
        """
        rest = memoryview(content)

        def read_into(target: memoryview) -> int:
            nonlocal rest
            size = min(len(target), len(rest))
            target[:size] = rest[:size]
            rest = rest[size:]
            return size

        return [chunk for chunk, _ in self.split(read_into)]


def _grown(data: bytearray) -> bytearray:
    larger = bytearray(len(data) * 2)
    larger[: len(data)] = data
    return larger


def _slide_and_fill(data: bytearray, start: int, end: int, read_into: ReadInto) -> tuple[bytearray, int, int, bool]:
    """Move what is left to the front, then read until the buffer is full or the input ends."""
    left = end - start
    with memoryview(data) as view:
        view[:left] = view[start:end]
        while left < len(data):
            got = read_into(view[left:])
            if not got:
                return data, 0, left, True
            left += got
    return data, 0, left, False
