"""Find where the content of a chunk says it should end: the only per-byte loop, and the only use of pyrabin.

Contract: `first_marker(view)` sees a chunk's bytes from its start up to the maximum size (or the end of the input)
and returns the length at which the first marker ends it, or `len(view)` when there is none. The answer depends on
`view[:answer]` alone, so the same bytes after a boundary always give the same next boundary.

pyrabin 0.6 has traps, all kept in this file:
- `Rabin.update` raises SystemError on Python >= 3.10; only `get_file_fingerprints(filename)` works. Bytes reach it
  through an anonymous memory file.
- Its parameters are globals of the process: they are set anew for each search, under a lock.
- It does not skip the minimum size, and reports the last block whether or not a marker ends it: the search runs on
  pieces that start just before the minimum, and a block that ends with its piece is looked at again in the next.
- It leaks the file handle on an empty file: it is never given one.

pyrabin is under the GPL; it is imported here, where the Rabin marker search runs, and nowhere else.
"""

from __future__ import annotations

import os
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Protocol

from incoop.inchdfs.cutting.settings import WINDOW, ChunkSettings

#: A marker is where fingerprint % spacing == 3: pyrabin compares with its own polynomial constant.
_SPACING_ABOVE = 3

#: Bytes searched per call. A call costs 7 microseconds, a piece of 64 KiB 230: small pieces stop close behind the
#: marker, and the call still costs 3 % only.
_LARGEST_PIECE = 64 << 10
_SMALLEST_PIECE = 4 << 10

#: FastCDC looks at up to two bytes behind the cut it reports; moving the cut behind them makes the answer depend on
#: the bytes before the cut alone.
FASTCDC_LOOKAHEAD = 2

_pyrabin_globals = threading.Lock()


#: Ranges of positions at which no marker ends.
Unmarked = Sequence[tuple[int, int]]


class MarkerFinder(Protocol):
    """Says where the content of a chunk ends it."""

    def first_marker(self, view: memoryview, unmarked: Unmarked = ()) -> int:
        """`unmarked` are ranges of answers, ascending, that are known to be wrong."""
        ...


def marker_finder(settings: ChunkSettings) -> MarkerFinder:
    """Return the finder that `settings.chunker` names."""
    return RabinFinder(settings) if settings.chunker == "rabin" else FastCdcFinder(settings)


class RabinFinder:
    """Markers by Rabin fingerprint over a 48-byte window, through pyrabin."""

    def __init__(self, settings: ChunkSettings) -> None:
        self._minimum = settings.minimum
        # After the skipped minimum the next marker is `spacing` away on average.
        self._spacing = max(settings.average - settings.minimum, _SPACING_ABOVE + 1)
        self._piece = min(_LARGEST_PIECE, max(_SMALLEST_PIECE, self._spacing // 4))
        self._memory = _MemoryFile()

    def first_marker(self, view: memoryview, unmarked: Unmarked = ()) -> int:
        for ranges in self._portions(len(view), unmarked):
            marker = self._search(view, ranges)
            if marker:
                return marker
        return len(view)

    def _portions(self, end: int, unmarked: Unmarked) -> Iterator[list[tuple[int, int]]]:
        """The positions to look at, ascending, in ranges: together about a piece, since each call costs something."""
        start, size = self._minimum, 0
        ranges: list[tuple[int, int]] = []
        for low, high in [*unmarked, (end, end)]:
            while start < min(low, end):
                stop = min(start + self._piece, low, end)
                ranges.append((start, stop))
                size += stop - start + WINDOW
                if size >= self._piece:
                    yield ranges
                    ranges, size = [], 0
                start = stop
            start = max(start, high)
        if ranges:
            yield ranges

    def _search(self, view: memoryview, ranges: list[tuple[int, int]]) -> int:
        """The first marker at one of these positions, as a length of `view`; else 0.

        Each range is searched with the window before it. They are searched as one piece: what pyrabin finds where the
        window is of two of them is dropped, and it remembers nothing but the window.
        """
        import rabin

        self._memory.replace(b"".join([view[start - WINDOW : stop] for start, stop in ranges]))
        with _pyrabin_globals:
            rabin.set_window_size(WINDOW)
            rabin.set_min_block_size(1)
            rabin.set_max_block_size((1 << 32) - 1)
            rabin.set_average_block_size(self._spacing)
            blocks = rabin.get_file_fingerprints(self._memory.name)
        ends = list(accumulate(stop - start + WINDOW for start, stop in ranges))
        for begin, length, _ in blocks:
            found = int(begin + length)
            number = bisect_right(ends, found)
            if number < len(ranges):  # else it is the end of the last block, marker or not
                start, stop = ranges[number]
                marker = stop - (ends[number] - found)
                if marker >= start:
                    return marker
        return 0


class _MemoryFile:
    """A file in memory that C code can open by name, reused from search to search."""

    #: Until it is made: Ctrl-C may come before.
    _fd = -1
    #: Where it has a name of its own.
    _path = ""

    def __init__(self) -> None:
        self._size = 0
        self._owner = os.getpid()
        if hasattr(os, "memfd_create"):
            self._fd = os.memfd_create("incoop-markers")
        else:  # no memory files on this system (macOS): a temporary file does the same, more slowly
            self._fd, self._path = tempfile.mkstemp(prefix="incoop-markers")
        self.name = self._path or f"/proc/self/fd/{self._fd}"

    def replace(self, content: bytes) -> None:
        if len(content) < self._size:
            os.ftruncate(self._fd, len(content))
        self._size = len(content)
        os.pwrite(self._fd, content, 0)

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        if self._path and self._owner == os.getpid():
            os.unlink(self._path)  # noqa: PTH108 - pathlib may be gone when the interpreter stops


class FastCdcFinder:
    """Markers by the gear hash of FastCDC (2020), through pyfastcdc: ten times faster, other cuts."""

    def __init__(self, settings: ChunkSettings) -> None:
        from pyfastcdc import FastCDC

        self._cutter = FastCDC(settings.average, min_size=settings.minimum, max_size=settings.maximum)

    def first_marker(self, view: memoryview, unmarked: Unmarked = ()) -> int:
        for chunk in self._cutter.cut_buf(view):
            return min(int(chunk.length) + FASTCDC_LOOKAHEAD, len(view))
        return 0
