"""An ingest that is stepped by hand: look and take when a test says so, and be killed between any two steps."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from pathlib import Path

import numpy as np

from incoop.inchdfs import ChunkSettings, Dataset, DatasetStore, Splitter
from incoop.inchdfs.cutting.chunk_table import rows_of
from incoop.inchdfs.ingest.homes import Homes
from incoop.inchdfs.ingest.listing import LogListing, Troubles
from incoop.inchdfs.ingest.take import LogDataset, Taken

HEADER = b"#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n"

#: Small, so that a few lines are several chunks.
SMALL = ChunkSettings(average=256)


class Shipper:
    """One that follows `sources` into the dataset `logs`."""

    def __init__(self, store: Path, *sources: Path | str, most_open: int = 256) -> None:
        self.store = DatasetStore(store)
        self._sources, self._most_open = [str(source) for source in sources], most_open
        #: What was said of files.
        self.said: list[str] = []
        self._start()

    def _start(self) -> None:
        with self.store.writing():
            pass
        troubles = Troubles(self.said.append)
        self.dataset = LogDataset(self.store, "logs", SMALL)
        streams = self.dataset.load(0)
        listing = LogListing(self._sources, troubles, self.store.folder)
        self.homes = Homes(streams, listing, troubles, self.dataset.stored, self._most_open)

    def look(self) -> None:
        self.homes.look()

    def take(self, budget: int = 64 << 20, last_line: bool = False) -> Taken | None:
        return self.dataset.take(self.homes, budget, last_line)

    def poll(self, budget: int = 64 << 20, last_line: bool = False) -> None:
        """Look once, and take all that is there."""
        self.look()
        while self.take(budget, last_line) is not None:
            pass

    def kill(self) -> None:
        """Forget everything that is not on disk, and start again."""
        self.homes.close()
        self._start()

    def content(self) -> bytes:
        if not self.store.versions("logs"):
            return b""
        return b"".join(Dataset(self.store, "logs").chunks())

    def lines(self) -> list[bytes]:
        return self.content().splitlines()

    def by_stream(self) -> dict[str, bytes]:
        """The bytes of each entry."""
        dataset = Dataset(self.store, "logs")
        chunks = list(dataset.chunks())
        found, at = {}, 0
        for entry in dataset.manifest.files:
            found[entry.name] = b"".join(chunks[at : at + entry.chunks])
            at += entry.chunks
        return found

    def check_cuts(self) -> None:
        """The chunks of each stream are those of its bytes cut from scratch."""
        contents = self.by_stream()
        for entry, rows in Dataset(self.store, "logs").manifest.by_file():
            scratch = rows_of(Splitter(SMALL).split_bytes(contents[entry.name]))
            assert np.array_equal(rows, scratch), entry.name


def numbered(low: int, high: int) -> bytes:
    return b"".join(b"%06d GET /page/%d 200\n" % (n, n * 7919 % 1000) for n in range(low, high))


def add(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def age(path: Path, seconds: float = 60) -> None:
    """Make a file one that nobody has written to for some time."""
    os.utime(path, (time.time() - seconds, time.time() - seconds))


def copytruncate(path: Path, copy: Path) -> None:
    shutil.copyfile(path, copy)
    os.truncate(path, 0)


def each_once(shipper: Shipper, *contents: bytes) -> None:
    assert Counter(shipper.lines()) == Counter(b"".join(contents).splitlines())
    shipper.check_cuts()
