"""What is known of each log, and how a manifest keeps it.

Contract: the bytes of an entry are the bytes of its stream, from the first on; their chunks are those of a cut from
scratch. An entry that was put, and not ingested, is a stream, too: its file is recognised. What a manifest says besides
(where a stream was last, what the file system said of it, NULs left out) is needed for nothing but speed, and NULs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incoop.base.file_stamps import Stamp
from incoop.inchdfs.cutting.chunk_table import ROW, Rows
from incoop.inchdfs.errors import DatasetStoreTooNew, StoreDamaged
from incoop.inchdfs.ingest.log_file import LogContent
from incoop.inchdfs.store.manifest import FileEntry, Manifest

#: Of what is kept under NOTE in a manifest's notes.
STREAMS_FORMAT = 1
NOTE = "ingest"


@dataclass(eq=False)
class Stream:
    """What was written to one log, as far as it was taken."""

    #: Its entry in the dataset.
    name: str
    #: Where it was last seen.
    path: str
    rows: Rows = field(default_factory=lambda: np.empty(0, ROW))
    #: NULs before its content.
    skip: int = 0
    stamp: Stamp | None = None
    #: While its stamp does not move, the file need not be read.
    trusted: bool = False
    #: Where its content is now, if that is known.
    home: LogContent | None = None
    #: All that is there and was not taken is a line without an end.
    waits: bool = False
    size: int = 0

    def __post_init__(self) -> None:
        self.grow(self.rows)

    def grow(self, rows: Rows) -> None:
        """Take in what was taken."""
        self.rows, self.size = rows, int(rows["length"].sum(dtype=np.int64))
        self.waits = False

    @property
    def lag(self) -> int:
        """Bytes that are there and were not taken."""
        return max(0, self.home.length - self.size) if self.home is not None else 0

    @property
    def inode(self) -> tuple[int, int] | None:
        return (self.stamp.device, self.stamp.inode) if self.stamp is not None else None


def streams_in(manifest: Manifest, where: str) -> list[Stream]:
    """The streams of a version, wherever their files are now."""
    note = manifest.notes.get(NOTE, {"format": STREAMS_FORMAT, "paths": [], "skips": {}})
    if note["format"] > STREAMS_FORMAT:
        raise DatasetStoreTooNew(where, note["format"], STREAMS_FORMAT)
    try:
        paths = note["paths"] or [entry.name for entry in manifest.files]
        skips = {int(at): int(skip) for at, skip in note["skips"].items()}
        return [
            Stream(entry.name, path, rows, skips.get(at, 0), entry.stamp, entry.trusted)
            for at, ((entry, rows), path) in enumerate(zip(manifest.by_file(), paths, strict=True))
        ]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise StoreDamaged(where, f"what it says of its logs is not understood ({type(error).__name__})") from error


def versions_in(manifest: Manifest) -> list[int]:
    """The versions that ingests made, up to this one, and did not remove."""
    return list(manifest.notes.get(NOTE, {}).get("versions", []))


def manifest_of(streams: Sequence[Stream], before: Manifest, versions: Iterable[int]) -> Manifest:
    """The manifest of a version that holds these streams, with the settings of another."""
    kept = [stream for stream in streams if len(stream.rows)]
    note: dict[str, Any] = {
        "format": STREAMS_FORMAT,
        "paths": [stream.path for stream in kept],
        "skips": {str(at): stream.skip for at, stream in enumerate(kept) if stream.skip},
        "versions": list(versions),
    }
    entries = tuple(FileEntry(s.name, s.size, len(s.rows), s.stamp, True, s.trusted) for s in kept)
    rows = np.concatenate([np.empty(0, ROW), *(stream.rows for stream in kept)])
    return Manifest(before.settings, before.records_tag, entries, rows, {NOTE: note})


def unused_name(wanted: str, taken: Collection[str]) -> str:
    """The name of a new entry: as wanted, or numbered where an earlier log had that name.

    Example:
        >>> unused_name("a.log", {"a.log", "a.log~2"})
        'a.log~3'
    """
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}~{number}"
    return name
