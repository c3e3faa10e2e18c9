"""What is known of the row groups of Parquet files: hashed once, while a file's stamp tells that it did not change.

Contract: what is given is what a look at all files would give. A column's chunks are read when a query first uses it.
The index of an input is one file, `<store>/inchdfs/inputs/<hash of what was named>.columns`, signed. It is a cache:
when it is damaged or gone, columns are hashed again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from incoop.base.content_ids import content_id
from incoop.base.errors import BadCall
from incoop.base.file_stamps import Stamp, Watch
from incoop.engine.inputs import SCHEME
from incoop.inchdfs import DatasetStore
from incoop.inchdfs.errors import FileChangedWhileRead
from incoop.inchdfs.files.sources import expand, local_paths, readable
from incoop.inchdfs.store.packs import using_store
from incoop.memo.signed_files import read_signed, write_signed
from incoop.query.execution.parquet_groups import ColumnInGroup, ParquetFooter, explained
from incoop.query.schema import Schema
from incoop.query.sources.parquet import Parquet
from incoop.query.types import Field

#: Another layout of the index, another number.
_VERSION = 1
_ID = 16


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file's row groups."""

    path: str
    stamp: Stamp
    #: Rows of each row group.
    groups: tuple[int, ...]
    #: Of columns that are used, each row group's, by name, and their type here.
    columns: Mapping[str, tuple[ColumnInGroup, ...]]
    types: Mapping[str, str]
    #: Whether the stamp will tell of a change.
    trusted: bool


def schema_of_parquet(named: Any, columns: Sequence[str] | None = None) -> Schema:
    """The fields of Parquet files, or the named ones: those of the first file.

    Example:
        >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
        >>> path = tempfile.mkdtemp() + "/a.parquet"
        >>> pq.write_table(pa.table({"id": [1, 2], "tags": [["x"], []]}), path)
        >>> print(schema_of_parquet(path))
        (id: long, tags: {(text)})
    """
    from incoop.query.execution.parquet_groups import UnreadableParquet
    from incoop.query.sources.arrow_values import our_type

    path = str(_files(named)[0])
    schema = ParquetFooter(path).schema
    fields = []
    for name in schema.names if columns is None else columns:
        at = schema.get_field_index(name)
        if at < 0:
            raise UnreadableParquet(path, f"there is no column {name!r}, or there are several of that name.")
        kind = our_type(schema.field(at).type)
        if kind is None:
            raise UnreadableParquet(
                path, f"column {name!r} is {schema.field(at).type}, which has no type here. Name the columns to read."
            )
        fields.append(Field(name, kind))
    return Schema(tuple(fields))


def indexed_files(store: DatasetStore, named: Any, form: Parquet, wanted: Sequence[int]) -> list[IndexedFile]:
    """The row groups of files, with the columns that are wanted."""
    fields = form.known()
    names = {fields[at].name or "": str(fields[at].type) for at in wanted}
    paths = _files(named)
    index = store.inputs / f"{content_id(os.fsencode(chr(0).join(_named(named)))).hex()}.columns"
    watch = Watch()  # before the first look at a file
    known = _load(index, store, watch.began)
    found = []
    for path in paths:
        with readable(path):
            stamp = Stamp.of(path)
        before = known.get(str(path), {}).get(stamp)
        if before is None or not all(before.types.get(name) == kind for name, kind in names.items()):
            trusted = watch.will_tell(path, stamp)
            before = _looked_at(str(path), stamp, trusted, form, wanted, before)
        found.append(before)
    if [each for several in known.values() for each in several.values()] != [each for each in found if each.trusted]:
        _save(index, store, watch.began, found)
    return found


def _files(named: Any) -> list[Path]:
    several = [named] if isinstance(named, str | os.PathLike) else named
    if any(os.fspath(each).startswith(SCHEME) for each in several):
        raise BadCall("Parquet files are read where they are: name paths, globs or folders, and no stored dataset.")
    return [each.path.absolute() for each in expand(named)]


def _named(named: Any) -> list[str]:
    return [str(Path(one).absolute()) for one in local_paths(named)]


def _looked_at(
    path: str, stamp: Stamp, trusted: bool, form: Parquet, wanted: Sequence[int], before: IndexedFile | None
) -> IndexedFile:
    """A file, with the columns that are not known of it read."""
    footer = ParquetFooter(path)
    footer.demand(form, wanted)
    groups = footer.groups
    columns = dict(before.columns) if before is not None else {}
    types = dict(before.types) if before is not None else {}
    with explained(path):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for field in (form.known()[at] for at in wanted):
            name = field.name or ""
            if name not in columns:
                columns[name] = tuple(
                    footer.column(group, name, footer.contents(handle, group, name)) for group in range(len(groups))
                )
            types[name] = str(field.type)
    finally:
        os.close(handle)
    if Stamp.of(Path(path)) != stamp:
        raise FileChangedWhileRead(path)
    return IndexedFile(path, stamp, tuple(groups), columns, types, trusted)


def _load(index: Path, store: DatasetStore, now: int) -> dict[str, dict[Stamp, IndexedFile]]:
    """What the last look found of files whose stamps tell, by path and stamp."""
    found: dict[str, dict[Stamp, IndexedFile]] = {}
    if not index.exists():
        return found
    fields = read_signed(index, store.signer)
    # A clock that was set back can give a file the times that it had before.
    if fields is None or fields["version"] != _VERSION or fields["looked"] > now:
        return found
    for path, stamp, groups, columns in fields["files"]:
        several: dict[str, tuple[ColumnInGroup, ...]] = {}
        for name, (ids, lengths, _) in columns.items():
            packed = bytes.fromhex(ids)
            several[name] = tuple(
                ColumnInGroup(packed[_ID * at : _ID * (at + 1)], length) for at, length in enumerate(lengths)
            )
        types = {name: kind for name, (_, _, kind) in columns.items()}
        found[path] = {Stamp(*stamp): IndexedFile(path, Stamp(*stamp), tuple(groups), several, types, True)}
    return found


def _save(index: Path, store: DatasetStore, looked: int, files: Sequence[IndexedFile]) -> None:
    rows = [
        (
            *(each.path, astuple(each.stamp), each.groups),
            {
                name: (b"".join(one.id for one in ids).hex(), [one.length for one in ids], each.types[name])
                for name, ids in each.columns.items()
            },
        )
        for each in files
        if each.trusted
    ]
    with suppress(OSError), store.writing(), using_store(store.inputs):  # the next look reads more
        write_signed(index, {"version": _VERSION, "looked": looked, "files": rows}, store.signer, durable=False)
