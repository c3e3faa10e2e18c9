"""Cut a stream of bytes into stable chunks of whole records.

Contract: chunks concatenate to the input; each holds whole records; the same bytes give the same chunks however they
arrive. A chunk is between minimum and maximum long, except the last one and one that holds a record longer than
maximum - minimum. Where a chunk ends depends on nothing before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from incoop.inchdfs.cutting.chunk_table import Chunk, describe
from incoop.inchdfs.cutting.records import Buffer, Lines, RecordFormat
from incoop.inchdfs.cutting.rolling_hash import MarkerFinder, marker_finder
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.errors import RecordTooLong

#: Reads into the given memory, returns how many bytes; 0 at the end. `file.readinto` is one.
ReadInto = Callable[[memoryview], int]

#: The buffer holds this many maximum-size chunks, so that sliding it copies no more than it reads: at memory speed.
_BUFFERED_CHUNKS = 2

#: Read beyond what the next cut needs, so that small chunks do not cost a system call each.
_READ_AHEAD = 256 << 10

#: The most that Linux reads or writes in one call. A longer record cannot be a chunk.
_LARGEST_CHUNK = 0x7FFFF000


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
    """Cuts streams with one setting; holds the marker finder and a buffer between streams."""

    def __init__(
        self,
        settings: ChunkSettings,
        records: RecordFormat | None = None,
        finder: MarkerFinder | None = None,
        longest: int | None = None,
    ) -> None:
        self.settings = settings
        #: The most bytes that a record may have.
        self.longest = min(longest if longest is not None else _LARGEST_CHUNK, _LARGEST_CHUNK)
        self.records = records if records is not None else Lines()
        self.finder = finder if finder is not None else marker_finder(settings)
        self._spare: bytearray | None = None

    def split(self, read_into: ReadInto, offset: int = 0) -> Iterator[tuple[Chunk, memoryview]]:
        """Give each chunk with its bytes, which are valid until the next chunk is asked for.

        `offset` is where the stream stands in its file, and must be where a chunk begins.
        """
        spare = self._spare or bytearray(self.settings.maximum * _BUFFERED_CHUNKS)
        buffered = _Buffered(read_into, spare, self.longest)
        self._spare = None
        try:
            while True:
                # One byte beyond the maximum tells a record that ends there from an input that does.
                buffered.fill(self.settings.maximum + 1)
                if buffered.start == buffered.end:
                    return
                while (cut := self._next_cut(buffered)) is None:
                    buffered.fill(2 * (buffered.end - buffered.start))  # a long record: go on until it ends
                with memoryview(buffered.data)[buffered.start : cut.position] as view:
                    yield describe(view, offset, cut.closed), view
                offset += cut.position - buffered.start
                buffered.start = cut.position
        finally:
            self._spare = buffered.data

    def _next_cut(self, buffered: _Buffered) -> Cut | None:
        return next_cut(
            buffered.data,
            buffered.start,
            buffered.end,
            buffered.at_end,
            self.finder,
            self.settings,
            self.records,
        )

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


class _Buffered:
    """A stream of which `data[start:end]` is in memory."""

    def __init__(self, read_into: ReadInto, data: bytearray, longest: int) -> None:
        self._read_into, self._longest = read_into, longest
        self.data = data
        self.start = self.end = 0
        self.at_end = False

    def fill(self, needed: int) -> None:
        """Read until `needed` bytes are there, or the input ends."""
        if self.at_end or self.end - self.start >= needed:
            return
        if self.start + needed > len(self.data):
            self._make_room(needed)
        stop = min(len(self.data), self.start + needed + _READ_AHEAD)
        with memoryview(self.data) as view:
            while self.end < stop:
                got = self._read_into(view[self.end : stop])
                if not got:
                    self.at_end = True
                    return
                self.end += got

    def _make_room(self, needed: int) -> None:
        """Move what is left to the front, of a larger buffer if it must be."""
        if needed > self._longest:
            raise RecordTooLong(self._longest)
        left = self.end - self.start
        into = self.data if needed <= len(self.data) else bytearray(needed)
        with memoryview(into) as target, memoryview(self.data) as source:
            target[:left] = source[self.start : self.end]
        self.data, self.start, self.end = into, 0, left
