"""Leaves of bytes: a chunk of a file is cut stretch by stretch, at ends of records.

Contract: where leaves end follows from the bytes of their stretch alone.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from incoop.contraction.columns.sorted_sets import distinct_numbers
from incoop.engine.blocks import records_of
from incoop.engine.stages.map_contract.leaves import Leaves, cutter, ids_between, large_enough, leaf_ids
from incoop.engine.stages.map_contract.mapping import Piece
from incoop.inchdfs.cutting import stretches
from incoop.inchdfs.cutting.records import Lines, RecordFormat

#: Encodings in which a line's text does not depend on the lines before it, so that a chunk is decoded at once.
_STATELESS = frozenset({"utf-8", "ascii", "iso8859-1"})


class Content(Protocol):
    """A chunk's bytes, as far as they are at hand."""

    def __getitem__(self, part: slice, /) -> bytes: ...


@dataclass(frozen=True)
class TextLeaves(Leaves):
    """Some bytes, cut."""

    content: Content
    form: RecordFormat
    #: Where stretches end, if that is known.
    stretch_ends: Sequence[int] = field(default=(), kw_only=True)

    bytes_of_a_key: ClassVar[int] = 1 << 10

    def records(self, low: int, high: int) -> Sequence[Any]:
        return records_of(self.form, self.content[low:high])

    def decoded(self) -> list[Piece]:
        form, content = self.form, self.content
        plain = isinstance(content, bytes) and type(form) is Lines and _stateless(form.encoding)
        if not plain or not isinstance(content, bytes) or b"\r" in content:
            return [self.piece(leaf) for leaf in range(len(self.cut))]
        lines = records_of(form, content)
        behind: list[int] = np.searchsorted(_newlines(content), np.asarray(self.ends), side="right").tolist()
        behind[-1] = len(lines)  # the last line may have no newline
        return [Piece(partial(_between, lines, low, high)) for low, high in pairwise([0, *behind])]


def _between(lines: Sequence[Any], low: int, high: int) -> Sequence[Any]:
    return lines[low:high]


@lru_cache(maxsize=16)
def _stateless(encoding: str | None) -> bool:
    return encoding is None or codecs.lookup(encoding).name in _STATELESS


def _newlines(content: bytes) -> Any:
    """Where lines end: behind each newline."""
    return np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n")) + 1


def cut_text(content: bytes, size: int, form: RecordFormat, group: int = 0) -> TextLeaves | None:
    """Cut a chunk into leaves of about `size` bytes, and these into groups of about `group`; 0 for one each.

    None when the chunk is too small, or no leaves are wanted.
    """
    if not large_enough(len(content), size):
        return None
    bounds = list(stretches.stretch_ends(content, form)) if cut_by_stretch(size) else [len(content)]
    cuts, proposed = cutter(size), []
    with memoryview(content) as view:
        for low, high in pairwise([0, *bounds]):
            proposed += [low + chunk.offset + chunk.length for chunk in cuts(view[low:high])]
    cut = leaf_ids(content, _record_ends(content, proposed, form))
    return TextLeaves(cut, size, group, content, form, stretch_ends=bounds if cut_by_stretch(size) else ())


def cut_by_stretch(size: int) -> bool:
    """Whether leaves of a size are cut stretch by stretch: stretches have some of them."""
    return 0 < size <= stretches.AVERAGE // 2


def cut_stretch(content: bytes, size: int, form: RecordFormat) -> tuple[list[bytes], list[int]]:
    """The leaves of one stretch: their ids, and their lengths."""
    ends = _record_ends(content, [cut.offset + cut.length for cut in cutter(size)(content)], form)
    return ids_between(content, ends), [high - low for low, high in pairwise([0, *ends])]


#: Below so many bytes, searching newlines one by one costs less than looking at all bytes at once.
_FEW_BYTES = 64 << 10


def _record_ends(content: bytes, proposed: list[int], form: RecordFormat) -> list[int]:
    """The ends of the records that proposed cuts fall in."""
    if isinstance(form, Lines) and len(content) >= _FEW_BYTES:
        newlines = _newlines(content)
        at = np.searchsorted(newlines, proposed)
        found: list[int] = distinct_numbers(newlines[at[at < len(newlines)]]).tolist()
        return found if found and found[-1] == len(content) else [*found, len(content)]
    ends: list[int] = []
    start = 0
    for cut in proposed:
        if cut <= start:
            continue
        if isinstance(form, Lines):
            start = content.find(b"\n", cut - 1) + 1 or len(content)
        else:
            after = form.ends_around(content, start, cut, len(content))[1]
            start = after if after >= 0 else len(content)
        ends.append(start)
    return ends
