"""Index the user's files where they are: the manifest of an input that is given by path.

Contract: the chunks are those of chunking every file from scratch with the same settings. A file whose stamp did not
move is not read, where its file system's times are to be trusted (stamps.py); any other is resynced against what is
known of it. The content of a file that cannot be read from the middle (compressed, or a pipe) is kept in the store's
packs.

The index of an input is one file, `<store>/inchdfs/inputs/<hash of what was named>.manifest`. It is a cache: when it
is damaged or gone, the input is chunked from scratch. Settings that nobody chose follow from the input's size now, not
from what it was when it was first indexed: where chunks end shows in the last digits of a sum of floats.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import xxhash

from incoop.base.atomic import write_atomically
from incoop.base.checksums import Signer
from incoop.base.content_ids import content_id
from incoop.base.errors import BadCall
from incoop.base.file_stamps import Stamp, Watch
from incoop.base.own_files import clear_way, read_regular
from incoop.inchdfs.cutting.chunk_table import EDGE, Rows, offsets_of, rows_of
from incoop.inchdfs.cutting.parallel import SegmentRunner
from incoop.inchdfs.cutting.records import Lines, RecordFormat
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.side_by_side import LookHelpers
from incoop.inchdfs.cutting.stretches import StretchBook
from incoop.inchdfs.errors import DatasetStoreTooNew, StoreDamaged
from incoop.inchdfs.files.chunking import chunk_file
from incoop.inchdfs.files.sources import COMPRESSED, InputFile, Listing, expand, local_paths, readable
from incoop.inchdfs.store.dataset_store import DatasetStore
from incoop.inchdfs.store.manifest import FileEntry, Manifest, tag_of
from incoop.inchdfs.store.pack_writer import PackWriter
from incoop.inchdfs.store.packs import Location, PackIndex, using_store
from incoop.inchdfs.store.put import ChunkSink, take_file
from incoop.inchdfs.store.stretch_file import load_stretches, save_stretches, stretch_path

log = logging.getLogger("incoop.inchdfs")

#: To look again at what was indexed, by whatever settings.
AsBefore = Literal["as before"]
AS_BEFORE: AsBefore = "as before"

Named = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def index_input(
    store: DatasetStore,
    inputs: Named,
    *,
    settings: ChunkSettings | AsBefore | None = None,
    records: RecordFormat | None = None,
    paranoid: bool = False,
    run_segments: SegmentRunner | None = None,
    progress: Callable[[int], object] = lambda _: None,
    will_read: Callable[[], object] = lambda: None,
    helpers: LookHelpers | None = None,
    whole: bool = False,
    records_code: str = "",
) -> Manifest:
    """The manifest of plain files, folders and globs, read only where they changed.

    `paranoid` verifies every file by its content; `will_read` is called before a file is read, and
    `helpers` are asked for help with one that changed. File names in the manifest are absolute paths. `settings` are
    those that the input was last indexed with where they are AS_BEFORE. `whole` is for readers to whom a changed chunk
    is new as a whole: chunks are then no larger than those of datasets. `records_code` names the code of a format that
    the user wrote: cut by other code, a file that did not change is another input.
    """
    records = records or Lines()
    files = expand(inputs)
    if not files:
        raise BadCall("no input was named.")
    watch = Watch()  # before the first look at a file
    stamps = [_stamp(file) for file in files]
    size = sum(stamp.size for stamp in stamps)
    chosen = ChunkSettings.for_dataset(size) if whole else ChunkSettings.for_input(size)
    # Of their own, where there are others: who reads both ways does not index it in turns.
    cut = "" if chosen == ChunkSettings.for_input(size) else "whole"
    path = _index_path(store, inputs, records, cut, records_code)
    before = _load(path, store.signer)
    if settings == AS_BEFORE:
        settings = before.settings if before is not None else None
    settings = settings or chosen
    previous = before if before is not None and before.settings == settings else None
    known = _Known(previous, watch.began)
    # Of chunks that other settings cut it is not known where they have no markers.
    stretches = (
        load_stretches(stretch_path(path), store.signer) if previous is not None else StretchBook(stretch_path(path))
    )

    entries: list[FileEntry] = []
    tables: list[Rows] = []
    with store.writing():  # content that is kept must not be collected before the index names it
        for file, stamp in zip(files, stamps, strict=True):
            name = str(file.path.absolute())
            rows = None if paranoid else known.unchanged(file.path, stamp)
            if rows is None:
                will_read()
            trusted = rows is not None or watch.will_tell(file.path, stamp)
            if not file.seekable:
                rows = _kept_content(store, file, settings, records, rows)
            elif rows is None:
                rows = rows_of(
                    chunk_file(file, settings, records, known.rows(file, name, stamp), run_segments, stretches, helpers)
                )
            length = int(rows["length"].sum(dtype=np.int64))
            entries.append(FileEntry(name, length, len(rows), stamp, not file.seekable, trusted))
            tables.append(rows)
            progress(stamp.size)
        notes = {"indexed": watch.began}
        manifest = Manifest(settings, tag_of(records), tuple(entries), np.concatenate(tables), notes, stretches)
        if previous is None or (previous.files, previous.root) != (manifest.files, manifest.root):
            with using_store(store.inputs):
                clear_way(path)
                write_atomically(path, [manifest.to_bytes(store.signer, path.name)])
                keep_stretches(store, manifest)
    return manifest


def keep_stretches(store: DatasetStore, manifest: Manifest) -> None:
    """Keep what has become known of the stretches of an indexed input's chunks."""
    try:
        save_stretches(manifest.stretches, manifest.rows["id"].tolist(), store.signer)
    except OSError as error:  # the next look searches more
        log.warning("%s: %s", manifest.stretches.path, error.strerror or error)


def locate(store: DatasetStore, manifest: Manifest) -> list[Location]:
    """Where the bytes of every chunk of a manifest are, in order."""
    index: PackIndex | None = None
    found: list[Location] = []
    for entry, rows in manifest.by_file():
        if entry.kept:
            index = index or store.index()
            found += index.locate(rows["id"])
        else:
            lengths = rows["length"].tolist()
            places = zip(rows["id"].tolist(), offsets_of(rows).tolist(), lengths, strict=True)
            found += [Location(id_, entry.name, offset, length, length, kept=False) for id_, offset, length in places]
    return found


def _kept_content(
    store: DatasetStore, file: InputFile, settings: ChunkSettings, records: RecordFormat, known: Rows | None
) -> Rows:
    """Keep the content of a compressed file or a pipe: a chunk of it cannot be read from the middle."""
    index = store.index()
    if known is not None and file.compressed and (index.find(known["id"]) >= 0).all():
        return known
    with PackWriter(store.packs, store.temporary, compress=True) as writer:
        rows = take_file(file, settings, records, None, ChunkSink(index, writer))
        writer.finish()
    return rows


class _Known:
    """What the last index knows of each file."""

    def __init__(self, previous: Manifest | None, now: int) -> None:
        self._by_name: dict[str, Rows] = {}
        #: Beside the stamp the ending: a link to a compressed file may have a name by which it is read as it is.
        self._by_stamp: dict[tuple[Stamp, str], Rows] = {}
        #: The same without the change time, which a rename moves.
        self._by_renamed: dict[Stamp, Rows] = {}
        self._by_head: dict[int, Rows] = {}
        if previous is None:
            return
        # A clock that was set back can give a file the times that it had before.
        times_go_on = previous.notes["indexed"] <= now
        for entry, rows in previous.by_file():
            self._by_name[entry.name] = rows
            if len(rows):
                self._by_head.setdefault(int(rows["head"][0]), rows)
            if entry.stamp is None:  # of an earlier format
                continue
            self._by_renamed[replace(entry.stamp, ctime_ns=0)] = rows
            if entry.trusted and times_go_on:
                self._by_stamp[entry.stamp, _read_as(Path(entry.name))] = rows

    def unchanged(self, path: Path, stamp: Stamp) -> Rows | None:
        """The rows of a file that did not move, under whatever name."""
        return self._by_stamp.get((stamp, _read_as(path)))

    def rows(self, file: InputFile, name: str, stamp: Stamp) -> Rows | None:
        """What to resync a file against; whatever it is, the chunks are the same.

        The file under another name (a rotated log), else what was under its name, unless another file begins as it
        does now (one that was copied).
        """
        renamed = self._by_renamed.get(replace(stamp, ctime_ns=0))
        if renamed is not None or not self._by_head:
            return renamed
        with readable(file.path), file.path.open("rb") as opened:
            head = xxhash.xxh3_64_intdigest(opened.read(EDGE))
        before = self._by_name.get(name)
        if before is not None and len(before) and before["head"][0] == head:
            return before
        return self._by_head.get(head, before)


def _read_as(path: Path) -> str:
    """The ending by which a file's content is decompressed; empty for one that is read as it is."""
    return path.suffix if path.suffix in COMPRESSED else ""


def _stamp(file: InputFile) -> Stamp:
    with readable(file.path):
        return Stamp.of(file.path)


def _index_path(store: DatasetStore, inputs: Named, records: RecordFormat, *kinds: str) -> Path:
    if isinstance(inputs, Listing):
        named = ["listing", inputs.name]
    else:
        named = [str(Path(one).absolute()) for one in local_paths(inputs)]
    key = "\0".join([*named, tag_of(records), *filter(None, kinds)])
    return store.inputs / f"{content_id(os.fsencode(key)).hex()}.manifest"


def _load(path: Path, signer: Signer) -> Manifest | None:
    """What was indexed last, by this store: rows that somebody else put under a file's stamp would be believed."""
    try:
        return Manifest.from_bytes(read_regular(path), str(path), signer, path.name)
    except FileNotFoundError:
        return None
    except (StoreDamaged, DatasetStoreTooNew, OSError) as error:
        log.warning("%s The input is chunked from scratch.", error)
        return None
