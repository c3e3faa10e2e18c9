"""Parquet files as the input of a stage: a block is the columns that are used of a row group.

Contract: a block's id says what its rows are: the names and types that are asked for are the plan's, the content is the
used columns'. A worker decodes what has that id, or says that the file changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xxhash

from incoop.base.content_ids import content_id
from incoop.base.file_stamps import Stamp
from incoop.code import unwatched
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.blocks import PairBlock
from incoop.engine.stored import BlobReader
from incoop.inchdfs import DatasetStore
from incoop.inchdfs.errors import FileChangedWhileRead, InputUnreadable
from incoop.query.execution.held import Held
from incoop.query.execution.parquet_groups import ColumnInGroup, ParquetFooter
from incoop.query.execution.parquet_index import IndexedFile, indexed_files
from incoop.query.execution.reading import Reading, together
from incoop.query.sources.parquet import Parquet
from incoop.query.warnings import Warnings

#: Footers that a process keeps: a task reads row groups of one file one after the other.
_FOOTERS = 4
_footers: dict[tuple[str, Stamp], ParquetFooter] = {}


def _footer(path: str, stamp: Stamp) -> ParquetFooter:
    found = _footers.get((path, stamp))
    if found is None:
        while len(_footers) >= _FOOTERS:
            del _footers[next(iter(_footers))]
        found = _footers[path, stamp] = ParquetFooter(path)
    return found


@dataclass(frozen=True, slots=True)
class RowGroupBlock(PairBlock):
    """The used columns of a row group. Its only record is a table of them."""

    id: bytes
    length: int
    tail: int
    path: str
    stamp: Stamp
    group: int
    columns: tuple[tuple[str, ColumnInGroup], ...] = field(repr=False)

    @classmethod
    def of(cls, file: IndexedFile, group: int, names: Sequence[str]) -> RowGroupBlock:
        columns = tuple((name, file.columns[name][group]) for name in names)
        said = b"".join([b"row group", file.groups[group].to_bytes(8, "little"), *(each.id for _, each in columns)])
        id_ = content_id(said)
        # The content itself shapes the tree above, as of other blocks that have no bytes before their end. A block of
        # no bytes would be left out.
        size = sum(each.length for _, each in columns)
        return cls(id_, size or 1, xxhash.xxh3_64_intdigest(id_), file.path, file.stamp, group, columns)

    def pairs(self, reader: BlobReader) -> list[Any]:
        with unwatched():
            try:
                return [self._table()]
            except FileNotFoundError:
                raise InputUnreadable(self.path, "the file is gone") from None

    def _table(self) -> Any:
        if Stamp.of(self._path) != self.stamp:
            raise FileChangedWhileRead(self.path)
        footer = _footer(self.path, self.stamp)
        handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            contents = [footer.contents(handle, self.group, name) for name, _ in self.columns]
        finally:
            os.close(handle)
        for (name, column), content in zip(self.columns, contents, strict=True):
            if footer.column(self.group, name, content) != column:
                raise FileChangedWhileRead(self.path)
        return footer.decoded(self.group, [name for name, _ in self.columns], contents)

    @property
    def _path(self) -> Any:
        from pathlib import Path

        return Path(self.path)

    def place(self) -> str:
        return f"{self.path}, row group {self.group + 1}"

    def place_of(self, record_number: int) -> str:
        return self.place()


class ParquetInput:
    """The row groups of files; a `BlockSource` for the engine. Files are looked at when it is asked for blocks."""

    def __init__(
        self, store: Callable[[], DatasetStore], named: Any, form: Parquet, wanted: Sequence[int] | None
    ) -> None:
        self._store, self._named, self._form = store, named, form
        self._wanted = tuple(range(len(form.known()))) if wanted is None else tuple(wanted)

    def output_blocks(self) -> Sequence[PairBlock]:
        files = indexed_files(self._store(), self._named, self._form, self._wanted)
        names = [self._form.known()[at].name or "" for at in self._wanted]
        return [RowGroupBlock.of(file, group, names) for file in files for group in range(len(file.groups))]

    def recover(self, lost: BlockLost) -> None:
        raise lost


@dataclass(frozen=True, slots=True)
class ReadParquet(Reading):
    """Tables of columns."""

    form: Parquet
    wanted: tuple[int, ...]

    def read(self, pieces: Sequence[Sequence[Any]], warnings: Warnings) -> Held:
        parts = [self.form.columns_of(table, self.wanted, warnings) for (table,) in pieces]
        fields = self.form.known()
        types = tuple(fields[at].type for at in self.wanted)
        numbers = np.repeat(np.arange(len(parts)), [part.length for part in parts])
        return Held(types, numbers, parts[0] if len(parts) == 1 else together(parts, types))
