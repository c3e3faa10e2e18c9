"""Compare the known chunks of a large file where they stood before, from the last one on, beside a look that begins at
the first.

Contract: what it says of a chunk was read and hashed. The look does not depend on how far it comes, and it has ended
when it is left.

A log that grew is read and hashed as a whole, though nothing is new but its end: two cores take half the time.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType

import numpy as np
import xxhash

from incoop.base.content_ids import content_id
from incoop.inchdfs.cutting.chunk_table import EDGE, Rows

#: Less is compared in some 20 ms by one thread: another would hardly have begun.
_WORTH = 64 << 20

#: After so many chunks that are not where they were the others are taken to have moved, too.
_MOVED = 4


class Ahead:
    """A thread that compares known chunks; a context manager."""

    def __init__(self, fd: int, size: int, known: Rows) -> None:
        self._fd, self._size, self._known = fd, size, known
        lengths = known["length"].astype(np.int64)
        self._ends = np.cumsum(lengths)
        #: Where each chunk that stands where it stood begins. Filled by the thread, looked at by the other.
        self._standing: dict[int, int] = {}
        #: How far the look has come.
        self._behind = 0
        worth = len(known) > 1 and min(size, int(self._ends[-1])) >= _WORTH and (os.cpu_count() or 1) > 1
        self._thread = threading.Thread(target=self._compare, name="incoop-look", daemon=True) if worth else None

    def __enter__(self) -> Ahead:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._behind = len(self._known)
        if self._thread is not None:
            self._thread.join()

    def stands(self, position: int, index: int) -> bool:
        """Whether the known chunk is known to stand here; the look has come to it."""
        self._behind = index
        return self._standing.get(index, -1) == position

    def _compare(self) -> None:
        buffer = bytearray(int(self._known["length"].max()))
        moved = 0
        for index in range(len(self._known) - 1, -1, -1):
            if index <= self._behind or moved >= _MOVED:
                return
            try:
                if self._is_there(index, buffer):
                    self._standing[index] = int(self._ends[index]) - int(self._known["length"][index])
                else:
                    moved += 1
            except OSError:  # the look itself will meet it, and say so
                return

    def _is_there(self, index: int, buffer: bytearray) -> bool:
        id_, length, _, tail, _ = self._known[index].item()
        end = int(self._ends[index])
        if end > self._size:
            return False
        edge = min(EDGE, length)
        if xxhash.xxh3_64_intdigest(os.pread(self._fd, edge, end - edge)) != tail:
            return False
        with memoryview(buffer) as whole, whole[:length] as view:
            return bool(os.preadv(self._fd, [view], end - length) == length and content_id(view) == id_)
