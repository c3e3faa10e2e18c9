"""CSV as the piggybank's CSVLoader and CSVExcelStorage read it.

Contract: of CsvLines a line is a record, quotes or not; a quote may stand anywhere in a field: what follows up to the
next one is literal, two inside quotes are one. CsvRecords are what RFC 4180 says, lines inside quotes included, cut
where QuotedText is cut. Of both, an empty field is an empty text, not null; of other types it is null. Rows are
padded and cut as the schema says. A quote that is not closed holds to the end of its record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incoop.fronts.pig.formats.pig_storage import delimiter_of
from incoop.query.errors import BadPlan
from incoop.query.sources.delimited import first_line
from incoop.query.sources.fields import printed_field, reader_of, types_for
from incoop.query.sources.quoted import QuotedText, records_of, well_quoted
from incoop.query.sources.text_format import TextFormat, lines_of
from incoop.query.types import BYTES, TEXT, Field, Row
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch

_QUOTE, _LF, _CR = b'"', b"\n", b"\r"
_EMPTY_STAYS = (TEXT, BYTES)


@dataclass(frozen=True, slots=True)
class CsvLines(TextFormat):
    """Records that are lines."""

    delimiter: str = ","
    #: Whether the first record of a file is left out.
    header: bool = False
    #: What ends a record that is printed.
    line_end: bytes = _LF

    def __post_init__(self) -> None:
        if self.delimiter == '"':
            raise BadPlan("a quote cannot stand between the fields of CSV.")
        delimiter_of(self.delimiter)

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        records = [_fields(line, self.delimiter.encode()) for line in lines_of(chunk)]
        return typed(records[1:] if first and self.header else records, self.schema.fields, warnings, wanted)

    def columns(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> ColumnBatch:
        if not (first and self.header) and (_QUOTE not in chunk or _quoted_within_lines(chunk, self.delimiter)):
            found = _by_arrow(self, chunk, warnings, wanted)
            if found is not None:
                return found
        return TextFormat.columns(self, chunk, warnings, wanted, first)

    def printed(self, rows: Iterable[Row]) -> bytes:
        return printed(rows, self.schema.fields, self.delimiter, self.line_end, False)


@dataclass(frozen=True, slots=True)
class CsvRecords(QuotedText):
    """Records in whose quotes lines may end. It is a QuotedText so that files are cut behind its records."""

    line_end: bytes = _LF

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        found = records_of(chunk, self.delimiter.encode(), warnings)
        records = [[field or b"" for field in record] for record in found]
        return typed(records[1:] if first and self.header else records, self.schema.fields, warnings, wanted)

    def columns(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> ColumnBatch:
        if not (first and self.header) and (
            _QUOTE not in chunk or (_CR not in chunk and well_quoted(chunk, self.delimiter))
        ):
            found = _by_arrow(self, chunk, warnings, wanted)
            if found is not None:
                return found
        return TextFormat.columns(self, chunk, warnings, wanted, first)

    def printed(self, rows: Iterable[Row]) -> bytes:
        return printed(rows, self.schema.fields, self.delimiter, self.line_end, True)


def typed(
    records: list[list[bytes]], fields: tuple[Field, ...] | None, warnings: Warnings, wanted: Sequence[int] | None
) -> list[Row]:
    """Fields of records as a schema says; as they are where there is none."""
    if fields is None:
        if wanted is None:
            return [tuple(record) for record in records]
        return [tuple(record[at] if at < len(record) else None for at in wanted) for record in records]
    chosen = range(len(fields)) if wanted is None else wanted
    readers = [(at, reader_of(fields[at].type, warnings), fields[at].type in _EMPTY_STAYS) for at in chosen]
    return [
        tuple([read(record[at]) if at < len(record) and (record[at] or stays) else None for at, read, stays in readers])
        for record in records
    ]


def _fields(line: bytes, delimiter: bytes) -> list[bytes]:
    """The fields of one record."""
    if _QUOTE not in line:
        return line.split(delimiter)
    fields: list[bytes] = []
    # Between quotes in turn: outside, inside, outside, …; nothing outside between two quotes is a doubled one.
    field = b""
    pieces = line.split(_QUOTE)
    for number, piece in enumerate(pieces):
        if number % 2:
            field += piece
            continue
        if not piece and 0 < number < len(pieces) - 1:
            field += _QUOTE
            continue
        first, *others = piece.split(delimiter)
        field += first
        for other in others:
            fields.append(field)
            field = other
    return [*fields, field]


def _quoted_within_lines(chunk: bytes, delimiter: str) -> bool:
    """Whether quotes enclose whole fields, and no line ends inside them."""
    if _CR in chunk or not well_quoted(chunk, delimiter):
        return False
    data = np.frombuffer(chunk, np.uint8)
    before = np.searchsorted(np.flatnonzero(data == ord('"')), np.flatnonzero(data == ord("\n")))
    return not bool((before % 2).any())


def _by_arrow(form: Any, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None) -> ColumnBatch | None:
    """Columns by pyarrow, where all rows are of one width."""
    import pyarrow.compute as pc

    from incoop.query.arrays import scalar
    from incoop.query.expressions.batches import ColumnBatch
    from incoop.query.sources.arrow_text import read_columns

    fields = form.schema.known("reading by column")
    chosen = list(range(len(fields)) if wanted is None else wanted)
    if not chunk or (_QUOTE * 2 in chunk and any(fields[at].type not in _EMPTY_STAYS for at in chosen)):
        return None  # a quoted field that is empty is no number to it, counted
    if _QUOTE in chunk and not chunk.endswith(_LF):
        chunk += _LF  # else pyarrow takes an empty field at the end for a quoted one, if one before it is
    head = chunk[: 1 << 16] if isinstance(form, CsvRecords) else first_line(chunk)
    width = len(records_of(head, form.delimiter.encode(), Warnings())[0]) if head else 1
    if width == 1 and _QUOTE in chunk:
        return None  # lines that are empty, and such that are two quotes, look alike to it
    found = read_columns(chunk, fields, chosen, form.delimiter, warnings, quoted=_QUOTE in chunk, width=width)
    if found is None:
        return None
    columns = []
    for at, column in zip(chosen, found.columns, strict=True):
        if at < width and fields[at].type in _EMPTY_STAYS:
            column = pc.fill_null(column, scalar("" if fields[at].type == TEXT else b"", column.type))
        columns.append(column)
    return ColumnBatch(found.types, tuple(columns), found.length)


def printed(
    rows: Iterable[Row], fields: Sequence[Field] | None, delimiter: str, line_end: bytes, multiline: bool
) -> bytes:
    """Records: quotes around what has a delimiter or a quote in it, or the end of a line where that may be."""
    sign = delimiter.encode()
    signs = (sign, _QUOTE, _LF, _CR) if multiline else (sign, _QUOTE)
    lines = []
    for row in rows:
        parts = []
        for value, kind in zip(row, types_for(row, fields), strict=True):
            field = printed_field(value, kind)
            if any(each in field for each in signs):
                field = _QUOTE + field.replace(_QUOTE, _QUOTE * 2) + _QUOTE
            parts.append(field)
        lines.append(sign.join(parts) + line_end)
    return b"".join(lines)
