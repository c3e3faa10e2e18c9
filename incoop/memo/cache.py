"""A node-local folder in front of a remote place for packs.

Contract: holds the ranges that were read here and the packs that were written here (`cache_folder`). It is never the
only copy: everything in it may be removed at any time, and a damaged item is dropped (`forget`) and read from the
origin. A folder that fails, or is full, costs a copy and nothing else: what is written goes to the origin itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from incoop.memo.cache_folder import CacheFolder, cache_name
from incoop.memo.files import PackFiles, Range, StoredFile

__all__ = ["CachedFiles", "Traffic", "cache_name", "take_traffic"]


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


class _Copied:
    """A file at the origin that is being written, and a copy in the cache for as long as that works."""

    def __init__(self, origin: BinaryIO, folder: CacheFolder) -> None:
        self._origin, self.written = origin, 0
        self._copy: BinaryIO | None = None
        #: Where the copy is; None when there is none.
        self.path: Path | None = None
        with contextlib.suppress(OSError):
            self._copy, self.path = folder.create()

    def write(self, data: bytes) -> int:
        count = self._origin.write(data)
        self.written += count
        if self._copy is not None:
            try:
                self._copy.write(data)
            except OSError:
                self._drop()
        return count

    def close(self) -> None:
        try:
            self._origin.close()
        finally:
            if self._copy is not None:
                try:
                    self._copy.close()
                except OSError:
                    self._drop()

    def _drop(self) -> None:
        copy, self._copy = self._copy, None
        with contextlib.suppress(OSError):
            if copy is not None:
                copy.close()
        self.discard()

    def discard(self) -> None:
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
        self.path = None


class CachedFiles:
    """The origin's files, with a bounded local copy of what is used here."""

    def __init__(self, origin: PackFiles, folder: Path, limit: int) -> None:
        self._origin, self._folder = origin, CacheFolder(folder, limit)
        self.where, self.name = origin.where, self._folder.name
        #: By temporary name.
        self._writing: dict[str, _Copied] = {}

    def create(self) -> tuple[BinaryIO, str]:
        handle, temporary = self._origin.create()
        copied = self._writing[temporary] = _Copied(handle, self._folder)
        return cast(BinaryIO, copied), temporary

    def publish(self, temporary: str, name: str) -> None:
        self._origin.publish(temporary, name)
        self._folder.forget(name)
        copied = self._writing.pop(temporary)
        _traffic.written += copied.written
        if copied.path is not None:
            self._folder.keep(copied.path, name, "whole")

    def discard(self, temporary: str) -> None:
        if (copied := self._writing.pop(temporary, None)) is not None:
            copied.discard()
        self._origin.discard(temporary)

    def read(self, name: str, ranges: Sequence[Range]) -> list[bytes]:
        got = self._folder.whole(name, ranges)
        if got is not None:
            _traffic.local += sum(map(len, got))
            return got
        found: dict[Range, bytes] = {}
        for wanted in ranges:
            data = self._folder.range(name, wanted)
            if data is not None:
                found[wanted] = data
                _traffic.local += len(data)
        absent = [wanted for wanted in dict.fromkeys(ranges) if wanted not in found]
        if absent:
            for wanted, data in zip(absent, self._origin.read(name, absent), strict=True):
                found[wanted] = data
                _traffic.moved += len(data)
                if len(data) == wanted[1]:
                    self._folder.add(name, wanted, data)
        return [found[wanted] for wanted in ranges]

    def size(self, name: str) -> int:
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
        self._folder.forget(name)

    def clear(self) -> None:
        """Drop everything."""
        self._folder.clear()
