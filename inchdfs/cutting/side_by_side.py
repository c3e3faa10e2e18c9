"""Look at a file that changed everywhere in several places at once, each part from where a known chunk seems to begin.

Contract: the chunks are those of `resync`. Where a chunk ends depends on nothing before it, so what was found from a
guessed boundary on is true as soon as the look from the file's beginning comes to one of the boundaries found there; a
wrong guess costs time. Without helpers, or when one is lost, the look goes on alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
import xxhash

from incoop.inchdfs.cutting.chunk_table import EDGE, Chunk, Rows, chunks_of, rows_of
from incoop.inchdfs.cutting.records import Lines, RecordFormat
from incoop.inchdfs.cutting.resync import resync
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.splitter import Splitter
from incoop.inchdfs.cutting.stretches import Recut, StretchBook
from incoop.inchdfs.cutting.stretches import Rows as Stretches

#: After so many chunks that changed, others probably did, too. One inserted line changes one or two.
_CHANGED = 4

#: Bytes that a helper should have to look at: these take 40 ms, what it is sent and sends back some 5.
_WORTH = 16 << 20

#: All that is known of the file's chunks travels to each helper.
_KNOWN = 100_000

#: How far from where it is expected a chunk's beginning is looked for, and how many chunks are.
_NEAR, _FURTHEST, _TRIES = 16 << 10, 1 << 20, 8


class LookAnswer(Protocol):
    """What a helper is at."""

    def wait(self) -> Any:
        """What it gave; None where it was lost, or failed."""

    def drop(self) -> None:
        """Nobody waits for it any more."""


class LookHelpers(Protocol):
    """Processes that can be given something to do besides."""

    def ready(self) -> int:
        """How many there are."""

    def begin(self, function: Callable[[Any], Any], item: Any) -> LookAnswer | None:
        """Let one begin; None where none can."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A byte range of a changed file, and what is known of it."""

    path: str
    size: int
    start: int
    stop: int
    #: All chunks of the version before, and the one that seems to begin at the start.
    known: Rows
    index: int
    settings: ChunkSettings
    records: RecordFormat
    stretches: dict[bytes, Stretches]


@dataclass(frozen=True, slots=True)
class FilePartFound:
    """The chunks from a part's start on, until one ended at or behind its stop; and what became known of them."""

    rows: bytes
    stretches: dict[bytes, tuple[Stretches, Recut]]


def look_at_part(part: FilePart) -> FilePartFound:
    """Look at one part, wherever this is."""
    book = StretchBook(known=dict(part.stretches))
    found: list[Chunk] = []
    begin = part.start, part.index
    splitter = Splitter(part.settings, part.records)
    for chunk, _ in resync(Path(part.path), part.size, part.known, splitter, stretches=book, begin=begin):
        found.append(chunk)
        if chunk.end >= part.stop:
            break
    learned = {chunk: (book.known[chunk], recut) for chunk, recut in book.recuts.items()}
    return FilePartFound(rows_of(found).tobytes(), learned)


class SideBySide:
    """The parts of one file that helpers look at; a context manager, so that none is waited for in vain."""

    def __init__(
        self, path: Path, size: int, known: Rows, splitter: Splitter, book: StretchBook, helpers: LookHelpers | None
    ) -> None:
        self._path, self._size, self._known, self._splitter, self._book = path, size, known, splitter, book
        # Where a record may begin can be said without its chunk's beginning for lines only.
        fit = type(splitter.records) is Lines and len(known) <= _KNOWN
        self._helpers = helpers if fit and size >= 2 * _WORTH else None
        self._changed = 0
        self._parts: list[tuple[FilePart, LookAnswer]] = []
        #: The chunks of the first part, by where they begin, once it was waited for.
        self._found: dict[int, int] | None = None
        self._rows: Rows = known[:0]

    def __enter__(self) -> SideBySide:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for _, answer in self._parts:
            answer.drop()
        self._parts = []

    def changed(self, position: int, index: int) -> None:
        """The look stands at `position`, behind a chunk that changed; the known one at `index` is next."""
        self._changed += 1
        if self._helpers is None or self._changed < _CHANGED:
            return
        count = min(self._helpers.ready(), (self._size - position) // _WORTH - 1)
        if self._size - position < 2 * _WORTH:
            self._helpers = None
        if self._helpers is None or count < 1 or not 0 <= index < len(self._known):
            return
        starts = self._starts(position, index, count)
        ends = [*starts, (self._size, len(self._known))][1:]
        for (start, first), (stop, behind) in zip(starts, ends, strict=True):
            part = self._part(start, stop, first, behind)
            answer = self._helpers.begin(look_at_part, part)
            if answer is not None:
                self._parts.append((part, answer))
        self._helpers = None

    def at(self, position: int) -> tuple[list[Chunk], int] | None:
        """The chunks from `position` on, where a helper found that one begins there, and the known one behind them."""
        while self._parts and position >= self._parts[0][0].start:
            part, answer = self._parts[0]
            if self._found is None:
                self._take(part, answer.wait())
            assert self._found is not None
            if position in self._found:
                chunks = _moved(self._rows[self._found[position] :], position)
                self._next()
                return chunks, self._parts[0][0].index if self._parts else len(self._known)
            if self._found and position < part.stop:
                return None
            self._next()
        return None

    def _next(self) -> None:
        del self._parts[0]
        self._found = None

    def _take(self, part: FilePart, answer: Any) -> None:
        if not isinstance(answer, FilePartFound):
            self._found = {}
            return
        self._rows = np.frombuffer(answer.rows, self._known.dtype)
        starts = part.start + np.cumsum(self._rows["length"], dtype=np.int64) - self._rows["length"]
        self._found = dict(zip(starts.tolist(), range(len(starts)), strict=True))
        for chunk, (rows, recut) in answer.stretches.items():
            self._book.learn(chunk, rows, recut)

    def _part(self, start: int, stop: int, index: int, behind: int) -> FilePart:
        near = self._known["id"][max(0, index - 2) : behind + 2].tolist()  # a chunk or two may have become one
        book = {id_: self._book.known[id_] for id_ in near if id_ in self._book.known}
        settings, records = self._splitter.settings, self._splitter.records
        return FilePart(
            str(self._path.absolute()), self._size, start, stop, self._known, index, settings, records, book
        )

    def _starts(self, position: int, index: int, count: int) -> list[tuple[int, int]]:
        """Where to begin, and with which of the known chunks: in places that share out what is left."""
        lengths = self._known["length"].astype(np.int64)
        before = np.cumsum(lengths) - lengths
        first, total = int(before[index]), int(lengths.sum())
        moved = sorted([position - first, self._size - total])
        found: list[tuple[int, int]] = []
        with self._path.open("rb", buffering=0) as file:
            for number in range(1, count + 1):
                wanted = first + (total - first) * number // (count + 1)
                begin = max(int(np.searchsorted(before, wanted)), found[-1][1] + 1 if found else index + 1)
                for which in range(begin, min(begin + _TRIES, len(lengths))):
                    low = max(int(before[which]) + moved[0] - _NEAR, position + 1)
                    high = min(int(before[which]) + moved[1] + _NEAR, low + _FURTHEST)
                    place = _beginning(file.fileno(), low, high, int(self._known["head"][which]))
                    if place is not None and place > (found[-1][0] if found else position):
                        found.append((place, which))
                        break
        return found


def _beginning(fd: int, low: int, high: int, head: int) -> int | None:
    """Where a line begins, between two places, with the bytes of this hash."""
    data = os.pread(fd, high - low + EDGE, low)
    at, digest = data.find(b"\n") + 1, xxhash.xxh3_64_intdigest
    while 0 < at < high - low:
        if digest(data[at : at + EDGE]) == head:
            return low + at
        at = data.find(b"\n", at) + 1
    return None


def _moved(rows: Rows, offset: int) -> list[Chunk]:
    return [
        Chunk(each.offset + offset, each.length, each.id, each.head, each.tail, each.closed) for each in chunks_of(rows)
    ]


def chunks_beside(
    path: Path,
    size: int,
    known: Rows,
    splitter: Splitter,
    in_parallel: Callable[[int], Iterator[Chunk] | None],
    stretches: StretchBook,
    helpers: LookHelpers | None,
) -> Iterator[tuple[Chunk, memoryview | None]]:
    """`resync`, with helpers."""
    with SideBySide(path, size, known, splitter, stretches, helpers) as beside:
        yield from resync(path, size, known, splitter, in_parallel, stretches, beside=beside)
