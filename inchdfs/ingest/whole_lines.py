"""Read whole lines of a log, from one place to another.

Contract: what is given ends with the end of a line, or with the log where that has ended. A line is held in memory
until its end is found, and refused where that is too far away.
"""

from __future__ import annotations

import numpy as np

from incoop.inchdfs.errors import RecordTooLong
from incoop.inchdfs.ingest.log_file import LogContent

#: Bytes read at once: enough that a call costs little, few enough that they stay in the processor's cache.
_PIECE = 1 << 20

#: A longer line is in no log, and would have to be held in memory.
LONGEST_LINE = 64 << 20

#: Bytes at the beginning that are kept, to see later whether they still stand there.
_KEPT = 64 << 10

_NEWLINE = 10

#: Less room than this is not read into directly: a line would hardly fit.
_LEAST = 4 << 10


class WholeLines:
    """The lines of a log between two places, as many as fit a budget, and one more."""

    def __init__(self, content: LogContent, start: int, end: int, budget: int, last_line: bool) -> None:
        self._content, self._next, self._end = content, start, end
        self._budget, self._last_line = budget, last_line
        #: Read, but not given: lines that have an end, and one that has none yet.
        self._ready = memoryview(b"")
        self._begun: list[bytes] = []
        #: What was given, or is ready.
        self.bytes = self.lines = 0
        self.first = b""

    def read_into(self, target: memoryview) -> int:
        begun = sum(map(len, self._begun))
        if not self._ready and begun < len(target) - _LEAST:
            # Most lines go where they are wanted without a stop, and what is left of the last one waits.
            size = self._read(target[begun : begun + _PIECE])
            ends = _behind_last_newline(target[begun : begun + size])
            if ends:
                target[:begun] = b"".join(self._begun)
                self._begun = [bytes(target[begun + ends : begun + size])] if ends < size else []
                self._note(target[: begun + ends])
                return begun + ends
            if size:
                self._begin(bytes(target[begun : begun + size]))
        if not self._ready and not self.find():
            return 0
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def find(self) -> bool:
        """Whether there are more lines; some of them are then ready."""
        buffer: memoryview | None = None
        while not self._ready and self.bytes < self._budget:
            if self._next >= self._end:
                if self._last_line and self._begun:
                    self._give(b"")
                    continue
                break
            buffer = buffer or memoryview(bytearray(_PIECE))
            size = self._read(buffer)
            if not size:  # shorter than it was
                break
            ends = _behind_last_newline(buffer[:size])
            if ends:
                self._give(buffer[:ends])
            if ends < size:
                self._begin(bytes(buffer[ends:size]))
        return bool(self._ready)

    def _read(self, target: memoryview) -> int:
        room = min(len(target), self._end - self._next, self._budget)
        if self.bytes >= self._budget or room <= 0:
            return 0
        size = self._content.read_into(self._next, target[:room])
        self._next += size
        return size

    def _begin(self, piece: bytes) -> None:
        self._begun.append(piece)
        if sum(map(len, self._begun)) > LONGEST_LINE:
            raise RecordTooLong(LONGEST_LINE)

    def _give(self, rest: bytes | memoryview) -> None:
        whole = b"".join([*self._begun, rest])
        self._begun = []
        self._ready = memoryview(whole)
        self._note(self._ready)

    def _note(self, given: memoryview) -> None:
        self.bytes += len(given)
        # Several times faster than bytes.count, which stops at every line.
        self.lines += int(np.count_nonzero(np.frombuffer(given, np.uint8) == _NEWLINE))
        self.first = self.first or bytes(given[:_KEPT])


def _behind_last_newline(data: memoryview) -> int:
    """Where the last line ends that does; 0 where none does."""
    end = len(data)
    while end > 0:
        start = max(0, end - 4096)
        found = bytes(data[start:end]).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
