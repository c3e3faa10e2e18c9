"""What a format of records is to a query: bytes of whole records to rows or columns, and rows to bytes.

Contract: `columns` gives exactly what `rows` gives, values and warnings; it is the faster of the two. Both are pure
functions of the chunk's bytes. A field that does not fit its type is null, counted; nothing that bytes can hold is an
error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incoop.query.schema import Schema
from incoop.query.types import Row
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch


@dataclass(frozen=True, slots=True)
class TextFormat(ABC):
    """A format of records. Its fields say all that rows depend on besides the chunk."""

    schema: Schema

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
