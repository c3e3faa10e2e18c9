"""Formats of records as the engine cuts them: pieces of whole records, left as bytes.

Contract: a piece ends where a record does, as far as a format's records can be told apart without reading what stands
before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incoop.inchdfs.cutting.records import Buffer, Csv, Lines
from incoop.query.sources.quoted import QuotedText
from incoop.query.sources.text_format import Format


@dataclass(frozen=True, slots=True)
class UncutLines(Lines):
    """Text that is cut behind lines."""

    encoding: str | None = None

    def records(self, chunk: bytes) -> list[Any]:
        return [chunk] if chunk else []


@dataclass(frozen=True, slots=True)
class UncutRows:
    """Text that is cut behind rows of CSV."""

    form: Csv

    @property
    def cut_as(self) -> Csv:
        return self.form

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        return self.form.ends_around(data, start, position, end)

    def records(self, chunk: bytes) -> list[Any]:
        return [chunk] if chunk else []


def cut_by(form: Format) -> UncutLines | UncutRows:
    """How files in a format are cut."""
    return UncutRows(Csv(form.delimiter)) if isinstance(form, QuotedText) else UncutLines()
