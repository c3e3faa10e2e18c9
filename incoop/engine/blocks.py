"""What a task reads: a block of records, whether its bytes are a user's or its pairs another run's.

Contract: equal ids stand for equal records. A block travels to the task that reads it, so it must pickle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from incoop.code import unwatched
from incoop.contraction.columns.column import Column
from incoop.engine.stored import BlobReader
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.store.packs import Location, read_chunk


class Block(Protocol):
    """One chunk of a run's input."""

    @property
    def id(self) -> bytes: ...

    @property
    def length(self) -> int:
        """About how many bytes there are to work on."""
        ...

    def chunk(self) -> ChunkBlock | None:
        """The block as bytes, of which records and leaves are cut; None where its records are pairs."""
        ...

    def stored_pairs(self, reader: BlobReader) -> Column | None:
        """The block as pairs, of which leaves are cut; None where it is bytes, or its pairs are not stored."""
        ...

    def records(self, form: RecordFormat, reader: BlobReader) -> Sequence[Any]:
        """All of it; `form` says how bytes become records."""
        ...

    def place(self) -> str:
        """Where a user finds it, as far as that is known without reading."""
        ...

    def place_of(self, record_number: int) -> str:
        """Where a user finds a record of it."""
        ...


def records_of(form: RecordFormat, content: bytes) -> list[Any]:
    """All records of some bytes."""
    records = form.records(content)
    return records if isinstance(records, list) else list(records)


@dataclass(frozen=True, slots=True)
class ChunkBlock:
    """A chunk of a file: the user's own, or a pack's."""

    where: Location

    @property
    def id(self) -> bytes:
        return self.where.id

    @property
    def length(self) -> int:
        return self.where.length

    def chunk(self) -> ChunkBlock:
        return self

    def stored_pairs(self, reader: BlobReader) -> None:
        return None

    def content(self) -> bytes:
        with unwatched():
            return read_chunk(self.where)

    def records(self, form: RecordFormat, reader: BlobReader) -> list[Any]:
        return records_of(form, self.content())

    def place(self) -> str:
        """File and bytes, for the user's own file; else the chunk."""
        where = self.where
        if where.kept:
            return _chunk(self.id)
        return f"{where.path}, bytes {where.offset:,} to {where.offset + where.length:,}"

    def place_of(self, record_number: int) -> str:
        """File and line, for text in the user's own file; else the chunk."""
        where = self.where
        if where.kept:
            return _in_chunk(self.id, record_number)
        lines = 0
        with Path(where.path).open("rb") as file:
            left = where.offset
            while left and (piece := file.read(min(left, 1 << 20))):
                lines += piece.count(b"\n")
                left -= len(piece)
        return f"{where.path}, line {lines + record_number + 1}"


class PairBlock(ABC):
    """A block whose records are pairs, however it comes by them."""

    __slots__ = ()

    id: bytes
    length: int
    #: Where the block stands among its neighbours, as a number; shapes the tree over it. The same while its content
    #: alone changes.
    tail: int

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to work on."""
        return not self.length

    @abstractmethod
    def pairs(self, reader: BlobReader) -> list[Any]:
        """Its pairs, in order; or records as a file has them, where the mapper that reads it expects those."""

    def stored_pairs(self, reader: BlobReader) -> Column | None:
        return None

    def chunk(self) -> None:
        return None

    def records(self, form: RecordFormat, reader: BlobReader) -> Sequence[Any]:
        return self.pairs(reader)

    def place(self) -> str:
        return _chunk(self.id)

    def place_of(self, record_number: int) -> str:
        return _in_chunk(self.id, record_number)


def _chunk(id_: bytes) -> str:
    return f"chunk {id_.hex()[:16]}"


def _in_chunk(id_: bytes, record_number: int) -> str:
    return f"{_chunk(id_)}, record {record_number + 1}"
