"""Text lines: a record is a line, in one field of text or of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incoop.query.sources.fields import printed_field, reader_of, types_for
from incoop.query.sources.text_format import TextFormat, lines_of
from incoop.query.types import TEXT, Row
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch


@dataclass(frozen=True, slots=True)
class TextLines(TextFormat):
    """A line a row. An empty line is an empty text, not null."""

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        fields = self.schema.known("reading lines")
        width = len(fields) if wanted is None else len(wanted)
        if width == 0:
            return [()] * len(lines_of(chunk))
        read = reader_of(fields[0].type, warnings)
        return [(read(line),) for line in lines_of(chunk)]

    def columns(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> ColumnBatch:
        import pyarrow as pa
        import pyarrow.compute as pc

        from incoop.query.arrays import of_values
        from incoop.query.expressions.batches import ColumnBatch

        (field,) = self.schema.known("reading lines")
        if field.type == TEXT and wanted != [] and wanted != () and chunk:
            try:
                text = of_values([chunk.removesuffix(b"\n")], pa.binary()).cast(pa.string())
            except pa.ArrowInvalid:
                return TextFormat.columns(self, chunk, warnings, wanted, first)
            if b"\r" not in chunk:
                lines = pc.split_pattern(text, "\n").flatten()
                return ColumnBatch((TEXT,), (lines,), len(lines))
        return TextFormat.columns(self, chunk, warnings, wanted, first)

    def printed(self, rows: Iterable[Row]) -> bytes:
        fields = self.schema.fields
        return b"".join(b"\t".join(map(printed_field, row, types_for(row, fields))) + b"\n" for row in rows)
