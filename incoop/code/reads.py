"""What the user's code reads besides its input: files, folders, environment variables; by name, and by content.

Contract: a `Read` is a name; its digest is that of what the name leads to now, or of its absence. Equal digests of all
that code read mean that it would read the same again. Pure but for looking at the file system and the environment.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from incoop.base.content_ids import content_id
from incoop.base.file_digests import FileDigests

#: Kinds of reads.
FILE, FOLDER, VARIABLE = "file", "folder", "variable"

#: The digest of a file, folder or variable that is not there.
ABSENT = b"absent".ljust(16, b"\0")

#: The digest of what has none: a device, or a file that changed while it was read. Equal to no other, not even itself
#: at another time: who finds it stores nothing.
UNKNOWN = b""


@dataclass(frozen=True, slots=True, order=True)
class Read:
    """One thing that was read."""

    kind: str
    #: An absolute path, or the name of an environment variable.
    name: str

    def __str__(self) -> str:
        return f"environment variable {self.name}" if self.kind == VARIABLE else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Observed:
    """What the code of some tasks read, with digests as of then, and what it did that cannot be followed."""

    reads: Mapping[Read, bytes] = field(default_factory=dict)
    #: Sentences, each with the line of code.
    untracked: frozenset[str] = frozenset()


def digest_of(read: Read) -> bytes:
    """The digest of what a name leads to now.

    Example:
        >>> digest_of(Read("file", "/no/such/file")) == ABSENT
        True
    """
    if read.kind == VARIABLE:
        value = os.environ.get(read.name)
        return ABSENT if value is None else content_id(os.fsencode(value))
    try:
        if read.kind == FOLDER:
            return content_id(b"\0".join(sorted(os.fsencode(name) for name in os.listdir(read.name))))
        return _file_digest(Path(read.name))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError:
        return UNKNOWN


def _file_digest(path: Path) -> bytes:
    before = path.stat()
    if stat.S_ISDIR(before.st_mode):
        return content_id(b"a folder")
    if not stat.S_ISREG(before.st_mode):
        return UNKNOWN
    digest = _digests.of(path)
    return digest if stamp_of(path.stat()) == stamp_of(before) else UNKNOWN


def stamp_of(found: os.stat_result) -> tuple[int, ...]:
    """What tells that a file was written."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


#: The same files are asked for after every task.
_digests = FileDigests()


@dataclass(frozen=True, slots=True)
class Context:
    """What the code of a stage is known to read, with digests as of now."""

    reads: Mapping[Read, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, reads: Iterable[Read]) -> Context:
        """Look at what these names lead to now."""
        return cls({read: digest_of(read) for read in sorted(reads)})

    def digest(self) -> bytes:
        """Equal when all that is read is; empty where nothing is."""
        if not self.reads:
            return b""
        pieces = [
            f"{read.kind} {read.name}".encode("utf-8", "surrogateescape") + b"\0" + found
            for read, found in self.reads.items()
        ]
        return content_id(b"".join(len(piece).to_bytes(4, "little") + piece for piece in pieces))

    def covers(self, observed: Observed) -> bool:
        """Whether all that was read is known, and was then what it is now."""
        return all(digest and self.reads.get(read) == digest for read, digest in observed.reads.items())
