"""Row groups of a Parquet file: what of them is used, what names that, and how it is read.

Contract: the name of a column of a row group is the hash of its chunks' bytes, of what says how these are decoded, and
of nothing else: not of places, other columns or the file's own notes and statistics. What is decoded are the bytes that
were hashed: whatever else a reader asks for is not there.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from incoop.base.content_ids import content_id
from incoop.query.errors import QueryError
from incoop.query.sources.parquet import Parquet

#: Part of every name: another way to decode the same bytes, another number.
_VERSION = 1

#: Readers of files of old writers (PARQUET-816) ask for so many bytes behind a chunk, and make nothing of them.
_BEHIND = 100


class UnreadableParquet(QueryError):
    """A file that is no Parquet file, is damaged, or does not have the columns that are asked of it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.args = (path, why)
        self.path, self.why = path, why


@dataclass(frozen=True, slots=True)
class ColumnInGroup:
    """A used column of a row group."""

    id: bytes
    #: Bytes of its chunks.
    length: int


@contextmanager
def explained(path: str) -> Iterator[None]:
    """What pyarrow and the system say of a file, with its name."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise UnreadableParquet(path, f"{error.strerror}. Mend the file or its permissions.") from error
        said = str(error).strip().rstrip(".") or type(error).__name__
        raise UnreadableParquet(path, f"not a Parquet file, or a damaged one ({said}). Write it again.") from error


class ParquetFooter:
    """What the end of a file says of its row groups."""

    def __init__(self, path: str) -> None:
        import pyarrow.parquet as pq

        self.path = path
        with explained(path):
            self.metadata = pq.read_metadata(path)
            self.schema = self.metadata.schema.to_arrow_schema()

    @property
    def groups(self) -> list[int]:
        """Rows of each row group."""
        return [self.metadata.row_group(at).num_rows for at in range(self.metadata.num_row_groups)]

    @cached_property
    def _leaves(self) -> list[range]:
        """For each column, the numbers of the leaves that it is stored in."""
        found, first = [], 0
        for each in self.schema:
            count = _leaves_of(each.type)
            found.append(range(first, first + count))
            first += count
        return found

    def leaves(self, name: str) -> range:
        """The numbers of a column's leaves."""
        at: int = self.schema.get_field_index(name)
        return self._leaves[at]

    def demand(self, form: Parquet, wanted: Sequence[int]) -> None:
        """Refuse a file whose columns are not those that are used."""
        from incoop.query.sources.arrow_values import can_be, our_type

        for field in (form.known()[at] for at in wanted):
            at = self.schema.get_field_index(field.name or "")
            if at < 0:
                have = ", ".join(self.schema.names)
                raise UnreadableParquet(
                    self.path,
                    f"there is no column {field.name!r}, or there are several; it has {have}. All files of an input "
                    "have the columns that are used of it.",
                )
            kind = self.schema.field(at).type
            if not can_be(kind, field.type):
                found = our_type(kind)
                said = f"{kind}, which is {found} here" if found is not None else f"{kind}, which has no type here"
                raise UnreadableParquet(
                    self.path,
                    f"column {field.name!r} is {said}, and not {field.type}. Declare what it is, or leave it out.",
                )

    def said(self, group: int, leaf: int) -> tuple[Any, ...]:
        """How the bytes of a leaf's chunk are decoded."""
        column, chunk = self.metadata.schema.column(leaf), self.metadata.row_group(group).column(leaf)
        start, _ = self.span(group, leaf)
        return (
            *(column.path, column.physical_type, column.length, str(column.logical_type), column.converted_type),
            *(column.precision, column.scale, column.max_definition_level, column.max_repetition_level),
            *(chunk.compression, chunk.num_values, chunk.data_page_offset - start),
        )

    def span(self, group: int, leaf: int) -> tuple[int, int]:
        """Where a leaf's chunk begins and ends in the file."""
        chunk = self.metadata.row_group(group).column(leaf)
        start = chunk.data_page_offset
        if chunk.has_dictionary_page and chunk.dictionary_page_offset:
            start = min(start, chunk.dictionary_page_offset)
        return start, start + chunk.total_compressed_size

    def column(self, group: int, name: str, contents: Sequence[bytes]) -> ColumnInGroup:
        """A column by the bytes of its leaves' chunks."""
        leaves = self.leaves(name)
        rows, kind = self.metadata.row_group(group).num_rows, self.schema.field(name).type
        said = repr((_VERSION, rows, str(kind), [self.said(group, leaf) for leaf in leaves])).encode()
        return ColumnInGroup(content_id(b"".join([said, *map(content_id, contents)])), sum(map(len, contents)))

    def contents(self, handle: int, group: int, name: str) -> list[bytes]:
        """The bytes of a column's chunks, of an open file."""
        found = []
        for leaf in self.leaves(name):
            start, end = self.span(group, leaf)
            if start < 0 or not start <= end <= os.fstat(handle).st_size:
                raise UnreadableParquet(self.path, "its end says of chunks that they are where it has no bytes.")
            found.append(os.pread(handle, end - start, start))
        return found

    def decoded(self, group: int, names: Sequence[str], contents: Sequence[Sequence[bytes]]) -> Any:
        """A table of columns, from the bytes of their chunks and no others."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not names:
            rows = self.metadata.row_group(group).num_rows
            return pa.table({"": pa.nulls(rows)}).select([])
        leaves = [leaf for name in names for leaf in self.leaves(name)]
        held = [content for column in contents for content in column]
        spans = [(self.span(group, leaf)[0], content) for leaf, content in zip(leaves, held, strict=True)]
        with explained(self.path):
            file = pq.ParquetFile(
                _Held(spans),
                metadata=self.metadata,
                pre_buffer=False,  # else chunks are asked for together, with what lies between them
                coerce_int96_timestamp_unit="us",
            )
            table = file.reader.read_row_group(group, column_indices=sorted(leaves), use_threads=False)
            return table.select([table.schema.get_field_index(name) for name in names])


class _Held(io.RawIOBase):
    """A file of which some bytes are at hand."""

    def __init__(self, spans: Sequence[tuple[int, bytes]]) -> None:
        self._spans = sorted(spans, key=lambda span: span[0])
        self._size = max((start + len(data) for start, data in spans), default=0) + _BEHIND
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        begin, end = self._at, self._size if size < 0 else self._at + size
        self._at = end
        for start, data in self._spans:
            if start <= begin < start + len(data):
                found = data[begin - start : end - start]
                missing = end - begin - len(found)
                if missing <= _BEHIND:
                    return found + bytes(missing)
        raise EOFError(f"bytes {begin:,} to {end:,} are of no chunk that is used")


def _leaves_of(kind: Any) -> int:
    """In how many leaves values of a type are stored."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _leaves_of(kind.storage_type)
    if pa.types.is_struct(kind):
        return sum(_leaves_of(kind.field(at).type) for at in range(kind.num_fields))
    if pa.types.is_map(kind):
        return _leaves_of(kind.key_type) + _leaves_of(kind.item_type)
    if pa.types.is_dictionary(kind) or pa.types.is_nested(kind):
        return _leaves_of(kind.value_type)
    return 1
