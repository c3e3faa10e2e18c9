"""Take whole lines of some streams, as a new version of a dataset.

Contract: what was taken of each stream is in the version that holds it, in one step: its entry is as long as the offset
up to which it was taken. All chunks of a stream stay but its last one, if that can still grow. Lines are taken whole,
unless their log has ended, or the last one is asked for. A log that was truncated or replaced while it was read gives
nothing. Memory does not depend on how much there is to take.

Each batch would leave its version behind, with a last chunk that no later one has: the last few that ingests made are
kept, those that were put are never removed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np

from incoop.base.errors import BadCall
from incoop.inchdfs.cutting.chunk_table import ROW, Rows, rows_of
from incoop.inchdfs.cutting.records import Lines
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.splitter import ReadInto, Splitter
from incoop.inchdfs.errors import DatasetNotFound, InputNotFound, InputUnreadable, RecordTooLong
from incoop.inchdfs.ingest.homes import Homes
from incoop.inchdfs.ingest.log_file import LogFile
from incoop.inchdfs.ingest.recognise import still_holds
from incoop.inchdfs.ingest.streams import Stream, manifest_of, streams_in, versions_in
from incoop.inchdfs.ingest.whole_lines import LONGEST_LINE, WholeLines
from incoop.inchdfs.store.dataset_store import DatasetStore, VersionName
from incoop.inchdfs.store.manifest import Manifest, tag_of
from incoop.inchdfs.store.pack_writer import FreeBatches, PackWriter
from incoop.inchdfs.store.packs import PackIndex, read_chunk
from incoop.inchdfs.store.put import ChunkSink

#: A first version is cut as if it had at least so many bytes, since it will: into chunks of 256 KiB. Smaller ones make
#: long manifests, larger ones more to write again with every batch, whose last chunk is cut anew.
_EXPECTED = 16 << 20

#: Takes half of the time that rabin does, and no earlier version asks for that.
_CHUNKER = "fastcdc"

#: Versions made by ingests that are kept: a job that began with one still finds it some batches later.
KEPT_VERSIONS = 10


@dataclass(frozen=True, slots=True)
class Taken:
    """What a batch added."""

    version: VersionName
    bytes: int
    lines: int


class Overtaken(Exception):
    """Somebody else made or removed a version of the dataset meanwhile: what is known of it is out of date."""


class LogDataset:
    """The dataset that streams are taken into; one ingest at a time has it."""

    def __init__(
        self,
        store: DatasetStore,
        name: str,
        settings: ChunkSettings | None = None,
        *,
        compress: bool = False,
        keep: int = KEPT_VERSIONS,
    ) -> None:
        self._store, self.name, self._settings, self._compress, self._keep = store, name, settings, compress, keep
        self._index: PackIndex | None = None
        self._free: FreeBatches = SimpleQueue()
        self._after = 0
        self._versions: list[int] = []
        self._before = self._empty(0)
        self._splitter = Splitter(self._before.settings)
        #: In which batch something was last taken of a stream, by its name.
        self._served: dict[str, int] = {}
        self._batches = 0

    @property
    def newest(self) -> VersionName | None:
        return VersionName(self.name, self._after) if self._after else None

    def load(self, expected: int) -> list[Stream]:
        """The streams of the newest version; where there is none, `expected` bytes decide how large chunks are."""
        versions = self._store.versions(self.name)
        self._after = versions[-1] if versions else 0
        where = f"{self.name}@{self._after}"
        self._before = self._store.manifest(where) if versions else self._empty(expected)
        self._check_fits()
        self._versions = [version for version in versions_in(self._before) if version in versions]
        self._splitter = Splitter(self._before.settings, Lines(), longest=2 * LONGEST_LINE)
        return streams_in(self._before, where)

    def _empty(self, expected: int) -> Manifest:
        settings = self._settings or ChunkSettings.for_dataset(max(expected, _EXPECTED), _CHUNKER)
        return Manifest(settings, tag_of(Lines()), (), np.empty(0, ROW))

    def _check_fits(self) -> None:
        found = self._before
        if found.records_tag != tag_of(Lines()):
            raise BadCall(
                f"{self.name} holds records of the format {found.records_tag}, not lines; name another dataset."
            )
        if self._settings is not None and self._settings != found.settings:
            raise BadCall(f"{self.name} is cut by other chunk sizes; leave those options out, or name another dataset.")

    def stored(self, id_: bytes) -> bytes:
        """The bytes of a chunk."""
        if self._index is None or not self._index.holds(id_):
            self._index = PackIndex.load(self._store.packs, self._index)
        (where,) = self._index.locate(np.array([id_], "V16"))
        return read_chunk(where)

    def take(self, homes: Homes, budget: int, last_line: bool = False) -> Taken | None:
        """Take about `budget` bytes of what is there, first of who waited longest; None where there is no line."""
        waiting = sorted((s for s in homes.streams if s.lag), key=lambda s: self._served.get(s.name, 0))
        if not waiting:
            return None
        self._batches += 1
        taken = lines = 0
        grown: list[tuple[Stream, Rows]] = []
        packs, temporary = self._store.packs, self._store.temporary
        with self._store.writing(), PackWriter(packs, temporary, self._compress, self._free) as writer:
            self._index = PackIndex.load(self._store.packs, self._index)
            sink = ChunkSink(self._index, writer)
            for stream in waiting:
                if taken >= budget:
                    break
                found = self._read(stream, homes, sink, budget - taken, last_line)
                if found is None:
                    continue
                read, rows = found
                grown.append((stream, rows))
                taken, lines = taken + read.bytes, lines + read.lines
                self._served[stream.name] = self._batches
            if not grown:
                return None
            writer.finish()
            return Taken(self._publish(homes, grown), taken, lines)

    def _read(
        self, stream: Stream, homes: Homes, sink: ChunkSink, budget: int, last_line: bool
    ) -> tuple[WholeLines, Rows] | None:
        """Cut what is new in a stream into chunks; None where there is no whole line, or no stream any more."""
        home = stream.home
        assert home is not None
        read = WholeLines(home, stream.size, home.length, budget, home.ended or last_line)
        try:
            if isinstance(home, LogFile) and not still_holds(home, stream):
                homes.leave(stream)
                return None
            stream.waits = not read.find()
            if stream.waits:
                return None
            kept, first = self._reopened(stream)
            chunks = []
            for chunk, view in self._splitter.split(_after(first, read.read_into)):
                sink.take(chunk, view)
                chunks.append(chunk)
            if isinstance(home, LogFile) and not _was_whole(home, stream, read):
                homes.leave(stream)
                return None
        except RecordTooLong as error:
            if not isinstance(home, LogFile):
                raise
            homes.give_up(stream, f"a line is longer than {error.limit} bytes, and is not taken")
            return None
        except (InputUnreadable, InputNotFound) as error:
            homes.give_up(stream, error.why)
            return None
        return read, np.concatenate([kept, rows_of(chunks)])

    def _reopened(self, stream: Stream) -> tuple[Rows, bytes]:
        """The chunks that stay, and the bytes of the last one where more can extend it."""
        if not len(stream.rows) or stream.rows[-1]["closed"]:
            return stream.rows, b""
        return stream.rows[:-1], self.stored(bytes(stream.rows["id"][-1]))

    def _publish(self, homes: Homes, grown: list[tuple[Stream, Rows]]) -> VersionName:
        before = [(stream, stream.rows) for stream, _ in grown]
        for stream, rows in grown:
            stream.grow(rows)
            stream.trusted = False
        homes.note_stamps()
        made = [*self._versions, self._after + 1]
        version = self._store.publish(self.name, manifest_of(homes.streams, self._before, made), self._after)
        if version is None:
            for stream, rows in before:
                stream.grow(rows)
            raise Overtaken
        self._after, self._versions = self._after + 1, made[-self._keep :]
        for old in made[: -self._keep]:
            with suppress(DatasetNotFound):
                self._store.remove(f"{self.name}@{old}")
        return version


def _was_whole(file: LogFile, stream: Stream, read: WholeLines) -> bool:
    """Whether a file is still the one that was read: one that was truncated has another beginning, or is too short."""
    if file.compressed:
        return True
    end = file.lead + stream.size + read.bytes
    return (
        file.found().st_size >= end
        and still_holds(file, stream)
        and file.read_at(stream.size, len(read.first)) == read.first
    )


def _after(first: bytes, read_into: ReadInto) -> ReadInto:
    """Some bytes, then the others."""
    rest = memoryview(first)

    def both(target: memoryview) -> int:
        nonlocal rest
        if not rest:
            return read_into(target)
        size = min(len(rest), len(target))
        target[:size] = rest[:size]
        rest = rest[size:]
        return size

    return both
