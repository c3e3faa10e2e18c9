"""The folder of a node's cache: items named by pack and range, at most so many bytes, least recently used out first.

Contract: nothing here waits or raises for what lies in the folder. What is no plain file of ours (a pipe, a device, a
folder, a link, another user's file) is no item; only names that we give are read, counted or removed, so that a folder
with other things in it loses none of them. A folder that is not ours is refused when it is opened (NotOurs); one that
cannot be used is an OSError there, and later an item less. What killed workers left is removed by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from incoop.base.atomic import make_private_folder, unique_name, written_aside
from incoop.base.own_files import (
    NotAFile,
    NotOurs,
    clear_way,
    demand_own_folder,
    open_lock,
    open_own,
    read_own,
    real,
    remove,
)
from incoop.memo.files import TEMP, WRITE_BUFFER, Range
from incoop.memo.process import start_time

#: After an eviction this part of the limit is in use: evicting lists the folder, so it should not happen every time.
LOW_WATER = 0.9

#: A worker looks at what its neighbours added after adding this part of the limit itself.
LOOK_AGAIN = 1 / 16

_BECAUSE = "What is cached are results, for their owner alone"
_REMEDY = "Give each user a cache folder of their own: cache=DIR, or INCOOP_CACHE."

_NAME = re.compile(rb"[0-9a-f]{16}")
_SHELF = re.compile("[0-9a-f]{2}")
#: A pack's file name, and `whole` or the range.
_ITEM = re.compile(r"[0-9a-f]{32}(?:\.z)?@(?:whole|\d+\+\d+)")
#: `unique_name`, alone or behind the name of what was to be written.
_TEMPORARY = re.compile(r"(?:\.name\.)?(\d{1,9})-[0-9a-f]{16}")


@dataclass(slots=True)
class _Use:
    """Bytes in a cache, as far as this process knows, and those that it added since it last looked."""

    total: int
    added: int = 0


#: By folder: a worker opens the cache for every task, and listing it each time would cost more than some tasks.
_uses: dict[Path, _Use] = {}


def cache_name(folder: Path) -> str:
    """The cache's own name, given at its first use: it goes with the folder, whichever executor works beside it."""
    _demand_own(folder)
    path = folder / "name"
    try:
        if _NAME.fullmatch(found := read_own(path, limit=64)):
            return found.decode()
        remove(path)
    except FileNotFoundError:
        make_private_folder(folder)
        _demand_own(folder)  # once more: another user may have been faster
    except (NotAFile, NotOurs):
        remove(path)
    # A link, not a rename: of several workers that try, the first one names it.
    name = secrets.token_hex(8).encode()
    with written_aside(path, [name], durable=False, private=True) as draft, contextlib.suppress(FileExistsError):
        path.hardlink_to(draft)
    return read_own(path, limit=64).decode()


class CacheFolder:
    """A bounded folder of items that several workers of a node share."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.name = cache_name(folder)
        self._folder, self._limit = folder, limit
        temporary = folder / TEMP
        if temporary.is_symlink() or not temporary.is_dir():
            remove(temporary)
            temporary.mkdir(mode=0o700, exist_ok=True)
        demand_own_folder(temporary, _REMEDY, _BECAUSE)
        if folder not in _uses:
            self._clear_leftovers()
            _uses[folder] = _Use(sum(size for _, size, _ in self._items()))
        self._use = _uses[folder]

    def create(self) -> tuple[BinaryIO, Path]:
        """A new file, for `keep` to name."""
        path = self._folder / TEMP / unique_name()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        return os.fdopen(handle, "wb", buffering=WRITE_BUFFER), path

    def keep(self, temporary: Path, name: str, part: str) -> None:
        """Make a file an item, and others leave if they are too many. A file that cannot be kept is removed."""
        try:
            size = temporary.stat().st_size
            path = self._path(name, part)
            if size > self._limit or not self._shelf(path.parent):
                return
            clear_way(path)
            temporary.replace(path)
            self._use.total += size
            self._use.added += size
            if self._use.total > self._limit or self._use.added > self._limit * LOOK_AGAIN:
                self._evict()
        except OSError:
            return
        finally:
            _remove(temporary)

    def add(self, name: str, wanted: Range, data: bytes) -> None:
        """Keep a range of a pack, if there is room."""
        if len(data) > self._limit:
            return
        with contextlib.suppress(OSError):
            handle, temporary = self.create()
            try:
                with handle:
                    handle.write(data)
            except OSError:
                _remove(temporary)
                return
            self.keep(temporary, name, _part(wanted))

    def whole(self, name: str, ranges: Sequence[Range]) -> list[bytes] | None:
        """Ranges of a pack that is here as a whole; None where it is not."""
        with contextlib.suppress(OSError, NotOurs), self._opened(name, "whole") as source:
            size = os.fstat(source.fileno()).st_size
            if all(offset + length <= size for offset, length in ranges):
                return [_read(source, each) for each in ranges]
        return None

    def range(self, name: str, wanted: Range) -> bytes | None:
        """A range of a pack that is here by itself; None where it is not."""
        with contextlib.suppress(OSError, NotOurs), self._opened(name, _part(wanted)) as source:
            # Looked at first: what lies there may have any size.
            if os.fstat(source.fileno()).st_size == wanted[1]:
                return source.read()
        return None

    def forget(self, name: str) -> None:
        """Drop what is held of a pack."""
        for path, size, _ in self._of_shelf(self._folder / name[:2]):
            if path.name.startswith(f"{name}@"):
                self._use.total -= size
                _remove(path)

    def clear(self) -> None:
        """Drop everything."""
        for path, _, _ in self._items():
            _remove(path)
        self._use.total = 0

    def _path(self, name: str, part: str) -> Path:
        return self._folder / name[:2] / f"{name}@{part}"

    def _opened(self, name: str, part: str) -> BinaryIO:
        handle = open_own(self._path(name, part))
        os.utime(handle)  # a mark that it was used
        return os.fdopen(handle, "rb", buffering=0)

    def _shelf(self, shelf: Path) -> bool:
        """Make a shelf, unless there is something in its place that is none; whether there is one."""
        with contextlib.suppress(FileExistsError):
            shelf.mkdir(mode=0o700)
        return stat.S_ISDIR(shelf.lstat().st_mode)

    def _evict(self) -> None:
        """Bring the folder under its limit; one worker at a time, so that each sees what the others left."""
        lock = open_lock(self._folder / "evicting")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            items = sorted(self._items(), key=lambda item: item[2])
            total = sum(size for _, size, _ in items)
            if total > self._limit:
                for path, size, _ in items:
                    if total <= self._limit * LOW_WATER:
                        break
                    _remove(path)
                    total -= size
            self._use.total, self._use.added = total, 0
        finally:
            os.close(lock)

    def _items(self) -> Iterator[tuple[Path, int, int]]:
        """Every item with its size and when it was used; nothing is followed."""
        with contextlib.suppress(OSError), os.scandir(self._folder) as shelves:
            for shelf in shelves:
                if _SHELF.fullmatch(shelf.name) and shelf.is_dir(follow_symlinks=False):
                    yield from self._of_shelf(Path(shelf.path))

    @staticmethod
    def _of_shelf(shelf: Path) -> Iterator[tuple[Path, int, int]]:
        if shelf.is_symlink():
            return
        with contextlib.suppress(OSError), os.scandir(shelf) as items:
            for item in items:
                if _ITEM.fullmatch(item.name):
                    with contextlib.suppress(OSError):  # it may go while it is listed
                        found = item.stat(follow_symlinks=False)
                        yield Path(item.path), found.st_size, found.st_mtime_ns

    def _clear_leftovers(self) -> None:
        """Remove what killed workers were writing; one that lives, in another container, caches an item less."""
        for folder in (self._folder, self._folder / TEMP):
            with contextlib.suppress(OSError):
                for path in folder.iterdir():
                    match = _TEMPORARY.fullmatch(path.name)
                    if match and start_time(int(match[1])) is None:
                        _remove(path)


def _demand_own(folder: Path) -> None:
    where = real(folder)
    if where.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))
    demand_own_folder(where, _REMEDY, _BECAUSE)


def _part(wanted: Range) -> str:
    return f"{wanted[0]}+{wanted[1]}"


def _read(source: BinaryIO, wanted: Range) -> bytes:
    source.seek(wanted[0])
    data = source.read(wanted[1])
    if len(data) != wanted[1]:  # cut while it was read
        raise NotAFile(errno.EIO, "it is shorter than it was")
    return data


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        remove(path)
