"""Re-chunk a changed file: verify what is known at memory speed, search only where the content differs.

Contract: the chunks are exactly those of a run from scratch. A known chunk is accepted at a boundary when the bytes
that decided its cut stand there: its own when it is closed, else also those behind it. Then the chunker, which
remembers nothing across a boundary, would cut there too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from incoop.base.content_ids import content_id
from incoop.inchdfs.cutting.chunk_table import EDGE, Chunk, Rows
from incoop.inchdfs.cutting.splitter import Splitter
from incoop.inchdfs.errors import FileChangedWhileRead

#: Known chunks with the same first bytes that are tried at one place. Inputs with long identical headers have many;
#: the one after the last match is tried first and is nearly always right.
_TRIES = 4

#: Bytes to search before it is thought of doing it in parallel: less is done before other processes have begun.
_SEARCHED_ALONE = 16 << 20


def resync(
    path: Path,
    size: int,
    known: Rows,
    splitter: Splitter,
    in_parallel: Callable[[int], Iterator[Chunk] | None] = lambda _: None,
) -> Iterator[tuple[Chunk, memoryview | None]]:
    """Give the chunks of `path` with their bytes, using the `known` rows of an earlier version of it.

    At each boundary:
    (1) the known chunk that follows the last match is compared by hash,
    (2) else those that begin with the same bytes (content that moved),
    (3) else cuts are searched, until a known chunk stands at one of them.
    (4) Where more was searched than found, and it pays, the rest is cut `in_parallel`, and comes without bytes.

    The bytes are valid until the next chunk is asked for.
    """
    with path.open("rb", buffering=0) as file:
        candidates = _Candidates(file.fileno(), size, known, splitter.settings.maximum)
        position = expected = searched = 0
        while position < size:
            while (index := candidates.find(position, expected)) is not None:  # steps (1), (2)
                chunk, view = candidates.chunk(position, index)
                yield chunk, view
                position, expected = chunk.end, index + 1
            if position == size:
                return
            file.seek(position)
            for chunk, view in splitter.split(file.readinto, position):  # step (3)
                yield chunk, view
                position, expected = chunk.end, expected + 1
                searched += chunk.length
                if searched > max(_SEARCHED_ALONE, position // 2) and (rest := in_parallel(position)) is not None:
                    yield from ((each, None) for each in rest)  # step (4)
                    return
                if candidates.find(position, expected) is not None:
                    break
            else:
                if position != size:
                    raise FileChangedWhileRead(str(path))


class _Candidates:
    """The known rows, compared with what stands in the file now."""

    def __init__(self, fd: int, size: int, rows: Rows, maximum: int) -> None:
        self._fd, self._size, self._rows, self._maximum = fd, size, rows, maximum
        self._buffer = memoryview(bytearray(int(rows["length"].max(initial=EDGE))))
        self._order: npt.NDArray[np.intp] | None = None
        self._sorted_heads: npt.NDArray[np.uint64] = np.empty(0, np.uint64)

    def find(self, position: int, expected: int) -> int | None:
        """The known chunk that a run from scratch would cut at `position`, if it is certain; its bytes are read."""
        if self._holds(position, expected):
            return expected
        head = xxhash.xxh3_64_intdigest(os.pread(self._fd, EDGE, position))
        return next((index for index in self._beginning_with(head, expected) if self._holds(position, index)), None)

    def chunk(self, position: int, index: int) -> tuple[Chunk, memoryview]:
        """The chunk that was just found, and its bytes."""
        id_, length, head, tail, closed = self._rows[index].item()
        return Chunk(position, length, id_, head, tail, closed), self._buffer[:length]

    def _holds(self, position: int, index: int) -> bool:
        """Whether the bytes that decided the cut of known chunk `index` stand here; leaves its own in the buffer."""
        if index >= len(self._rows):
            return False
        last = index == len(self._rows) - 1
        end = position + int(self._rows["length"][index])
        if end == self._size:
            # Where the input ends decides too: only a chunk that ended it before is sure to do so again.
            return last and self._stands(position, index)
        if not self._rows["closed"][index] and (last or not self._goes_on(end, position + self._maximum, index)):
            return False
        return self._stands(position, index)

    def _goes_on(self, position: int, reach: int, index: int) -> bool:
        """Whether the known chunks behind `index` stand here too, until behind `reach`.

        A cut that had to step back to the record before depends on the bytes up to the maximum size.
        """
        while position <= reach:
            index += 1
            if index >= len(self._rows) or not self._stands(position, index):
                return False
            position += int(self._rows["length"][index])
        return True

    def _stands(self, position: int, index: int) -> bool:
        length = int(self._rows["length"][index])
        if position + length > self._size:
            return False
        view = self._buffer[:length]
        return os.preadv(self._fd, [view], position) == length and content_id(view) == bytes(self._rows["id"][index])

    def _beginning_with(self, head: int, expected: int) -> list[int]:
        """Indices of known chunks with this head, the nearest behind `expected` first."""
        if self._order is None:  # most files have no change at all: sort on the first one
            self._order = np.argsort(self._rows["head"], kind="stable")
            self._sorted_heads = self._rows["head"][self._order]
        key = np.uint64(head)
        low = int(np.searchsorted(self._sorted_heads, key, side="left"))
        high = int(np.searchsorted(self._sorted_heads, key, side="right"))
        equal = self._order[low:high]
        nearest = int(np.searchsorted(equal, expected))
        return [int(index) for index in np.roll(equal, -nearest)[:_TRIES]]
