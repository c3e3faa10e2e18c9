"""Rows of an output as part files, in the text of a format.

Contract: part files of an ordered output, one after the other, are its rows in order: one file a range. Those of others
are the parts of the stage that made them. Only files whose content changed are written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from incoop.base.content_ids import content_id
from incoop.engine.output import OutputBlock, Pair
from incoop.engine.stored import BlobReader
from incoop.query.execution.reading import PairShape, ReadPairs
from incoop.query.execution.relations import Branch
from incoop.query.execution.sessions import JobResult
from incoop.query.sources.text_format import TextFormat

#: Rows that are printed at once: some megabytes of text.
_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class PrintRows:
    """Pairs of a stage as text."""

    reading: ReadPairs
    form: TextFormat
    said: str

    def __call__(self, pairs: Sequence[Pair]) -> Iterator[bytes]:
        rows = iter(self.reading.rows(pairs))
        while some := list(islice(rows, _AT_ONCE)):
            yield self.form.printed(some)


@dataclass(frozen=True, slots=True)
class _Range:
    """One range as a block that was read."""

    held: list[Pair]
    #: As little as nothing, so that whoever has read it writes it.
    length: int = 0
    #: It is in its order.
    is_run: bool = False

    def pairs(self, reader: BlobReader) -> list[Pair]:
        return self.held


class _Ranges:
    """Ranges in their order, as the parts of an output."""

    def __init__(self, pairs: Iterable[Pair], printer: PrintRows) -> None:
        self._pairs = sorted(pairs, key=lambda pair: pair[0])
        self._printer = printer

    def __len__(self) -> int:
        return len(self._pairs)

    def content(self, part: int) -> bytes:
        return content_id(b"".join(self._printer([self._pairs[part]])))

    def blocks(self, part: int, reader: BlobReader) -> list[OutputBlock]:
        return [_Range([self._pairs[part]])]  # type: ignore[list-item]


def save_rows(branch: Branch, form: TextFormat, folder: Path, ordered: bool) -> list[Path]:
    """Bring a folder up to date; return the files that were written."""
    reading: Any = branch.reading
    result: JobResult = branch.input
    said = content_id(repr((form, reading)).encode("utf-8", "surrogatepass")).hex()
    printer = PrintRows(reading, form, f" {said}")
    if ordered and reading.shape is PairShape.RANGES:
        return result.save_printed(folder, printer, _Ranges(result, printer))
    return result.save_printed(folder, printer)
