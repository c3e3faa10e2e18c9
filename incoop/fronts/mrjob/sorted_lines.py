"""The lines of a step in the order of its part files, kept from one command to the next.

Contract: `sorted_lines` gives the pairs of a result sorted by place, whatever is kept. What is kept says of which
output it is, by content: of this one it is taken as it is, of the one before it is brought up to date by what changed,
of any other it is not used. Sorting 300,000 lines takes as long as everything else that a command does which finds its
input unchanged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incoop.engine.failures import ChangesLost
from incoop.engine.output import Output, Sharded
from incoop.memo.kept_bytes import KeptBytes
from incoop.result import Change, Result

#: Of what is kept: another number for another form, or for another meaning.
_VERSION = b"1"

_ID_BYTES = 16

Ends = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SortedLines:
    """Places and their lines, sorted by place; each place once."""

    lines: bytes
    #: Where the lines of each place end.
    ends: Ends
    #: The places, one behind the other.
    places: bytes
    place_ends: Ends

    @classmethod
    def of(cls, groups: Sequence[tuple[bytes, bytes]]) -> SortedLines:
        """Of groups that are sorted."""
        return cls(
            b"".join([lines for _, lines in groups]),
            np.cumsum([len(lines) for _, lines in groups], dtype=np.int64),
            b"".join([place for place, _ in groups]),
            np.cumsum([len(place) for place, _ in groups], dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.ends)

    def place(self, number: int) -> bytes:
        return self.places[_start(self.place_ends, number) : int(self.place_ends[number])]

    def groups(self) -> list[tuple[bytes, bytes]]:
        """Places and their lines."""
        found, start, place_start = [], 0, 0
        for end, place_end in zip(self.ends.tolist(), self.place_ends.tolist(), strict=True):
            found.append((self.places[place_start:place_end], self.lines[start:end]))
            start, place_start = end, place_end
        return found

    def cut(self, tasks: int) -> Iterator[bytes]:
        r"""The inputs of reduce tasks, or part files, cut where mrjob cuts them: behind the place with which a piece is
        large enough.

        Example:
            >>> list(SortedLines.of([(b"a", b"a\t1\n"), (b"b", b"b\t1\n"), (b"c", b"c\t1\n")]).cut(tasks=2))
            [b'a\t1\nb\t1\n', b'c\t1\n']
            >>> list(SortedLines.of([]).cut(tasks=2))
            [b'']
        """
        size = len(self.lines) // max(tasks, 1)
        start = first = 0
        while first < len(self):
            # At least one place, also where a piece is large enough without any.
            last = max(first, int(np.searchsorted(self.ends, start + size)))
            end = int(self.ends[last]) if last < len(self) else len(self.lines)
            yield self.lines[start:end]
            start, first = end, last + 1
        if not len(self):
            yield b""

    def changed(self, changes: Iterable[tuple[bytes, bytes | None]]) -> SortedLines:
        r"""With other lines for some places; None for a place that is gone.

        Example:
            >>> lines = SortedLines.of([(b"a", b"a\t1\n"), (b"c", b"c\t1\n")])
            >>> lines.changed([(b"b", b"b\t2\n"), (b"c", None)]).groups()
            [(b'a', b'a\t1\n'), (b'b', b'b\t2\n')]
        """
        lengths, place_lengths = np.diff(self.ends, prepend=0), np.diff(self.place_ends, prepend=0)
        lines, places = _Spliced(self.lines), _Spliced(self.places)
        of_lines, of_places = _Spliced(lengths), _Spliced(place_lengths)
        for place, new in sorted(changes, key=itemgetter(0)):
            at = bisect_left(range(len(self)), place, key=self.place)
            stays = at + (at < len(self) and self.place(at) == place)
            lines.put(_start(self.ends, at), _start(self.ends, stays), new or b"")
            of_lines.put(at, stays, np.array([len(new)] if new is not None else [], np.int64))
            places.put(_start(self.place_ends, at), _start(self.place_ends, stays), place if new is not None else b"")
            of_places.put(at, stays, np.array([len(place)] if new is not None else [], np.int64))
        return SortedLines(
            b"".join(lines.pieces()),
            np.cumsum(np.concatenate(of_lines.pieces()), dtype=np.int64),
            b"".join(places.pieces()),
            np.cumsum(np.concatenate(of_places.pieces()), dtype=np.int64),
        )

    def to_bytes(self) -> bytes:
        """What `from_bytes` reads; a place that its own lines begin with, as nearly all do, is not written twice."""
        starts, lengths = _starts(self.ends), np.diff(self.place_ends, prepend=0)
        inside = not (starts + lengths > len(self.lines)).any()
        shared = inside and _slices(self.lines, starts, lengths) == self.places
        small = max(len(self.lines), len(self.places)) < 1 << 32
        form = np.uint32 if small else np.int64
        numbers = np.array([len(self), shared, len(self.lines), small], np.int64)
        return b"".join(
            (numbers.tobytes(), self.ends.astype(form).tobytes(), self.place_ends.astype(form).tobytes(), self.lines)
            + (() if shared else (self.places,))
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> SortedLines:
        count, shared, size, small = np.frombuffer(data, np.int64, 4).tolist()
        form = np.dtype(np.uint32 if small else np.int64)
        at = 4 * 8
        ends = np.frombuffer(data, form, count, at).astype(np.int64)
        at += count * form.itemsize
        place_ends = np.frombuffer(data, form, count, at).astype(np.int64)
        at += count * form.itemsize
        lines, places = data[at : at + size], data[at + size :]
        if shared:
            places = _slices(lines, _starts(ends), np.diff(place_ends, prepend=0))
        return cls(lines, ends, places, place_ends)


class _Spliced:
    """A sequence of which some ranges, given in order, are replaced."""

    def __init__(self, whole: Any) -> None:
        self._whole, self._at = whole, 0
        self._pieces: list[Any] = []

    def put(self, start: int, end: int, new: Any) -> None:
        self._pieces += [self._whole[self._at : start], new]
        self._at = end

    def pieces(self) -> list[Any]:
        return [*self._pieces, self._whole[self._at :]]


def _start(ends: Ends, number: int) -> int:
    return int(ends[number - 1]) if number else 0


def _starts(ends: Ends) -> Ends:
    return np.concatenate((np.zeros(min(1, len(ends)), np.int64), ends[:-1]))


def _slices(data: bytes, starts: Ends, lengths: Ends) -> bytes:
    """Pieces of some bytes, one behind the other."""
    before = np.cumsum(lengths) - lengths
    at = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return np.frombuffer(data, np.uint8)[at].tobytes()


def sorted_lines(result: Result, kept: KeptBytes) -> SortedLines:
    """The pairs (place, lines) of a result, sorted by place; what is kept is brought up to date."""
    if not isinstance(result.output, Sharded):  # in input order, or by task: the places are not what was asked for
        return SortedLines.of(sorted(result, key=itemgetter(0)))
    wanted, data = _content(result.output), kept.read() or b""
    if data[:_ID_BYTES] == wanted:
        return SortedLines.from_bytes(data[_ID_BYTES:])
    changes = _changes(result, data[:_ID_BYTES])
    if changes is not None:
        found = SortedLines.from_bytes(data[_ID_BYTES:]).changed(changes)
    else:
        found = SortedLines.of(sorted(result, key=itemgetter(0)))
    kept.write(wanted + found.to_bytes())
    return found


def _content(output: Output) -> bytes:
    """Says what pairs an output has."""
    parts = b"".join(output.content(part) for part in range(len(output)))
    return sha256(_VERSION + parts).digest()[:_ID_BYTES]


def _changes(result: Result, of: bytes) -> list[tuple[bytes, bytes | None]] | None:
    """What changed since the output that is kept; None where that is not known, or where a place came twice."""
    before = result.before
    if before.lost or not isinstance(before.output, Sharded) or _content(before.output) != of:
        return None
    try:
        changes: list[Change] = list(result.changes())
    except ChangesLost:
        return None
    if any(not isinstance(side, bytes | None) for change in changes for side in (change.old, change.new)):
        return None
    return [(change.key, change.new) for change in changes]
