"""Some chunks of an input in place of all of them, of some only some records: what a window holds.

Contract: what is chosen is chosen by a function of the chunks alone, when the input is looked at; so a run sees one
state of the input. A chunk of which some records are left out is another chunk, by an id of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from incoop.base.content_ids import content_id
from incoop.base.errors import BadCall
from incoop.contraction.columns.column import Ints
from incoop.engine.blocks import ChunkBlock
from incoop.inchdfs.cutting.chunk_table import Rows
from incoop.inchdfs.cutting.records import Lines, RecordFormat
from incoop.inchdfs.store.manifest import Manifest

#: Ranges of records, by number: from the first up to the second.
Ranges = tuple[tuple[int, int], ...]

_LINE_END = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """All chunks of an input, in order."""

    #: inchdfs/cutting/chunk_table.py says what a row holds.
    rows: Rows
    #: The names of its files, and how many of the chunks each has.
    files: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which chunks, by number and ascending; and the records that stay of those that are cut."""

    chunks: Ints
    clips: Mapping[int, Ranges] = field(default_factory=dict)


class OneLook:
    """A look at an input that several runs share; one that has to begin again looks for all."""

    def __init__(self) -> None:
        self._found: tuple[tuple[Any, ...], list[Manifest]] | None = None
        self._had: list[ChosenChunks] = []

    def manifests(self, who: ChosenChunks, how: tuple[Any, ...], look: Callable[[], list[Manifest]]) -> list[Manifest]:
        """What was seen, unless `who` had it before, or it was looked at in another way."""
        again = any(each is who for each in self._had)
        if self._found is None or self._found[0] != how or again:
            self._found, self._had = (how, look()), []
        self._had.append(who)
        return self._found[1]


@dataclass(frozen=True, slots=True)
class ChosenChunks:
    """An input for `chunk_inputs`: of the chunks of other ones, those that a function chooses."""

    inputs: Any
    choose: Callable[[ChunkTable], Choice]
    look: OneLook = field(default_factory=OneLook)
    #: Chunks as for readers to whom a changed one is new as a whole. Who shares a look shares what chunks there are.
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ClippedChunk(ChunkBlock):
    """A chunk without some of its records."""

    form: RecordFormat
    stays: Ranges

    @property
    def id(self) -> bytes:
        return clipped_id(self.where.id, self.stays)

    def chunk(self) -> ClippedChunk:
        return self

    def content(self) -> bytes:
        whole = ChunkBlock.content(self)
        ends = [0, *record_ends(whole, self.form)]
        if not isinstance(self.form, Lines) and sum(1 for _ in self.form.records(whole)) != len(ends) - 1:
            # Say, a stray quote in CSV: what ends a record for the one who cuts does not for the one who reads.
            raise BadCall(f"records of {self.form!r} cannot be told apart, so no window can be cut between them.")
        return b"".join(whole[ends[low] : ends[high]] for low, high in self.stays)

    def records(self, form: RecordFormat, reader: Any) -> list[Any]:
        return list(form.records(self.content()))

    def place_of(self, record_number: int) -> str:
        for low, high in self.stays:
            if record_number < high - low:
                return ChunkBlock.place_of(self, low + record_number)
            record_number -= high - low
        return ChunkBlock.place_of(self, record_number)


def clipped_id(chunk: bytes, stays: Ranges) -> bytes:
    """The id of a chunk of which these records stay."""
    return content_id(b"clipped" + chunk + np.array(stays, "<u4").tobytes())


def record_ends(content: bytes, form: RecordFormat) -> Sequence[int]:
    """Where each record of a chunk ends."""
    if isinstance(form, Lines):
        ends = [match.end() for match in _LINE_END.finditer(content)]
        return ends if ends and ends[-1] == len(content) else [*ends, len(content)]
    ends, start = [], 0
    while start < len(content):
        after = form.ends_around(content, start, start + 1, len(content))[1]
        start = after if after > start else len(content)
        ends.append(start)
    return ends


def ranges_of(numbers: Sequence[int]) -> Ranges:
    """Ascending numbers as ranges.

    Example:
        >>> ranges_of([3, 4, 5, 9])
        ((3, 6), (9, 10))
    """
    if not numbers:
        return ()
    breaks = [at for at, (low, high) in enumerate(pairwise(numbers), 1) if high != low + 1]
    return tuple((numbers[low], numbers[high - 1] + 1) for low, high in pairwise([0, *breaks, len(numbers)]))
