"""Records behind a field that says which file they are from.

Contract: a format sees bytes and no names, so each file is read by a copy of its own, which knows the file: what the
copy gives follows from the chunk's bytes and that name, and both are part of what results are found by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incoop.query.sources.fields import reader_of
from incoop.query.sources.text_format import TextFormat
from incoop.query.types import BYTES, Row, Type, Value
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch


@dataclass(frozen=True, slots=True)
class TaggedText(TextFormat):
    """Rows of a format, each behind the name of its file, or its path."""

    #: How the other fields are read; its schema is the rest of this one's.
    form: TextFormat
    path: bool = False
    #: The file; None where it is not said yet.
    source: bytes | None = None

    def of_file(self, file: Path) -> TaggedText:
        """The format of one file.

        Example:
            >>> from incoop.query.schema import Schema
            >>> from incoop.query.sources.delimited import DelimitedText
            >>> form = TaggedText(Schema(None), DelimitedText(Schema(None), ","))
            >>> form.of_file(Path("/a/b.txt")).rows(b"1,2", Warnings())
            [(b'b.txt', b'1', b'2')]
        """
        named = f"file:{file.absolute()}" if self.path else file.name
        return replace(self, source=named.encode("utf-8", "surrogateescape"))

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        rest = self._rest(wanted)
        found = self.form.rows(chunk, warnings, rest, first)
        if wanted is not None and 0 not in wanted:
            return found
        tags = self._tags(len(found), warnings)
        if wanted is None:
            return [(tag, *row) for tag, row in zip(tags, found, strict=True)]
        at = list(wanted).index(0)
        return [(*row[:at], tag, *row[at:]) for tag, row in zip(tags, found, strict=True)]

    def columns(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> ColumnBatch:
        from incoop.query.expressions.batches import ColumnBatch, to_column

        found = self.form.columns(chunk, warnings, self._rest(wanted), first)
        if wanted is not None and 0 not in wanted:
            return found
        at = 0 if wanted is None else list(wanted).index(0)
        tag: Any = to_column(self._tags(found.length, warnings), self._type)
        types = (*found.types[:at], self._type, *found.types[at:])
        return ColumnBatch(types, (*found.columns[:at], tag, *found.columns[at:]), found.length)

    def printed(self, rows: Iterable[Row]) -> bytes:
        return self.form.printed(row[1:] for row in rows)

    @property
    def _type(self) -> Type:
        return self.schema.fields[0].type if self.schema.fields else BYTES

    def _rest(self, wanted: Sequence[int] | None) -> list[int] | None:
        return None if wanted is None else [at - 1 for at in wanted if at]

    def _tags(self, count: int, warnings: Warnings) -> list[Value]:
        """The first field of so many rows, each of which is asked for."""
        assert self.source is not None, "only a file's copy reads"
        own = Warnings()
        value = reader_of(self._type, own)(self.source)
        for kind, times in own.counts.items():
            warnings.count(kind, times * count)
        return [value] * count
