"""Re-chunk a changed file: verify what is known at memory speed, search only where the content differs.

Contract: the chunks are exactly those of a run from scratch. A known chunk is accepted at a boundary when its bytes
stand there and its cut depends on them alone (or the input ends with it, as it did before): then the chunker, which
remembers nothing across a boundary, would cut there too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from inchdfs.chunk_table import EDGE, Chunk, Rows
from inchdfs.errors import FileChangedWhileRead
from inchdfs.records import RecordFormat
from inchdfs.settings import ChunkSettings
from inchdfs.splitter import Splitter

#: Known chunks with the same first bytes that are tried at one place. Inputs with long identical headers have many;
#: the one after the last match is tried first and is nearly always right.
_TRIES = 4


def resync(path: Path, size: int, known: Rows, settings: ChunkSettings, records: RecordFormat) -> Iterator[Chunk]:
    """Give the chunks of `path`, using the `known` rows of an earlier version of it.

    At each boundary:
    (1) the known chunk that follows the last match is compared by hash,
    (2) else those that begin with the same bytes (content that moved),
    (3) else the next cut is searched, and the walk goes on behind it.
    """
    candidates = _Candidates(known)
    buffer = memoryview(bytearray(int(known["length"].max(initial=EDGE))))
    splitter = Splitter(settings, records)
    position, expected = 0, 0
    with path.open("rb", buffering=0) as file:
        fd = file.fileno()
        while position < size:
            match = _verify(fd, position, size, candidates, expected, buffer)  # step (1)
            if match is None:
                head = xxhash.xxh3_64_intdigest(os.pread(fd, EDGE, position))
                for index in candidates.beginning_with(head, expected):  # step (2)
                    match = _verify(fd, position, size, candidates, index, buffer)
                    if match is not None:
                        expected = index
                        break
            if match is None:  # step (3)
                file.seek(position)
                match = next((chunk for chunk, _ in splitter.split(file.readinto, position)), None)
                if match is None:
                    raise FileChangedWhileRead(str(path))
            yield match
            position = match.end
            expected += 1


class _Candidates:
    """The known rows, findable by the hash of their first bytes."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._order: npt.NDArray[np.intp] | None = None
        self._sorted_heads: npt.NDArray[np.uint64] = np.empty(0, np.uint64)

    def beginning_with(self, head: int, expected: int) -> list[int]:
        """Indices of known chunks with this head, the nearest behind `expected` first."""
        if self._order is None:  # most files have no change at all: sort on the first one
            self._order = np.argsort(self.rows["head"], kind="stable")
            self._sorted_heads = self.rows["head"][self._order]
        key = np.uint64(head)
        low = int(np.searchsorted(self._sorted_heads, key, side="left"))
        high = int(np.searchsorted(self._sorted_heads, key, side="right"))
        equal = self._order[low:high]
        nearest = int(np.searchsorted(equal, expected))
        return [int(index) for index in np.roll(equal, -nearest)[:_TRIES]]


def _verify(fd: int, position: int, size: int, known: _Candidates, index: int, buffer: memoryview) -> Chunk | None:
    """The known chunk `index` at `position`, if its bytes stand there and its cut holds there."""
    if index >= len(known.rows):
        return None
    id_, length, head, tail, closed = known.rows[index].item()
    end = position + length
    ends_both = end == size and index == len(known.rows) - 1
    if end > size or not (closed or ends_both):
        return None
    view = buffer[:length]
    if os.preadv(fd, [view], position) != length or xxhash.xxh3_128_digest(view) != id_:
        return None
    return Chunk(position, length, id_, head, tail, closed)
