"""Stretches: pieces of a chunk of some records each, by which a changed chunk is compared with the one before it.

Contract: stretches concatenate to the chunk and hold whole records; where one ends follows from its own bytes, but for
the last, which ends with the chunk. So what stands between two boundaries of stretches can be told to be as it was by
hash, whatever became of the rest: an edit changes one stretch, and nothing else of the chunk is looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.base.content_ids import content_id
from incoop.inchdfs.cutting.records import Buffer, Lines, RecordFormat
from incoop.inchdfs.cutting.rolling_hash import FASTCDC_LOOKAHEAD

#: Average bytes of a stretch. What an edit makes anew is one of them, searched for markers and cut into leaves: 4 KiB
#: at some 200 MB a second; what is kept of one is 20 bytes, a two-hundredth of the input.
AVERAGE = 4 << 10
_SMALLEST, _LARGEST = AVERAGE // 4, AVERAGE * 4

#: One row a stretch.
ROW = np.dtype([("length", "<u4"), ("id", "V16")])

#: With so many stretches that are not in it at the beginning, a chunk is another one.
_STRANGE = 16

#: A stretch that is not in the chunk before.
NEW = -1

Rows = npt.NDArray[Any]


def next_stretch(data: Buffer, start: int, end: int, form: RecordFormat) -> int:
    """Where the stretch ends that begins at `start` of a chunk, or of what is known of one, that ends at `end`."""
    with memoryview(data) as whole, whole[start : min(end, start + _LARGEST)] as view:
        length = next(_cutter().cut_buf(view)).length
    position = start + length + FASTCDC_LOOKAHEAD  # so that it depends on no byte behind it
    if position >= end:
        return end
    if isinstance(form, Lines):
        return data.find(b"\n", position - 1, end) + 1 or end
    after = form.ends_around(data, start, position, end)[1]
    return after if after >= 0 else end


@cache
def _cutter() -> Any:
    from pyfastcdc import FastCDC

    return FastCDC(AVERAGE, min_size=_SMALLEST, max_size=_LARGEST)


def stretch_ends(data: Buffer, form: RecordFormat, start: int = 0, end: int | None = None) -> Iterator[int]:
    """The ends of all stretches of a chunk, from one of their boundaries on."""
    end = len(data) if end is None else end
    while start < end:
        yield (start := next_stretch(data, start, end, form))


def stretch_rows(data: Buffer, ends: list[int]) -> Rows:
    """The stretches of a chunk as rows."""
    with memoryview(data) as view:
        return _rows(ends, [content_id(view[low:high]) for low, high in pairwise([0, *ends])])


def _rows(ends: list[int], ids: list[bytes]) -> Rows:
    rows = np.zeros(len(ends), ROW)
    rows["length"] = np.diff(ends, prepend=0)
    rows["id"] = np.frombuffer(b"".join(ids), "V16")
    return rows


@dataclass(frozen=True, slots=True)
class RecutPiece:
    """Some bytes of a chunk: a stretch, or several that stand side by side as they did."""

    length: int
    #: Where they stood in the chunk before; NEW for a stretch that was not in it.
    before: int
    #: The id of a stretch that is new.
    id: bytes = b""


@dataclass(frozen=True, slots=True)
class Recut:
    """A chunk by the one whose place it takes."""

    #: The id of that chunk.
    base: bytes
    pieces: tuple[RecutPiece, ...]


@dataclass(slots=True)
class StretchBook:
    """What is known of the stretches of chunks, by their ids."""

    #: The file that it is written to; a dataset's chunks have none.
    path: Path | None = None
    known: dict[bytes, Rows] = field(default_factory=dict)
    #: Chunks that were cut by others, since those were known.
    recuts: dict[bytes, Recut] = field(default_factory=dict)
    #: Whether there is more than there was.
    grew: bool = False

    def learn(self, chunk: bytes, rows: Rows, recut: Recut | None = None) -> None:
        self.known[chunk] = rows
        if recut is not None:
            self.recuts[chunk] = recut
        self.grew = True


@dataclass(frozen=True, slots=True)
class KnownStretches:
    """A chunk's stretches as rows, to find them again; the last one, which its chunk ended, is not looked for."""

    lengths: list[int]
    ids: list[bytes]
    starts: npt.NDArray[np.int64]
    #: Where each stands; the last of those that are equal.
    place: dict[bytes, int]

    @classmethod
    def of(cls, rows: Rows) -> KnownStretches:
        lengths, ids = rows["length"].tolist(), rows["id"].tolist()
        starts = np.cumsum(rows["length"], dtype=np.int64) - rows["length"]
        return cls(lengths, ids, starts, dict(zip(ids[:-1], range(len(ids) - 1), strict=False)))

    def first(self, id_: bytes, least: int) -> int:
        """The first stretch of this id from a place on; NEW where there is none. Each is found once at most."""
        last = self.place.get(id_, NEW)
        if last < least or len(self.place) == len(self.ids) - 1:
            return last if last >= least else NEW
        return self.ids.index(id_, least)


@dataclass(slots=True)
class Aligned:
    """New bytes beside a known chunk, stretch by stretch."""

    known: KnownStretches
    ends: list[int]
    ids: list[bytes]
    #: Which of the known stretches each one is, NEW for none.
    places: list[int]

    def unmarked(self, searched_from: int, window: int) -> list[tuple[int, int]]:
        """Ranges of positions, ascending, at which no marker can end: the same bytes had none before.

        Positions before `searched_from` of the known chunk were never looked at; a marker is decided by the `window`
        bytes before it. The known chunk's own marker is in its last stretch, which is not aligned.
        """
        found: list[tuple[int, int]] = []
        for first, last in _side_by_side(np.array(self.places, np.int64)):
            if (place := self.places[first]) >= 0:
                low = self.ends[first - 1] if first else 0
                low += max(window if low else 0, searched_from - int(self.known.starts[place]))
                high = self.ends[last - 1] + 1
                if low < high:
                    found.append((low, high))
        return found

    def until(self, data: Buffer, end: int, form: RecordFormat) -> tuple[Rows, tuple[RecutPiece, ...]]:
        """The stretches of the chunk that ends at `end`, and what became of the known ones."""
        count = len([each for each in self.ends if each <= end])
        ends, ids, places = self.ends[:count], self.ids[:count], self.places[:count]
        last = ends[-1] if ends else 0
        more = list(stretch_ends(data, form, last, end))
        with memoryview(data) as view:
            for at in more:
                ids.append(content_id(view[last:at]))
                last = at
        ends += more
        places += [NEW] * len(more)
        bounds = [0, *ends]
        pieces = tuple(
            RecutPiece(bounds[last] - bounds[first], int(self.known.starts[places[first]]))
            if places[first] >= 0
            else RecutPiece(bounds[last] - bounds[first], NEW, ids[first])
            for first, last in _side_by_side(np.array(places, np.int64))
        )
        return _rows(ends, ids), pieces


def _side_by_side(places: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of stretches that are known ones which follow each other, or a single one that is new."""
    breaks = np.flatnonzero((places[1:] != places[:-1] + 1) | (places[1:] < 0) | (places[:-1] < 0)) + 1
    return pairwise([0, *breaks.tolist(), len(places)]) if len(places) else iter(())


def align(data: Buffer, end: int, known: KnownStretches, form: RecordFormat) -> Aligned:
    """Find the known stretches among the bytes of `data[:end]`, which begin a chunk; each once, in their order.

    (1) The one that stood as far behind the last that was found is compared by hash;
    (2) else a stretch is cut, and looked for by its hash;
    (3) until all are found, or too little of the bytes is left to say where one ends, or it seems that none is there.
    """
    ends: list[int] = []
    ids: list[bytes] = []
    places: list[int] = []
    digest, lengths, known_ids = content_id, known.lengths, known.ids
    last, at, least, strange = len(lengths) - 1, 0, 0, 0
    with memoryview(data) as view:
        while at < end and least < last and (least or strange < _STRANGE):
            guess = min(least + strange, last - 1)
            stop = at + lengths[guess]
            if stop <= end and digest(view[at:stop]) == known_ids[guess]:  # step (1)
                place, id_ = guess, known_ids[guess]
            else:
                stop = next_stretch(data, at, end, form)  # step (2)
                if stop >= end:
                    break  # step (3)
                id_ = digest(view[at:stop])
                place = known.first(id_, least)
            ends.append(stop)
            ids.append(id_)
            places.append(place)
            at = stop
            least, strange = (place + 1, 0) if place >= 0 else (least, strange + 1)
    return Aligned(known, ends, ids, places)
