"""Delimited text: fields between one sign, without quotes.

Contract: a row that is short is padded with nulls, one that is long is cut. An empty field is null. Tuples, bags and
maps are in the format of nested_text.py. An empty line is a row of nulls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incoop.query.errors import BadPlan
from incoop.query.sources.fields import printed_column, printed_field, reader_of, types_for
from incoop.query.sources.text_format import TextFormat, lines_of
from incoop.query.types import Row
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch


@dataclass(frozen=True, slots=True)
class DelimitedText(TextFormat):
    """Fields with a sign between them."""

    delimiter: str = "\t"

    def __post_init__(self) -> None:
        if len(self.delimiter.encode()) != 1 or self.delimiter in "\r\n":
            raise BadPlan(f"a delimiter is one ASCII character that ends no line, not {self.delimiter!r}.")

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        sign = self.delimiter.encode()
        fields = self.schema.fields
        if fields is None:
            places = wanted
            return [
                tuple(part or None for part in parts)
                if places is None
                else tuple((parts[at] or None) if at < len(parts) else None for at in places)
                for parts in (line.split(sign) for line in lines_of(chunk))
            ]
        chosen = list(range(len(fields)) if wanted is None else wanted)
        readers = [(at, reader_of(fields[at].type, warnings)) for at in chosen]
        rows = []
        for line in lines_of(chunk):
            parts = line.split(sign)
            width = len(parts)
            rows.append(tuple([read(parts[at]) if at < width and parts[at] else None for at, read in readers]))
        return rows

    def columns(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> ColumnBatch:
        from incoop.query.sources.arrow_text import read_columns

        fields = self.schema.known("reading by column")
        chosen = list(range(len(fields)) if wanted is None else wanted)
        width = first_line(chunk).count(self.delimiter.encode()) + 1 if chunk else None
        found = read_columns(chunk, fields, chosen, self.delimiter, warnings, width=width)
        # Not super(): a dataclass with slots is another class than the one that this method closes over.
        return TextFormat.columns(self, chunk, warnings, wanted, first) if found is None else found

    def printed(self, rows: Iterable[Row]) -> bytes:
        fields, held = self.schema.fields, list(rows)
        if fields and set(map(len, held)) == {len(fields)}:  # by column, in half of the time
            columns = [printed_column([row[at] for row in held], field.type) for at, field in enumerate(fields)]
            if (texts := [column for column in columns if column is not None]) == columns:
                lines = map(self.delimiter.join, zip(*texts, strict=True))
                return "".join([f"{line}\n" for line in lines]).encode("utf-8", "surrogatepass")
        sign = self.delimiter.encode()
        return b"".join(sign.join(map(printed_field, row, types_for(row, fields))) + b"\n" for row in held)


def first_line(chunk: bytes) -> bytes:
    """What stands before the first end of a line."""
    end = chunk.find(b"\n")
    line = chunk if end < 0 else chunk[:end]
    return line.split(b"\r", 1)[0]
