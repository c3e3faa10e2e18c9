"""Store files as a new version of a dataset, or append to the newest one.

Contract: the chunks of a version are those of its files chunked from scratch, however much of them was known before.
What an earlier version or another dataset holds is not written again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from incoop.base.content_ids import content_id
from incoop.base.errors import BadCall
from incoop.inchdfs.cutting.chunk_table import Chunk, Rows, rows_of
from incoop.inchdfs.cutting.records import Lines, RecordFormat
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.splitter import ReadInto, Splitter
from incoop.inchdfs.errors import FileChangedWhileRead
from incoop.inchdfs.files.chunking import chunks_and_bytes
from incoop.inchdfs.files.sources import InputFile, longest_record, open_content, readable, total_size, unchanging
from incoop.inchdfs.store.dataset_store import DatasetStore, VersionName
from incoop.inchdfs.store.manifest import FileEntry, Manifest, records_of, tag_of
from incoop.inchdfs.store.pack_writer import PackWriter
from incoop.inchdfs.store.packs import PackIndex, read_chunk

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


class ChunkSink:
    """Collects chunks, and writes those that the store does not hold."""

    def __init__(self, index: PackIndex, writer: PackWriter, progress: Progress = lambda _: None) -> None:
        self._index, self._writer, self._progress = index, writer, progress
        self._written: set[bytes] = set()
        self.new_bytes = 0

    @property
    def new_chunks(self) -> int:
        return len(self._written)

    def take(self, chunk: Chunk, data: memoryview | Callable[[], bytes]) -> None:
        """Write a chunk if it is new; only then are bytes that are not at hand asked for."""
        if chunk.id not in self._written and not self._index.holds(chunk.id):
            self._writer.add(chunk.id, data() if callable(data) else data)
            self._written.add(chunk.id)
            self.new_bytes += chunk.length
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
    settings = settings or (previous.settings if previous else ChunkSettings.for_dataset(total_size(files)))
    comparable = previous is not None and (previous.settings, previous.records_tag) == (settings, tag_of(records))
    known = {entry.name: rows for entry, rows in previous.by_file()} if previous and comparable else {}
    stored = _store_files(store, target, files, settings, records, known, compress, progress)
    assert stored is not None  # only a version that must follow a certain one can come too late
    return stored


def append(
    store: DatasetStore,
    files: list[InputFile],
    name: str,
    *,
    records: RecordFormat | None = None,
    compress: bool = False,
    progress: Progress = lambda _: None,
) -> PutReport:
    """Add the content of `files` to the end of the newest version: only its last chunk is cut again.

    A dataset that does not exist yet is made. When another put is faster, the append starts again on its version.
    A format of the user's own must be given again with `records`; a built-in one is remembered.
    """
    target = _target(name)
    while True:
        if store.versions(target):
            done = _append_to(store, store.resolve(target), files, records, compress, progress)
        else:
            settings = ChunkSettings.for_dataset(total_size(files))
            done = _store_files(store, target, files, settings, records or Lines(), {}, compress, progress, after=0)
        if done is not None:
            return done


def _store_files(
    store: DatasetStore,
    target: str,
    files: list[InputFile],
    settings: ChunkSettings,
    records: RecordFormat,
    known: Mapping[str, Rows],
    compress: bool,
    progress: Progress,
    after: int | None = None,
) -> PutReport | None:
    if not files:
        raise BadCall("there is no file to store.")
    with store.writing(), PackWriter(store.packs, store.temporary, compress) as writer:
        sink = ChunkSink(store.index(), writer, progress)
        entries, tables = [], []
        for file in files:
            rows = take_file(file, settings, records, known.get(file.name), sink)
            entries.append(FileEntry(file.name, int(rows["length"].sum(dtype=np.int64)), len(rows)))
            tables.append(rows)
        writer.finish()
        manifest = Manifest(settings, tag_of(records), tuple(entries), np.concatenate(tables))
        return _publish(store, target, manifest, sink, after)


def _append_to(
    store: DatasetStore,
    base: VersionName,
    files: list[InputFile],
    records: RecordFormat | None,
    compress: bool,
    progress: Progress,
) -> PutReport | None:
    manifest = store.manifest(str(base))
    records = records or records_of(manifest.records_tag)
    if tag_of(records) != manifest.records_tag:
        raise BadCall(f"{base} holds records of the format {manifest.records_tag}; append with the same one.")
    with store.writing(), PackWriter(store.packs, store.temporary, compress) as writer:
        sink = ChunkSink(store.index(), writer, progress)
        keep, reopened = _reopen_last_chunk(store, manifest)
        appended = []
        with _concatenated(reopened, files) as read_into:
            limits = [longest_record(file) for file in files]
            longest = max((limit for limit in limits if limit is not None), default=None) if all(limits) else None
            for chunk, view in Splitter(manifest.settings, records, longest=longest).split(read_into):
                sink.take(chunk, view)
                appended.append(chunk)
        writer.finish()
        rows = np.concatenate([manifest.rows[:keep], rows_of(appended)])
        last = manifest.files[-1]
        size = last.size - len(reopened) + sum(chunk.length for chunk in appended)
        grown = FileEntry(last.name, size, last.chunks + len(rows) - len(manifest.rows))
        longer = Manifest(manifest.settings, manifest.records_tag, (*manifest.files[:-1], grown), rows)
        return _publish(store, base.name, longer, sink, base.version)


def _publish(
    store: DatasetStore, target: str, manifest: Manifest, sink: ChunkSink, after: int | None
) -> PutReport | None:
    version = store.publish(target, manifest, after)
    if version is None:
        return None
    return PutReport(version, manifest.size, len(manifest.rows), sink.new_bytes, sink.new_chunks)


def _target(name: str) -> str:
    target = VersionName.parse(name)
    if target.version is not None:
        raise BadCall(f"a put makes the next version by itself; name the dataset without @{target.version}.")
    return target.name


def take_file(
    file: InputFile, settings: ChunkSettings, records: RecordFormat, known: Rows | None, sink: ChunkSink
) -> Rows:
    """Chunk one file, hand its chunks to the sink, and give its rows."""
    chunks = []
    for chunk, view in chunks_and_bytes(file, settings, records, known):
        sink.take(chunk, partial(_read_again, file.path, chunk) if view is None else view)
        chunks.append(chunk)
    return rows_of(chunks)


def _read_again(path: Path, chunk: Chunk) -> bytes:
    """Read a chunk that another process found; what was found and what is stored must be the same."""
    with readable(path), path.open("rb", buffering=0) as file:
        data = os.pread(file.fileno(), chunk.length, chunk.offset)
    if content_id(data) != chunk.id:
        raise FileChangedWhileRead(str(path))
    return data


def _reopen_last_chunk(store: DatasetStore, manifest: Manifest) -> tuple[int, bytes]:
    """How many chunks stay as they are, and the bytes of the last one when more data can still extend it."""
    if not manifest.files[-1].chunks or manifest.rows[-1]["closed"]:
        return len(manifest.rows), b""
    keep = len(manifest.rows) - 1
    (where,) = store.index().locate(manifest.rows["id"][keep:])
    return keep, read_chunk(where)


@contextmanager
def _concatenated(first: bytes, files: Iterable[InputFile]) -> Iterator[ReadInto]:
    """One stream of some bytes and then the content of every file."""
    with closing(_pieces(first, files)) as pieces:
        rest = memoryview(b"")

        def read_into(target: memoryview) -> int:
            nonlocal rest
            while not rest:
                following = next(pieces, None)
                if following is None:
                    return 0
                rest = following
            size = min(len(rest), len(target))
            target[:size] = rest[:size]
            rest = rest[size:]
            return size

        yield read_into


def _pieces(first: bytes, files: Iterable[InputFile]) -> Generator[memoryview, None, None]:
    yield memoryview(first)
    buffer = memoryview(bytearray(1 << 20))
    for file in files:
        with unchanging(file), open_content(file) as read_into:
            while size := read_into(buffer):
                yield buffer[:size]
