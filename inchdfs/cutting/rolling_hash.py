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
from collections.abc import Sequence
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
        start = self._minimum
        for low, high in [*unmarked, (len(view), len(view))]:
            while start < min(low, len(view)):
                stop = min(start + self._piece, low, len(view))
                marker = self._search(view[start - WINDOW : stop])
                if marker:
                    return start - WINDOW + marker
                start = stop
            start = max(start, high)
        return len(view)

    def _search(self, piece: memoryview) -> int:
        """The first marker with a whole window before it and a byte after it, as a length of `piece`; else 0."""
        import rabin

        self._memory.replace(piece)
        with _pyrabin_globals:
            rabin.set_window_size(WINDOW)
            rabin.set_min_block_size(1)
            rabin.set_max_block_size((1 << 32) - 1)
            rabin.set_average_block_size(self._spacing)
            blocks = rabin.get_file_fingerprints(self._memory.name)
        for start, length, _ in blocks:
            if WINDOW <= start + length < len(piece):
                return int(start + length)
        return 0


class _MemoryFile:
    """A file in memory that C code can open by name, reused from search to search."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            self._fd = os.memfd_create("incoop-markers")
            self.name = f"/proc/self/fd/{self._fd}"
        else:  # no memory files on this system (macOS): a temporary file does the same, more slowly
            self._fd, self.name = tempfile.mkstemp(prefix="incoop-markers")
        self._size = 0
        self._owner = os.getpid()

    def replace(self, content: memoryview) -> None:
        if len(content) < self._size:
            os.ftruncate(self._fd, len(content))
        self._size = len(content)
        os.pwrite(self._fd, content, 0)

    def __del__(self) -> None:
        os.close(self._fd)
        if not self.name.startswith("/proc/") and self._owner == os.getpid():
            os.unlink(self.name)  # noqa: PTH108 - pathlib may be gone when the interpreter stops


class FastCdcFinder:
    """Markers by the gear hash of FastCDC (2020), through pyfastcdc: ten times faster, other cuts."""

    def __init__(self, settings: ChunkSettings) -> None:
        from pyfastcdc import FastCDC

        self._cutter = FastCDC(settings.average, min_size=settings.minimum, max_size=settings.maximum)

    def first_marker(self, view: memoryview, unmarked: Unmarked = ()) -> int:
        for chunk in self._cutter.cut_buf(view):
            return min(int(chunk.length) + FASTCDC_LOOKAHEAD, len(view))
        return 0
