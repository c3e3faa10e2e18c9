"""CSV with quotes, as RFC 4180 has it.

Contract: a field that begins with a quote ends at the next one that is not doubled; what follows up to the delimiter
belongs to it, too. Rows are padded and cut as delimited text's. An empty field is null, two quotes are an empty text.
Empty lines are left out, unless rows have one field only. A quote that is never closed counts as a malformed record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incoop.query.errors import BadPlan
from incoop.query.sources.delimited import first_line
from incoop.query.sources.fields import printed_field, reader_of, types_for
from incoop.query.sources.text_format import TextFormat, lines_of
from incoop.query.types import Row
from incoop.query.utf8 import decoded
from incoop.query.warnings import RECORD, Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch

_QUOTE, _LF, _CR = b'"', b"\n", b"\r"


@dataclass(frozen=True, slots=True)
class QuotedText(TextFormat):
    """Comma-separated values."""

    delimiter: str = ","
    #: Whether the first record of a file names the fields.
    header: bool = False

    def __post_init__(self) -> None:
        if len(self.delimiter.encode()) != 1 or self.delimiter in '\r\n"':
            raise BadPlan(
                f"a delimiter is one ASCII character that ends no line and quotes nothing, not {self.delimiter!r}."
            )

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        fields = self.schema.known("reading CSV")
        chosen = list(range(len(fields)) if wanted is None else wanted)
        readers = [(at, reader_of(fields[at].type, warnings)) for at in chosen]
        keep_empty = len(fields) == 1
        rows = []
        for at_record, record in enumerate(records_of(chunk, self.delimiter.encode(), warnings)):
            if at_record == 0 and first and self.header:
                continue
            if len(record) == 1 and record[0] is None and not keep_empty:
                continue
            width = len(record)
            rows.append(
                tuple([None if at >= width or (field := record[at]) is None else read(field) for at, read in readers])
            )
        return rows

    def columns(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> ColumnBatch:
        from incoop.query.sources.arrow_text import read_columns

        fields = self.schema.known("reading CSV")
        chosen = list(range(len(fields)) if wanted is None else wanted)
        quoted = _QUOTE in chunk
        plain = quoted and (_CR in chunk or not well_quoted(chunk, self.delimiter))
        if plain or (first and self.header):
            return TextFormat.columns(self, chunk, warnings, wanted, first)
        if quoted and not chunk.endswith(_LF):
            chunk += _LF  # else pyarrow takes an empty field at the end for a quoted one, if one before it is
        width = None
        head = first_line(chunk) if not quoted else chunk[: 1 << 16]
        if head:
            record = records_of(head, self.delimiter.encode(), Warnings())[0]
            width = len(record) if record != [None] else None
        found = read_columns(
            chunk, fields, chosen, self.delimiter, warnings, quoted, keep_empty_lines=len(fields) == 1, width=width
        )
        return TextFormat.columns(self, chunk, warnings, wanted, first) if found is None else found

    def names(self, head: bytes) -> list[str]:
        """The names that the first record of a file says."""
        records = records_of(head, self.delimiter.encode(), Warnings())
        return [decoded(field or b"") for field in records[0]] if records else []

    def printed(self, rows: Iterable[Row]) -> bytes:
        sign, fields = self.delimiter.encode(), self.schema.fields
        signs = (sign, _QUOTE, _LF, _CR)
        lines = []
        for row in rows:
            parts = []
            for value, kind in zip(row, types_for(row, fields), strict=True):
                field = printed_field(value, kind)
                if any(each in field for each in signs) or (not field and value is not None):
                    field = _QUOTE + field.replace(_QUOTE, b'""') + _QUOTE
                parts.append(field)
            lines.append(sign.join(parts) + _LF)
        return b"".join(lines)


def records_of(chunk: bytes, delimiter: bytes, warnings: Warnings) -> list[list[bytes | None]]:
    """Records as fields without their quotes; None for one that is empty and not quoted."""
    if _QUOTE not in chunk:
        return [[part or None for part in line.split(delimiter)] for line in lines_of(chunk)]
    records: list[list[bytes | None]] = []
    at, size = 0, len(chunk)
    ends = re.compile(b"[\\r\\n" + re.escape(delimiter) + b"]")
    while at < size:
        record: list[bytes | None] = []
        ended = False
        while not ended:
            field, at, closed = _field(chunk, at, ends)
            record.append(field)
            if not closed:
                warnings.count(RECORD)
            if at < size and chunk[at : at + 1] == delimiter:
                at += 1
                continue
            ended = True
            at += 2 if chunk[at : at + 2] == b"\r\n" else 1
        records.append(record)
    return records


def _field(chunk: bytes, at: int, ends: re.Pattern[bytes]) -> tuple[bytes | None, int, bool]:
    """One field, where its end is, and whether its quote was closed."""
    parts = []
    quoted = chunk[at : at + 1] == _QUOTE
    if quoted:
        start = at + 1
        while True:
            end = chunk.find(_QUOTE, start)
            if end < 0:
                parts.append(chunk[start:])
                return b"".join(parts), len(chunk), False
            parts.append(chunk[start:end])
            if chunk[end + 1 : end + 2] != _QUOTE:
                at = end + 1
                break
            parts.append(_QUOTE)
            start = end + 2
    found = ends.search(chunk, at)
    end = len(chunk) if found is None else found.start()
    parts.append(chunk[at:end])
    text = b"".join(parts)
    return text if text or quoted else None, end, True


def well_quoted(chunk: bytes, delimiter: str) -> bool:
    """Whether all quotes enclose whole fields, or are doubled inside such.

    (1) Quotes in turn open and close; a doubled one closes and opens again at once. (2) One that opens must follow
    the beginning of a field, or the one before it. (3) One that closes must precede the end of a field, or the next
    one.
    """
    data = np.frombuffer(chunk, dtype=np.uint8)
    places = np.flatnonzero(data == ord('"'))
    if len(places) % 2:
        return False
    opening, closing = places[::2], places[1::2]
    ends = (ord(delimiter), ord("\n"))
    doubled = closing[:-1] + 1 == opening[1:]
    before = data[np.maximum(opening - 1, 0)]
    fits = (opening == 0) | np.isin(before, ends)
    fits[1:] |= doubled
    after = data[np.minimum(closing + 1, len(data) - 1)]
    ended = (closing == len(data) - 1) | np.isin(after, ends)
    ended[:-1] |= doubled
    return bool(fits.all() and ended.all())
