"""Rows of an output as part files, in a format.

Contract: part files of an ordered output, one after the other, are its rows in order: one file a range. Those of others
are the parts of the stage that made them. Only files whose content changed are written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from incoop.base.content_ids import content_id
from incoop.contraction.columns.encoding import encode
from incoop.engine.output import OutputBlock, Pair
from incoop.engine.stored import BlobReader
from incoop.query.execution.reading import PairShape, ReadPairs
from incoop.query.execution.relations import Branch
from incoop.query.execution.sessions import JobResult
from incoop.query.sources.text_format import Format


@dataclass(frozen=True, slots=True)
class PrintRows:
    """Pairs of a stage as a file."""

    reading: ReadPairs
    form: Format
    said: str

    def __call__(self, pairs: Sequence[Pair]) -> Iterator[bytes]:
        return self.form.file_of(self.reading.rows(pairs))

    @property
    def suffix(self) -> str:
        return self.form.suffix


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

    def __init__(self, result: JobResult, printer: PrintRows) -> None:
        self._result, self._printer = result, printer

    @property
    def whole(self) -> bytes:
        """Names all ranges, without a look at them."""
        output = self._result.output
        return content_id(b"".join(output.content(part) for part in range(len(output))))

    @cached_property
    def _pairs(self) -> list[Pair]:
        return sorted(self._result, key=lambda pair: pair[0])

    def __len__(self) -> int:
        return len(self._pairs)

    def content(self, part: int) -> bytes:
        """By the rows and how they are printed: a range that stayed is not printed to be compared."""
        return content_id(self._printer.said.encode() + encode(self._pairs[part]))

    def blocks(self, part: int, reader: BlobReader) -> list[OutputBlock]:
        return [_Range([self._pairs[part]])]  # type: ignore[list-item]


def save_rows(branch: Branch, form: Format, folder: Path, ordered: bool) -> list[Path]:
    """Bring a folder up to date; return the files that were written."""
    reading: Any = branch.reading
    result: JobResult = branch.input
    said = content_id(repr((form, reading)).encode("utf-8", "surrogatepass")).hex()
    printer = PrintRows(reading, form, f" {said}")
    if ordered and reading.shape is PairShape.RANGES:
        return result.save_printed(folder, printer, _Ranges(result, printer))
    return result.save_printed(folder, printer)
