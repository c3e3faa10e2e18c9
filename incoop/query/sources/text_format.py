"""What a format of records is to a query; one of text: bytes of whole records to rows or columns, and rows to bytes.

Contract: equal rows have equal bytes. `columns` gives exactly what `rows` gives, values and warnings; it is the faster
of the two. Both are pure functions of the chunk's bytes. A field that does not fit its type is null, counted; nothing
that bytes can hold is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from incoop.query.schema import Schema
from incoop.query.types import Row
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch


#: Rows that are printed at once: some megabytes of text.
_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Format(ABC):
    """A format of records. Its fields say all that rows depend on besides the content."""

    schema: Schema

    #: How names of part files end.
    suffix: ClassVar[str] = ""

    @abstractmethod
    def file_of(self, rows: Iterable[Row]) -> Iterator[bytes]:
        """A file of rows, piece by piece."""


@dataclass(frozen=True, slots=True)
class TextFormat(Format):
    """A format of text: chunks of it, cut behind records, can be read one by one."""

    @abstractmethod
    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        """The records of a chunk; only the wanted fields of each, if these are given. `first`: the chunk begins its
        file.
        """

    def columns(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> ColumnBatch:
        """The same by column, where the fields are known."""
        from incoop.query.expressions.batches import ColumnBatch

        fields = self.schema.known("reading by column")
        chosen = range(len(fields)) if wanted is None else wanted
        return ColumnBatch.from_rows(self.rows(chunk, warnings, wanted, first), [fields[at].type for at in chosen])

    @abstractmethod
    def printed(self, rows: Iterable[Row]) -> bytes:
        """Rows as records, each ended."""

    def file_of(self, rows: Iterable[Row]) -> Iterator[bytes]:
        left = iter(rows)
        while some := list(islice(left, _AT_ONCE)):
            yield self.printed(some)


def lines_of(chunk: bytes) -> list[bytes]:
    r"""Lines without their ends: `\n`, `\r\n` or a lone `\r`, as the project reads text everywhere.

    Example:
        >>> lines_of(b"a\r\nb\n\nc")
        [b'a', b'b', b'', b'c']
    """
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = chunk.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines
