"""Where packs are kept as files: a folder, or any fsspec filesystem.

Contract: a name appears only when its file is whole (temporary name, then rename), and appears again with the new
bytes when it is published again, so a damaged pack is healed by recomputing it. A failed write leaves nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from incoop.base.atomic import make_folder, sync, unique_name
from incoop.base.file_stamps import Stamp
from incoop.base.own_files import clear_way, remove

#: Folder for temporary names, beside the packs so that a rename never crosses filesystems.
TEMP = "tmp"

#: Bytes gathered before a write to the file: packs are made of many blocks of a few kilobytes.
WRITE_BUFFER = 1 << 20

#: Seconds by which the clock of another filesystem or machine may differ from ours.
CLOCK_SLACK = 120.0

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file as a listing shows it."""

    name: str
    size: int
    #: Seconds since the epoch by the filesystem's clock.
    modified: float


class PackFiles(Protocol):
    """What the blob store needs of a place for files."""

    #: Shown to people.
    where: str

    def create(self) -> tuple[BinaryIO, str]: ...
    def publish(self, temporary: str, name: str) -> None: ...
    def discard(self, temporary: str) -> None: ...
    def read(self, name: str, ranges: Sequence[Range]) -> list[bytes]: ...
    def size(self, name: str) -> int: ...
    def delete(self, name: str, unless_since: float | None = None) -> bool: ...
    def scan(self) -> Iterator[StoredFile]: ...
    def scan_temporary(self) -> Iterator[StoredFile]: ...


def split_name(name: str) -> str:
    """Packs lie in 256 folders by their first byte: listings stay short with millions of packs."""
    return f"{name[:2]}/{name}"


class FolderFiles:
    """Packs in a local (or mounted) folder."""

    def __init__(self, folder: Path, *, fsync: bool = False) -> None:
        self._folder, self._fsync = folder, fsync
        self.where = str(folder)
        (folder / TEMP).mkdir(mode=0o700, parents=True, exist_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / split_name(name)

    def create(self) -> tuple[BinaryIO, str]:
        temporary = unique_name()
        path = self._folder / TEMP / temporary
        try:
            return path.open("xb", buffering=WRITE_BUFFER), temporary
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return path.open("xb", buffering=WRITE_BUFFER), temporary

    def publish(self, temporary: str, name: str) -> None:
        source, target = self._folder / TEMP / temporary, self._path(name)
        if self._fsync:
            sync(source)
        try:
            source.replace(target)
        except IsADirectoryError:
            clear_way(target)
            source.replace(target)
        except FileNotFoundError:
            if self._fsync:
                make_folder(target.parent)
            else:
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            source.replace(target)
        if self._fsync:
            sync(target.parent)

    def discard(self, temporary: str) -> None:
        remove(self._folder / TEMP / temporary)

    def read(self, name: str, ranges: Sequence[Range]) -> list[bytes]:
        # A plain string: pathlib would take longer than the read.
        # Not waited for: a pipe in its place cannot be read from the middle, which is an error.
        fd = os.open(f"{self.where}/{split_name(name)}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            # One pread gives at most 2 GiB; a pack that long comes in pieces.
            return [_pread(fd, offset, length) for offset, length in ranges]
        finally:
            os.close(fd)

    def size(self, name: str) -> int:
        return self._path(name).stat().st_size

    def stamp(self, name: str) -> Stamp:
        """Which file it is, and when it was written to."""
        return Stamp.of(self._path(name))

    def delete(self, name: str, unless_since: float | None = None) -> bool:
        """Remove a pack, unless it was published again since that time; says whether it is gone."""
        path = self._path(name)
        if unless_since is None:
            remove(path)
            return True
        # Look at the time only after taking the name away: a writer that publishes later makes a new file, and one
        # that published before is seen here and gets its file back.
        taken = self._folder / TEMP / f"condemned-{secrets.token_hex(8)}"
        try:
            path.rename(taken)
        except FileNotFoundError:
            return True
        if taken.lstat().st_mtime >= unless_since:
            with contextlib.suppress(FileExistsError, PermissionError):  # PermissionError: a folder
                path.hardlink_to(taken)
            remove(taken)
            return False
        remove(taken)
        return True

    def scan(self) -> Iterator[StoredFile]:
        for shelf in sorted(self._folder.iterdir()):
            if shelf.name != TEMP and not shelf.is_symlink() and shelf.is_dir():
                yield from _listed(shelf)

    def scan_temporary(self) -> Iterator[StoredFile]:
        yield from _listed(self._folder / TEMP)


def _pread(fd: int, offset: int, length: int) -> bytes:
    data = os.pread(fd, length, offset)
    if len(data) == length or not data:
        return data
    pieces = [data]
    got = len(data)
    while got < length and (data := os.pread(fd, length - got, offset + got)):
        pieces.append(data)
        got += len(data)
    return b"".join(pieces)


def _listed(folder: Path) -> Iterator[StoredFile]:
    with os.scandir(folder) as found:
        for item in found:
            # A file may go while it is listed.
            with contextlib.suppress(FileNotFoundError):
                stat = item.stat(follow_symlinks=False)
                yield StoredFile(item.name, stat.st_size, stat.st_mtime)


def now_at(files: PackFiles) -> float:
    """The current time by the clock that stamps the files, as far as it can be known without writing a pack."""
    if isinstance(files, FolderFiles):
        handle, temporary = files.create()
        try:
            with handle:
                return os.fstat(handle.fileno()).st_mtime
        finally:
            files.discard(temporary)
    return time.time()
