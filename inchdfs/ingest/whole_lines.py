"""Read whole lines of a log, from one place to another.

Contract: what is given ends with the end of a line, or with the log where that has ended. A line is held in memory
until its end is found, and refused where that is too far away.
"""

from __future__ import annotations

from incoop.inchdfs.errors import RecordTooLong
from incoop.inchdfs.ingest.log_file import LogContent

#: Bytes read at once: enough that a call costs nothing beside them.
_PIECE = 1 << 20

#: A longer line is in no log, and would have to be held in memory.
LONGEST_LINE = 64 << 20

#: Bytes at the beginning that are kept, to see later whether they still stand there.
_KEPT = 64 << 10


class WholeLines:
    """The lines of a log between two places, as many as fit a budget, and one more."""

    def __init__(self, content: LogContent, start: int, end: int, budget: int, last_line: bool) -> None:
        self._content, self._start, self._next, self._end = content, start, start, end
        self._budget, self._last_line = budget, last_line
        self._ready = memoryview(b"")
        #: A line that has no end yet.
        self._begun: list[bytes] = []
        #: What was given, or can be.
        self.bytes = self.lines = 0
        self.first = b""

    def read_into(self, target: memoryview) -> int:
        if not self._ready and not self.find():
            return 0
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def find(self) -> bool:
        """Whether there are more lines; some of them are then at hand."""
        while not self._ready and self.bytes < self._budget:
            if self._next >= self._end:
                if self._last_line and self._begun:
                    self._give(b"")
                    continue
                break
            piece = self._content.read_at(self._next, min(_PIECE, self._end - self._next, self._budget))
            if not piece:  # shorter than it was
                break
            self._next += len(piece)
            ends = piece.rfind(b"\n") + 1
            if ends:
                self._give(piece[:ends])
            if ends < len(piece):
                self._begun.append(piece[ends:])
                if sum(map(len, self._begun)) > LONGEST_LINE:
                    raise RecordTooLong(LONGEST_LINE)
        return bool(self._ready)

    def _give(self, rest: bytes) -> None:
        whole = b"".join([*self._begun, rest])
        self._begun = []
        self._ready = memoryview(whole)
        self.bytes += len(whole)
        self.lines += whole.count(b"\n")
        self.first = self.first or whole[:_KEPT]
