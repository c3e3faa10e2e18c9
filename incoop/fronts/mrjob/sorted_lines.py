"""The lines of a step in the order of its part files, kept from one command to the next.

Contract: `sorted_lines` gives the pairs of a result sorted by place, whatever is kept. What is kept says of which
output it is, by content: of this one it is taken as it is, of the one before it is brought up to date by what changed,
of any other it is not used. Sorting 300,000 lines takes as long as everything else that a command does which finds its
input unchanged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
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
    #: Where places end that stand one behind the other.
    place_ends: Ends
    #: The places; None where each is what its lines begin with, as nearly all are.
    places: bytes | None

    @classmethod
    def of(cls, groups: Sequence[tuple[bytes, bytes]]) -> SortedLines:
        """Of groups that are sorted."""
        shared = all(lines.startswith(place) for place, lines in groups)
        return cls(
            b"".join([lines for _, lines in groups]),
            np.cumsum([len(lines) for _, lines in groups], dtype=np.int64),
            np.cumsum([len(place) for place, _ in groups], dtype=np.int64),
            None if shared else b"".join([place for place, _ in groups]),
        )

    def __len__(self) -> int:
        return len(self.ends)

    def place(self, number: int) -> bytes:
        first, behind = _start(self.place_ends, number), int(self.place_ends[number])
        if self.places is not None:
            return self.places[first:behind]
        start = _start(self.ends, number)
        return self.lines[start : start + behind - first]

    def groups(self) -> list[tuple[bytes, bytes]]:
        """Places and their lines."""
        bounds = pairwise([0, *self.ends.tolist()])
        return [(self.place(number), self.lines[start:end]) for number, (start, end) in enumerate(bounds)]

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
        ordered = sorted(changes, key=itemgetter(0))
        if self.places is None and not all(new is None or new.startswith(place) for place, new in ordered):
            apart = b"".join([place for place, _ in self.groups()])
            return replace(self, places=apart).changed(ordered)
        lines, places = _Spliced(self.lines), _Spliced(self.places or b"")
        of_lines = _Spliced(np.diff(self.ends, prepend=0))
        of_places = _Spliced(np.diff(self.place_ends, prepend=0))
        for place, new in ordered:
            at = bisect_left(range(len(self)), place, key=self.place)
            stays = at + (at < len(self) and self.place(at) == place)
            lines.put(_start(self.ends, at), _start(self.ends, stays), new or b"")
            of_lines.put(at, stays, _lengths(new))
            if self.places is not None:
                bounds = _start(self.place_ends, at), _start(self.place_ends, stays)
                places.put(*bounds, place if new is not None else b"")
            of_places.put(at, stays, _lengths(place if new is not None else None))
        return SortedLines(
            b"".join(lines.pieces()),
            np.cumsum(np.concatenate(of_lines.pieces()), dtype=np.int64),
            np.cumsum(np.concatenate(of_places.pieces()), dtype=np.int64),
            b"".join(places.pieces()) if self.places is not None else None,
        )

    def to_bytes(self) -> bytes:
        places = self.places or b""
        small = max(len(self.lines), int(self.place_ends[-1]) if len(self) else 0) < 1 << 32
        form = np.uint32 if small else np.int64
        numbers = np.array([len(self), self.places is None, len(self.lines), small], np.int64)
        ends, place_ends = self.ends.astype(form), self.place_ends.astype(form)
        return b"".join((numbers.tobytes(), ends.tobytes(), place_ends.tobytes(), self.lines, places))

    @classmethod
    def from_bytes(cls, data: bytes) -> SortedLines:
        count, shared, size, small = np.frombuffer(data, np.int64, 4).tolist()
        form = np.dtype(np.uint32 if small else np.int64)
        at = 4 * 8
        ends = np.frombuffer(data, form, count, at).astype(np.int64)
        at += count * form.itemsize
        place_ends = np.frombuffer(data, form, count, at).astype(np.int64)
        at += count * form.itemsize
        return cls(data[at : at + size], ends, place_ends, None if shared else data[at + size :])


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


def _lengths(new: bytes | None) -> Ends:
    return np.array([len(new)] if new is not None else [], np.int64)


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
