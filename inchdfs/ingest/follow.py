"""The loop of an ingest: look at the files, take what is there, wait.

Contract: nothing is read before it can be stored, so that what waits, waits in the files: memory stays as it is however
far behind we are, and a process that is killed has lost nothing (of standard input, what it read since the last
batch). A stop takes one more batch. Without `follow` what is there at one look is taken.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from incoop.base.errors import BadCall
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.errors import InputNotFound
from incoop.inchdfs.files.sources import local_paths
from incoop.inchdfs.ingest.homes import Homes
from incoop.inchdfs.ingest.listing import LogListing, Tell, Troubles
from incoop.inchdfs.ingest.lock import ingest_lock
from incoop.inchdfs.ingest.spool import InputSpool
from incoop.inchdfs.ingest.streams import Stream, unused_name
from incoop.inchdfs.ingest.take import KEPT_VERSIONS, LogDataset, Overtaken, Taken
from incoop.inchdfs.store.dataset_store import DatasetStore, VersionName

#: Seconds between two looks: a look costs some microseconds a file.
POLL_SECONDS = 0.5

#: What is there is taken when it is so much, or has waited so long.
BATCH_BYTES = 64 << 20
BATCH_SECONDS = 10.0

#: Lines a second are those of this many seconds.
_RATE_SECONDS = 10.0

#: A log whose file was truncated under our eyes is found again by another look; so often, where none follows by itself.
_LOOKS_AT_ONCE = 3

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How to ingest."""

    follow: bool = False
    batch_bytes: int = BATCH_BYTES
    batch_seconds: float = BATCH_SECONDS
    #: Take a last line that has no end, too.
    last_line: bool = False
    compress: bool = False
    settings: ChunkSettings | None = None
    #: Versions that ingests made, to keep.
    keep: int = KEPT_VERSIONS


@dataclass(slots=True)
class IngestStatus:
    """How far an ingest is."""

    #: The newest version, if there is any.
    version: VersionName | None = None
    files: int = 0
    #: Bytes that are there and were not taken.
    lag: int = 0
    lines_a_second: float = 0.0
    #: Taken since the start.
    bytes: int = 0
    lines: int = 0
    batches: int = 0


def ingest(
    store: DatasetStore,
    sources: Sequence[str],
    name: str,
    options: IngestOptions,
    *,
    tell: Tell,
    show: Callable[[IngestStatus], object] = lambda _: None,
    stop: threading.Event | None = None,
) -> IngestStatus:
    """Take what files, folders and globs hold, or standard input (`-`), into the dataset `name`.

    `tell` is called with a sentence for each trouble, `show` with how far it is.
    """
    target = VersionName.parse(name)
    if target.version is not None:
        raise BadCall(f"an ingest makes versions by itself; name the dataset without @{target.version}.")
    if options.batch_bytes < 1 or options.batch_seconds <= 0 or options.keep < 1:
        raise BadCall("a batch has at least one byte and takes more than no time, and one version is kept.")
    if STANDARD_INPUT in sources and len(sources) > 1:
        raise BadCall("standard input (-) cannot be mixed with other sources.")
    if STANDARD_INPUT in sources and sys.stdin is None:
        raise BadCall("standard input is closed; redirect something to it, or name a file.")
    running = _Ingest(store, list(sources), target.name, options, tell, show, stop or threading.Event())
    running.demand_files()
    with store.writing():  # makes the folders, and removes what a killed ingest left
        pass
    with ingest_lock(store, target.name):
        return running.run()


class _Ingest:
    def __init__(
        self,
        store: DatasetStore,
        sources: list[str],
        name: str,
        options: IngestOptions,
        tell: Tell,
        show: Callable[[IngestStatus], object],
        stop: threading.Event,
    ) -> None:
        self._store, self._options, self._show, self._stop = store, options, show, stop
        self._from_input = sources == [STANDARD_INPUT]
        self._sources = sources
        self._troubles = Troubles(tell)
        self._listing = LogListing([] if self._from_input else local_paths(sources), self._troubles, store.folder)
        self._dataset = LogDataset(store, name, options.settings, compress=options.compress, keep=options.keep)
        self._status = IngestStatus()
        self._taken: deque[tuple[float, int]] = deque()

    def demand_files(self) -> None:
        """An error where there is nothing to take, and nothing to wait for."""
        waits = self._from_input or self._options.follow
        if not waits and not any(not seen.beside for seen in self._listing.look()):
            raise InputNotFound(", ".join(self._sources), "there is no log file")

    def run(self) -> IngestStatus:
        self._load()
        try:
            if self._from_input:
                self._take_input()
            elif self._options.follow:
                self._follow()
            else:
                self._take_what_is_there()
            self._tell_status()
        finally:
            self._homes.close()
        self._status.version = self._dataset.newest
        return self._status

    def _load(self) -> None:
        expected = sum(seen.found.st_size for seen in self._listing.look() if not seen.beside)
        streams = self._dataset.load(expected)
        self._homes = Homes(streams, self._listing, self._troubles, self._dataset.stored)

    def _take_what_is_there(self) -> None:
        looks = 0
        while looks < _LOOKS_AT_ONCE and not self._stop.is_set():
            self._homes.look()
            there = [stream for stream in self._homes.streams if stream.home is not None]
            took = False
            while not self._stop.is_set() and self._take() is not None:
                self._tell_status()
                took = True
            if self._homes.unopened and took:
                continue  # more files than can be open: those that were taken are closed at the next look
            if not self._homes.unopened and all(stream.home is not None for stream in there):
                return
            looks += 1

    def _follow(self) -> None:
        # What is there at first has waited long enough, though the clock of a machine begins when the machine does.
        waits_since: float | None = -math.inf
        while not self._stop.is_set():
            self._homes.look()
            lag, now = self._tell_status(), time.monotonic()
            if not lag:
                waits_since = None
            elif waits_since is None:
                waits_since = now
            due = waits_since is not None and now - waits_since >= self._options.batch_seconds
            if due or lag >= self._options.batch_bytes:
                waits_since = None
                if self._take() is not None and self._tell_status() >= self._options.batch_bytes:
                    continue
            self._stop.wait(POLL_SECONDS)
        self._homes.look()
        self._take()

    def _take_input(self) -> None:
        with InputSpool(self._store.temporary) as spool:
            self._status.files = 1
            stream = self._new_stream(spool)
            began, enough = time.monotonic(), self._options.batch_bytes
            while not (spool.ended or self._stop.is_set()):
                spool.wait(POLL_SECONDS, enough - stream.lag)
                self._tell_status()
                if stream.lag >= enough or time.monotonic() - began >= self._options.batch_seconds:
                    taken = self._take()
                    if stream not in self._homes.streams:  # somebody else put another version
                        stream = self._new_stream(spool, stream.size)
                    spool.forget(stream.size)
                    # A line that is longer than a batch needs more of it.
                    enough = self._options.batch_bytes + (stream.lag if taken is None else 0)
                    began = time.monotonic()
            spool.ended = True
            while stream.lag:
                if self._take() is None and stream not in self._homes.streams:
                    stream = self._new_stream(spool, stream.size)

    def _new_stream(self, spool: InputSpool, taken: int = 0) -> Stream:
        spool.begin_at(taken)
        stream = Stream(unused_name("stdin", {s.name for s in self._homes.streams}), STANDARD_INPUT, home=spool)
        self._homes.streams.append(stream)
        return stream

    def _take(self) -> Taken | None:
        try:
            taken = self._dataset.take(self._homes, self._options.batch_bytes, self._options.last_line)
        except Overtaken:
            self._homes.close()
            self._load()
            return None
        if taken is not None:
            status = self._status
            status.bytes, status.lines = status.bytes + taken.bytes, status.lines + taken.lines
            status.batches, status.version = status.batches + 1, taken.version
            self._taken.append((time.monotonic(), taken.lines))
        return taken

    def _tell_status(self) -> int:
        """Say how far we are; the bytes that wait."""
        now = time.monotonic()
        while self._taken and now - self._taken[0][0] > _RATE_SECONDS:
            self._taken.popleft()
        if not self._from_input:
            self._status.files = self._homes.files
        self._status.lag = sum(stream.lag for stream in self._homes.streams)
        self._status.lines_a_second = sum(lines for _, lines in self._taken) / _RATE_SECONDS
        self._show(self._status)
        return self._status.lag
