"""A node-local folder in front of a remote place for packs.

Contract: holds the ranges that were read here and the packs that were written here, at most `limit` bytes, least
recently used out first. Several workers of a node share the folder. It is never the only copy: everything in it may be
removed at any time, and a damaged item is dropped (`forget`) and read from the origin.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from incoop.base.atomic import unique_name, written_aside
from incoop.memo.files import TEMP, WRITE_BUFFER, PackFiles, Range, StoredFile

#: After an eviction this part of the limit is in use: evicting lists the folder, so it should not happen every time.
LOW_WATER = 0.9

#: A worker looks at what its neighbours added after adding this part of the limit itself.
LOOK_AGAIN = 1 / 16


@dataclass(slots=True)
class Traffic:
    """Bytes of packs: read from caches, fetched from their origins, written."""

    local: int = 0
    moved: int = 0
    written: int = 0


_traffic = Traffic()


def take_traffic() -> Traffic:
    """What passed through caches in this process since the last call. A Python worker runs one task at a time."""
    global _traffic
    taken, _traffic = _traffic, Traffic()
    return taken


def cache_name(folder: Path) -> str:
    """The cache's own name, given at its first use: it goes with the folder, whichever executor works beside it."""
    path = folder / "name"
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = secrets.token_hex(8).encode()
    # A link, not a rename: of several workers that try, the first one names it.
    with written_aside(path, [name], durable=False) as draft, contextlib.suppress(FileExistsError):
        path.hardlink_to(draft)
    return path.read_text()


@dataclass(slots=True)
class _Use:
    """Bytes in a cache, as far as this process knows, and those that it added since it last looked."""

    total: int
    added: int = 0


#: By folder: a worker opens the cache for every task, and listing it each time would cost more than some tasks.
_uses: dict[Path, _Use] = {}


class CachedFiles:
    """The origin's files, with a bounded local copy of what is used here."""

    def __init__(self, origin: PackFiles, folder: Path, limit: int) -> None:
        self._origin, self._folder, self._limit = origin, folder, limit
        self.where, self.name = origin.where, cache_name(folder)
        (folder / TEMP).mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder not in _uses:
            _uses[folder] = _Use(sum(item.st_size for _, item in self._items()))
        self._use = _uses[folder]

    def create(self) -> tuple[BinaryIO, str]:
        temporary = unique_name()
        return (self._folder / TEMP / temporary).open("xb", buffering=WRITE_BUFFER), temporary

    def publish(self, temporary: str, name: str) -> None:
        local = self._folder / TEMP / temporary
        handle, remote = self._origin.create()
        try:
            with handle, local.open("rb") as source:
                shutil.copyfileobj(source, handle, WRITE_BUFFER)
            self._origin.publish(remote, name)
        except BaseException:
            self._origin.discard(remote)
            raise
        self.forget(name)
        _traffic.written += local.stat().st_size
        self._keep(local, self._path(name, "whole"))

    def discard(self, temporary: str) -> None:
        (self._folder / TEMP / temporary).unlink(missing_ok=True)

    def read(self, name: str, ranges: Sequence[Range]) -> list[bytes]:
        got = self._from_whole(name, ranges)
        if got is not None:
            _traffic.local += sum(map(len, got))
            return got
        found: dict[Range, bytes] = {}
        for wanted in ranges:
            data = _read_used(self._path(name, f"{wanted[0]}+{wanted[1]}"))
            if data is not None and len(data) == wanted[1]:
                found[wanted] = data
                _traffic.local += len(data)
        absent = [wanted for wanted in dict.fromkeys(ranges) if wanted not in found]
        if absent:
            for wanted, data in zip(absent, self._origin.read(name, absent), strict=True):
                found[wanted] = data
                _traffic.moved += len(data)
                self._add(self._path(name, f"{wanted[0]}+{wanted[1]}"), data)
        return [found[wanted] for wanted in ranges]

    def size(self, name: str) -> int:
        with contextlib.suppress(FileNotFoundError):
            return self._path(name, "whole").stat().st_size
        return self._origin.size(name)

    def delete(self, name: str, unless_since: float | None = None) -> bool:
        gone = self._origin.delete(name, unless_since)
        if gone:
            self.forget(name)
        return gone

    def scan(self) -> Iterator[StoredFile]:
        return self._origin.scan()

    def scan_temporary(self) -> Iterator[StoredFile]:
        return self._origin.scan_temporary()

    def forget(self, name: str) -> None:
        """Drop what is held of a pack."""
        for path in (self._folder / name[:2]).glob(f"{name}@*"):
            with contextlib.suppress(FileNotFoundError):
                self._use.total -= path.stat().st_size
                path.unlink()

    def clear(self) -> None:
        """Drop everything."""
        for path, _ in self._items():
            path.unlink(missing_ok=True)
        self._use.total = 0

    def _path(self, name: str, part: str) -> Path:
        return self._folder / name[:2] / f"{name}@{part}"

    def _from_whole(self, name: str, ranges: Sequence[Range]) -> list[bytes] | None:
        try:
            with self._path(name, "whole").open("rb") as source:
                os.utime(source.fileno())
                out = []
                for offset, length in ranges:
                    source.seek(offset)
                    out.append(source.read(length))
                return out
        except OSError:
            return None

    def _add(self, path: Path, data: bytes) -> None:
        if len(data) > self._limit:
            return
        local = self._folder / TEMP / unique_name()
        # A full local disk only means that nothing is cached.
        try:
            local.write_bytes(data)
            self._keep(local, path)
        except OSError:
            local.unlink(missing_ok=True)

    def _keep(self, local: Path, path: Path) -> None:
        size = local.stat().st_size
        if size > self._limit:
            local.unlink()
            return
        path.parent.mkdir(mode=0o700, exist_ok=True)
        local.replace(path)
        self._use.total += size
        self._use.added += size
        if self._use.total > self._limit or self._use.added > self._limit * LOOK_AGAIN:
            self._evict()

    def _evict(self) -> None:
        """Bring the folder under its limit; one worker at a time, so that each sees what the others left."""
        with (self._folder / "evicting").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            items = sorted(self._items(), key=lambda item: item[1].st_mtime_ns)
            total = sum(stat.st_size for _, stat in items)
            if total > self._limit:
                for path, stat in items:
                    if total <= self._limit * LOW_WATER:
                        break
                    path.unlink(missing_ok=True)
                    total -= stat.st_size
            self._use.total, self._use.added = total, 0

    def _items(self) -> Iterator[tuple[Path, os.stat_result]]:
        for shelf in self._folder.iterdir():
            if shelf.is_dir() and shelf.name != TEMP:
                for path in shelf.iterdir():
                    with contextlib.suppress(FileNotFoundError):
                        yield path, path.stat()


def _read_used(path: Path) -> bytes | None:
    """The item's bytes, and a mark that it was used."""
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return data
