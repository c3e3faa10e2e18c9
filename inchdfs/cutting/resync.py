"""Re-chunk a changed file: verify what is known at memory speed, search only where the content differs.

Contract: the chunks are exactly those of a run from scratch. A known chunk is accepted at a boundary when the bytes
that decided its cut stand there: its own when it is closed, else also those behind it. Then the chunker, which
remembers nothing across a boundary, would cut there too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import xxhash

from incoop.base.content_ids import content_id
from incoop.inchdfs.cutting.ahead import Ahead
from incoop.inchdfs.cutting.chunk_table import EDGE, Chunk, Rows, describe
from incoop.inchdfs.cutting.settings import WINDOW
from incoop.inchdfs.cutting.splitter import Splitter
from incoop.inchdfs.cutting.stretches import KnownStretches, Recut, StretchBook, align
from incoop.inchdfs.errors import FileChangedWhileRead

#: Known chunks with the same first bytes that are tried at one place. Inputs with long identical headers have many;
#: the one after the last match is tried first and is nearly always right.
_TRIES = 4

#: Where the known chunk is looked for that takes part in a new one, from where it is expected.
_NEAR = (0, 1, -1, 2)

#: A chunk is expected to grow by less than this; one that grew by more is searched as a whole.
_GROWN = 64 << 10

#: Bytes to search before it is thought of doing it in parallel: less is done before other processes have begun.
_SEARCHED_ALONE = 16 << 20


def resync(
    path: Path,
    size: int,
    known: Rows,
    splitter: Splitter,
    in_parallel: Callable[[int], Iterator[Chunk] | None] = lambda _: None,
    stretches: StretchBook | None = None,
    begin: tuple[int, int] = (0, 0),
    beside: Beside | None = None,
) -> Iterator[tuple[Chunk, memoryview | None]]:
    """Give the chunks of `path` with their bytes, using the `known` rows of an earlier version of it.

    At each boundary:
    (1) the known chunk that follows the last match is compared by hash,
    (2) else those that begin with the same bytes (content that moved),
    (3) else the cut is searched where the bytes are not those of the known chunk at this place, by its `stretches`,
    (4) else everywhere, until a known chunk stands at a cut, or one whose stretches are known follows.
    (5) Where more was searched than found, and it pays, the rest is cut `in_parallel`, and comes without bytes.
    (6) What others found `beside` is taken where its boundaries are met; it comes without bytes, too.

    A known chunk that was compared `ahead`, by another thread, comes without bytes. The others are valid until the next
    chunk is asked for. The look may `begin` elsewhere: where a chunk does, and the known one at an index seems to.
    """
    standing = known if begin == (0, 0) else known[:0]  # who begins elsewhere looks at a part, beside others
    with path.open("rb", buffering=0) as file, Ahead(file.fileno(), size, standing) as ahead:
        window = _Window(file.fileno(), size)
        candidates = _Candidates(window, known, splitter.settings.maximum, ahead)
        changed = _Changed(window, known, splitter, stretches if stretches is not None else StretchBook())
        beside = beside if beside is not None else _Alone()
        (position, expected), searched = begin, 0
        while position < size:
            if (others := beside.at(position)) is not None:  # step (6)
                chunks, expected = others
                for chunk in chunks:
                    yield chunk, None
                    position = chunk.end
                continue
            if (index := candidates.find(position, expected)) is not None:  # steps (1), (2)
                chunk, view = candidates.chunk(position, index)
                yield chunk, view
                position, expected = chunk.end, index + 1
                continue
            if (found := changed.find(position, expected)) is not None:  # step (3)
                chunk, view, index = found
                yield chunk, view
                position, expected = chunk.end, index + 1
                beside.changed(position, expected)
                continue
            file.seek(position)
            for chunk, view in splitter.split(file.readinto, position):  # step (4)
                yield chunk, view
                position, expected = chunk.end, expected + 1
                searched += chunk.length
                if searched > max(_SEARCHED_ALONE, position // 2) and (rest := in_parallel(position)) is not None:
                    yield from ((each, None) for each in rest)  # step (5)
                    return
                if candidates.find(position, expected) is not None or changed.may_be_at(expected):
                    break
            else:
                if position != size:
                    raise FileChangedWhileRead(str(path))


class Beside(Protocol):
    """Others that look at parts of the same file (side_by_side.py)."""

    def at(self, position: int) -> tuple[list[Chunk], int] | None:
        """The chunks from a boundary on, if they have them; and which of the known ones seems to follow."""

    def changed(self, position: int, index: int) -> None:
        """A chunk that changed ends at `position`; the known one at `index` seems to follow."""


class _Alone:
    """Nobody."""

    def at(self, position: int) -> None:
        return None

    def changed(self, position: int, index: int) -> None:
        pass


class _Window:
    """What was last read of a file. It may be asked for more than once at a place: a known chunk is tried, or two."""

    def __init__(self, fd: int, size: int) -> None:
        self._fd, self.size = fd, size
        self._data = bytearray()
        self._begin = self._end = 0

    def read(self, position: int, length: int) -> tuple[bytearray, int]:
        """Memory that begins with the bytes from a position on; and how many of those wanted are there."""
        length = min(length, self.size - position)
        if position != self._begin or position + length > self._end:
            if len(self._data) < length + _GROWN:
                self._data = bytearray(length + _GROWN)
            with memoryview(self._data) as view:
                got = os.preadv(self._fd, [view[: length + _GROWN]], position)
            self._begin, self._end = position, position + got
        return self._data, min(length, self._end - self._begin)


class _Changed:
    """Chunks by the known ones whose places they take: only what is not as it was is searched for a cut."""

    def __init__(self, window: _Window, rows: Rows, splitter: Splitter, book: StretchBook) -> None:
        self._window, self._rows, self._splitter, self._book = window, rows, splitter, book

    def may_be_at(self, index: int) -> bool:
        """Whether the stretches of a known chunk are known."""
        return 0 <= index < len(self._rows) and bytes(self._rows["id"][index]) in self._book.known

    def find(self, position: int, expected: int) -> tuple[Chunk, memoryview, int] | None:
        """The chunk at `position`, if it is certain, by the known one that it has stretches of, and where that is.

        That is the `expected` one, or one beside it, where chunks became one or several.
        """
        near = (expected + step for step in _NEAR)
        found = ((self._chunk(position, index), index) for index in near if self.may_be_at(index))
        return next(((*each, index) for each, index in found if each is not None), None)

    def _chunk(self, position: int, index: int) -> tuple[Chunk, memoryview] | None:
        base = bytes(self._rows["id"][index])
        settings, records = self._splitter.settings, self._splitter.records
        data, end = self._window.read(position, int(self._rows["length"][index]) + _GROWN)
        aligned = align(data, end, KnownStretches.of(self._book.known[base]), records)
        if not any(place >= 0 for place in aligned.places):
            return None
        with memoryview(data) as whole, whole[: min(end, settings.maximum)] as view:
            proposed = self._splitter.finder.first_marker(view, aligned.unmarked(settings.minimum, WINDOW))
            if proposed == len(view):
                return None  # perhaps there is one behind what was read
        cut = records.ends_around(data, 0, proposed, end)[1]
        if not 0 <= cut <= settings.maximum:
            return None
        rows, pieces = aligned.until(data, cut, records)
        view = memoryview(data)[:cut]
        chunk = describe(view, position, closed=True)
        self._book.learn(chunk.id, rows, Recut(base, pieces))
        return chunk, view


class _Candidates:
    """The known rows, compared with what stands in the file now."""

    def __init__(self, window: _Window, rows: Rows, maximum: int, ahead: Ahead) -> None:
        self._window, self._rows, self._maximum, self._ahead = window, rows, maximum, ahead
        self._order: npt.NDArray[np.intp] | None = None
        self._sorted_heads: npt.NDArray[np.uint64] = np.empty(0, np.uint64)

    def find(self, position: int, expected: int) -> int | None:
        """The known chunk that a run from scratch would cut at `position`, if it is certain; its bytes are read."""
        if self._holds(position, expected):
            return expected
        data, end = self._window.read(position, EDGE)
        head = xxhash.xxh3_64_intdigest(data[:end])
        others = (index for index in self._beginning_with(head, expected) if index != expected)
        return next((index for index in others if self._holds(position, index)), None)

    def chunk(self, position: int, index: int) -> tuple[Chunk, memoryview | None]:
        """The chunk that was just found, and its bytes, if they were read for that."""
        id_, length, head, tail, closed = self._rows[index].item()
        chunk = Chunk(position, length, id_, head, tail, closed)
        if self._ahead.stands(position, index):
            return chunk, None
        data, _ = self._window.read(position, length)
        return chunk, memoryview(data)[:length]

    def _holds(self, position: int, index: int) -> bool:
        """Whether the bytes that decided the cut of known chunk `index` stand here; leaves its own in the buffer."""
        if index >= len(self._rows):
            return False
        last = index == len(self._rows) - 1
        end = position + int(self._rows["length"][index])
        if end == self._window.size:
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
        if position + length > self._window.size:
            return False
        if self._ahead.stands(position, index):
            return True
        data, end = self._window.read(position, length)
        with memoryview(data) as view, view[:length] as found:
            # What comes or goes in a chunk moves its last bytes: most others are told apart by these.
            as_it_ended = end == length and xxhash.xxh3_64_intdigest(found[-EDGE:]) == int(self._rows["tail"][index])
            return as_it_ended and content_id(found) == bytes(self._rows["id"][index])

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
