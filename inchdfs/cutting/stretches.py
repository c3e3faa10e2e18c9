"""Stretches: pieces of a chunk of some records each, by which a changed chunk is compared with the one before it.

Contract: stretches concatenate to the chunk and hold whole records; where one ends follows from its own bytes, but for
the last, which ends with the chunk. So what stands between two boundaries of stretches can be told to be as it was by
hash, whatever became of the rest: an edit changes one stretch, and nothing else of the chunk is looked at again.
"""

from __future__ import annotations

from bisect import bisect_right
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

#: One row a stretch; the last field is the id of the band of stretches that begins with it, zeros where none does.
ROW = np.dtype([("length", "<u4"), ("id", "V16"), ("band", "V16")])
_NO_BAND = bytes(16)

#: A band ends behind a stretch of which these bits of the id are 0, so with four stretches on average. It is compared
#: first, all at once: a hash of 16 KiB takes one and a half times as long as one of 4 KiB.
_BAND_BITS = 3

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
        ids = [content_id(view[low:high]) for low, high in pairwise([0, *ends])]
        bands = [content_id(view[ends[first - 1] if first else 0 : ends[last - 1]]) for first, last in _banded(ids)]
    return _rows(ends, ids, bands)


def _banded(ids: list[bytes]) -> list[tuple[int, int]]:
    """The bands of stretches with these ids: where each begins and ends among them."""
    return list(pairwise([0, *(at for at, id_ in enumerate(ids, 1) if not id_[0] & _BAND_BITS or at == len(ids))]))


def _rows(ends: list[int], ids: list[bytes], bands: list[bytes]) -> Rows:
    rows = np.zeros(len(ends), ROW)
    rows["length"] = np.diff(ends, prepend=0)
    rows["id"] = np.frombuffer(b"".join(ids), "V16")
    rows["band"][[first for first, _ in _banded(ids)]] = np.frombuffer(b"".join(bands), "V16")
    return rows


@dataclass(frozen=True, slots=True)
class RecutPieces:
    """The bytes of a chunk in pieces: stretches that are new, and between them those that stand as they did."""

    lengths: tuple[int, ...]
    #: Where each stood in the chunk before; NEW for a stretch that was not in it.
    before: tuple[int, ...]
    #: The ids of those that are new.
    ids: tuple[bytes, ...]

    @property
    def new_bytes(self) -> int:
        """How much is new."""
        return sum(length for length, before in zip(self.lengths, self.before, strict=True) if before == NEW)


@dataclass(frozen=True, slots=True)
class Recut:
    """A chunk by the one whose place it takes."""

    #: The id of that chunk.
    base: bytes
    pieces: RecutPieces


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
class KnownBand:
    """Some known stretches, compared at once."""

    #: Behind which of them it ends, its bytes, and their id.
    behind: int
    length: int
    id: bytes


@dataclass(frozen=True, slots=True)
class KnownStretches:
    """A chunk's stretches as rows, to find them again; the last one, which its chunk ended, is not looked for."""

    lengths: list[int]
    ids: list[bytes]
    #: Where they begin, and the end of the last.
    bounds: list[int]
    #: Where each stands; the last of those that are equal.
    place: dict[bytes, int]
    #: The bands, by the stretch with which they begin; without the last, which the chunk ended.
    bands: dict[int, KnownBand]

    @classmethod
    def of(cls, rows: Rows) -> KnownStretches:
        lengths, ids, bands = rows["length"].tolist(), rows["id"].tolist(), rows["band"].tolist()
        bounds = [0, *np.cumsum(rows["length"], dtype=np.int64).tolist()]
        begins = [at for at, id_ in enumerate(bands) if id_ != _NO_BAND]
        known = {
            first: KnownBand(behind, bounds[behind] - bounds[first], bands[first]) for first, behind in pairwise(begins)
        }
        return cls(lengths, ids, bounds, dict(zip(ids[:-1], range(len(ids) - 1), strict=False)), known)

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
                low += max(window if low else 0, searched_from - self.known.bounds[place])
                high = self.ends[last - 1] + 1
                if low < high:
                    found.append((low, high))
        return found

    def until(self, data: Buffer, end: int, form: RecordFormat) -> tuple[Rows, RecutPieces]:
        """The stretches of the chunk that ends at `end`, and what became of the known ones."""
        count = bisect_right(self.ends, end)
        ends, ids, places = self.ends[:count], self.ids[:count], self.places[:count]
        last = ends[-1] if ends else 0
        more = list(stretch_ends(data, form, last, end))
        with memoryview(data) as view:
            for at in more:
                ids.append(content_id(view[last:at]))
                last = at
            ends += more
            places += [NEW] * len(more)
            bands = self._bands(view, ends, ids, places)
        bounds = [0, *ends]
        side_by_side = list(_side_by_side(np.array(places, np.int64)))
        pieces = RecutPieces(
            tuple(bounds[last] - bounds[first] for first, last in side_by_side),
            tuple(self.known.bounds[places[first]] if places[first] >= 0 else NEW for first, _ in side_by_side),
            tuple(ids[first] for first, _ in side_by_side if places[first] < 0),
        )
        return _rows(ends, ids, bands), pieces

    def _bands(self, view: memoryview, ends: list[int], ids: list[bytes], places: list[int]) -> list[bytes]:
        """The ids of bands: those of known ones that stand as they did are known."""
        found = []
        for first, last in _banded(ids):
            place = places[first]
            band = self.known.bands.get(place)
            same = band is not None and band.behind - place == last - first
            if band is not None and same and places[first:last] == list(range(place, band.behind)):
                found.append(band.id)
            else:
                found.append(content_id(view[ends[first - 1] if first else 0 : ends[last - 1]]))
        return found


def _side_by_side(places: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of stretches that are known ones which follow each other, or a single one that is new."""
    breaks = np.flatnonzero((places[1:] != places[:-1] + 1) | (places[1:] < 0) | (places[:-1] < 0)) + 1
    return pairwise([0, *breaks.tolist(), len(places)]) if len(places) else iter(())


def align(data: Buffer, end: int, known: KnownStretches, form: RecordFormat) -> Aligned:
    """Find the known stretches among the bytes of `data[:end]`, which begin a chunk; each once, in their order.

    (1) Where the one that stood as far behind the last that was found begins a band, that is compared by hash,
    (2) then the stretch itself;
    (3) else a stretch is cut, and looked for by its hash;
    (4) until all are found, or too little of the bytes is left to say where one ends, or it seems that none is there.
    """
    ends: list[int] = []
    ids: list[bytes] = []
    places: list[int] = []
    digest, lengths, known_ids, bounds, bands = content_id, known.lengths, known.ids, known.bounds, known.bands
    last, at, least, strange = len(lengths) - 1, 0, 0, 0
    with memoryview(data) as view:
        while at < end and least < last and (least or strange < _STRANGE):
            if not strange and (band := bands.get(least)) is not None:  # step (1)
                stop = at + band.length
                if stop <= end and digest(view[at:stop]) == band.id:
                    moved = at - bounds[least]
                    ends += [bound + moved for bound in bounds[least + 1 : band.behind + 1]]
                    ids += known_ids[least : band.behind]
                    places += range(least, band.behind)
                    at, least = stop, band.behind
                    continue
            guess = min(least + strange, last - 1)
            stop = at + lengths[guess]
            if stop <= end and digest(view[at:stop]) == known_ids[guess]:  # step (2)
                place, id_ = guess, known_ids[guess]
            else:
                stop = next_stretch(data, at, end, form)  # step (3)
                if stop >= end:
                    break  # step (4)
                id_ = digest(view[at:stop])
                place = known.first(id_, least)
            ends.append(stop)
            ids.append(id_)
            places.append(place)
            at = stop
            least, strange = (place + 1, 0) if place >= 0 else (least, strange + 1)
    return Aligned(known, ends, ids, places)
