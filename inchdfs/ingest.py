"""Store files as a new version of a dataset, or append to the newest one.

Contract: the chunks of a version are those of its files chunked from scratch, however much of them was known before.
What an earlier version or another dataset holds is not written again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash

from inchdfs.chunk_table import Chunk, Rows, rows_of
from inchdfs.chunking import chunk_file
from inchdfs.errors import FileChangedWhileRead
from inchdfs.manifest import FileEntry, Manifest, records_of, tag_of
from inchdfs.packs import PackIndex, PackWriter, read_chunk
from inchdfs.records import Lines, RecordFormat
from inchdfs.settings import ChunkSettings
from inchdfs.sources import InputFile, open_content
from inchdfs.splitter import ReadInto, Splitter
from inchdfs.store import DatasetStore, VersionName
from incoop.errors import BadCall

#: Called with the number of bytes just dealt with.
Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class PutReport:
    """What a put did."""

    version: VersionName
    bytes: int
    chunks: int
    #: Bytes that the store did not hold before.
    new_bytes: int
    new_chunks: int


class Sink:
    """Collects chunks, and writes those that the store does not hold."""

    def __init__(self, index: PackIndex, writer: PackWriter, progress: Progress = lambda _: None) -> None:
        self._index, self._writer, self._progress = index, writer, progress
        self._written: set[bytes] = set()
        self.new_bytes = 0

    @property
    def new_chunks(self) -> int:
        return len(self._written)

    def take(self, chunk: Chunk, read: Callable[[], bytes]) -> None:
        if chunk.id not in self._written and self._index.find(np.array([chunk.id], "V16"))[0] < 0:
            self._written.add(chunk.id)
            self.new_bytes += chunk.length
            self._writer.add(chunk.id, read)
        self._progress(chunk.length)


def put(
    store: DatasetStore,
    files: list[InputFile],
    name: str,
    *,
    settings: ChunkSettings | None = None,
    records: RecordFormat | None = None,
    compress: bool = False,
    progress: Progress = lambda _: None,
) -> PutReport:
    """Store `files` as the next version of `name`.

    Without `settings` or `records`, those of the version before are kept, so that chunks stay comparable; a first
    version chooses by size and takes lines of text.
    """
    target = _target(name)
    previous = store.manifest(target) if store.versions(target) else None
    records = records or (records_of(previous.records_tag) if previous else Lines())
    total = sum(file.path.stat().st_size for file in files)
    settings = settings or (previous.settings if previous else ChunkSettings.for_input(total))
    comparable = previous is not None and (previous.settings, previous.records_tag) == (settings, tag_of(records))
    known = {entry.name: rows for entry, rows in previous.by_file()} if previous and comparable else {}

    with store.writing(), PackWriter(store.packs, store.temporary, compress) as writer:
        sink = Sink(store.index(), writer, progress)
        entries, tables = [], []
        for file in files:
            rows = take_file(file, settings, records, known.get(file.name), sink)
            entries.append(FileEntry(file.name, int(rows["length"].sum(dtype=np.int64)), len(rows)))
            tables.append(rows)
        writer.finish()
        manifest = Manifest(settings, tag_of(records), tuple(entries), np.concatenate(tables))
        version = store.publish(target, manifest)
    assert version is not None
    return PutReport(version, manifest.size, len(manifest.rows), sink.new_bytes, sink.new_chunks)


def append(
    store: DatasetStore,
    files: list[InputFile],
    name: str,
    *,
    compress: bool = False,
    progress: Progress = lambda _: None,
) -> PutReport:
    """Add the content of `files` to the end of the newest version: only its last chunk is cut again.

    A dataset that does not exist yet is made. When another put is faster, the append starts again on its version.
    """
    target = _target(name)
    while True:
        if not store.versions(target):
            return put(store, files, name, compress=compress, progress=progress)
        base = store.resolve(target)
        manifest = store.manifest(str(base))
        records = records_of(manifest.records_tag)
        with store.writing(), PackWriter(store.packs, store.temporary, compress) as writer:
            sink = Sink(store.index(), writer, progress)
            keep, reopened = _reopen_last_chunk(store, manifest)
            contents = _contents(reopened, files)
            appended = [
                _take_view(chunk, view, sink) for chunk, view in Splitter(manifest.settings, records).split(contents)
            ]
            writer.finish()
            rows = np.concatenate([manifest.rows[:keep], rows_of(appended)])
            last = manifest.files[-1]
            size = last.size - len(reopened) + sum(chunk.length for chunk in appended)
            grown = FileEntry(last.name, size, last.chunks + len(rows) - len(manifest.rows))
            version = store.publish(
                target,
                Manifest(manifest.settings, manifest.records_tag, (*manifest.files[:-1], grown), rows),
                after=base.version,
            )
        if version is not None:
            return PutReport(
                version, int(rows["length"].sum(dtype=np.int64)), len(rows), sink.new_bytes, sink.new_chunks
            )


def _target(name: str) -> str:
    target = VersionName.parse(name)
    if target.version is not None:
        raise BadCall(f"a put makes the next version by itself; name the dataset without @{target.version}.")
    return target.name


def take_file(file: InputFile, settings: ChunkSettings, records: RecordFormat, known: Rows | None, sink: Sink) -> Rows:
    """Chunk one file, hand its chunks to the sink, and give its rows."""
    if not file.seekable:
        with open_content(file) as read_into:
            return rows_of(
                _take_view(chunk, view, sink) for chunk, view in Splitter(settings, records).split(read_into)
            )
    chunks = []
    for chunk in chunk_file(file, settings, records, known):
        sink.take(chunk, _reader(file.path, chunk))
        chunks.append(chunk)
    return rows_of(chunks)


def _take_view(chunk: Chunk, view: memoryview, sink: Sink) -> Chunk:
    data = bytes(view)
    sink.take(chunk, lambda: data)
    return chunk


def _reader(path: Path, chunk: Chunk) -> Callable[[], bytes]:
    """Read a chunk's bytes again; what was found and what is stored must be the same."""

    def read() -> bytes:
        with path.open("rb", buffering=0) as file:
            data = os.pread(file.fileno(), chunk.length, chunk.offset)
        if xxhash.xxh3_128_digest(data) != chunk.id:
            raise FileChangedWhileRead(str(path))
        return data

    return read


def _reopen_last_chunk(store: DatasetStore, manifest: Manifest) -> tuple[int, bytes]:
    """How many chunks stay as they are, and the bytes of the last one when more data can still extend it."""
    if not manifest.files[-1].chunks or manifest.rows[-1]["closed"]:
        return len(manifest.rows), b""
    keep = len(manifest.rows) - 1
    (where,) = store.index().locate(manifest.rows["id"][keep:])
    return keep, read_chunk(where)


def _contents(first: bytes, files: Iterable[InputFile]) -> ReadInto:
    """One stream of some bytes and then the content of every file."""

    def pieces() -> Iterator[memoryview]:
        yield memoryview(first)
        buffer = memoryview(bytearray(1 << 20))
        for file in files:
            with open_content(file) as read_into:
                while size := read_into(buffer):
                    yield buffer[:size]

    source = pieces()
    rest = memoryview(b"")

    def read_into(target: memoryview) -> int:
        nonlocal rest
        while not rest:
            following = next(source, None)
            if following is None:
                return 0
            rest = following
        size = min(len(rest), len(target))
        target[:size] = rest[:size]
        rest = rest[size:]
        return size

    return read_into
