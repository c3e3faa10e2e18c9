"""Packs on any fsspec filesystem: object stores, HDFS, memory.

Contract: the same as a folder (`incoop.memo.files`). A rename is whatever the filesystem offers: atomic on most, copy
and delete on object stores, where the final object appears at once when the copy is done. Whatever a filesystem raises
is an OSError here, which does not show what was in an address or in options. A folder in the place of a pack is removed
when the pack is published or deleted; what a listing shows that is no file is passed over.
"""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

import fsspec

from incoop.base.atomic import unique_name
from incoop.base.errors import BadCall
from incoop.base.own_files import NotAFile
from incoop.base.shown import is_clear, shown_address
from incoop.memo.files import TEMP, Range, StoredFile, split_name


@contextlib.contextmanager
def _only_os_errors() -> Iterator[None]:
    """Turn what libraries of object stores raise, each its own, into what a file that fails raises."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(errno.EIO, f"the file system failed with {type(error).__name__}") from error


class FsspecFiles:
    """Packs below a URL such as `s3://bucket/memo`, `hdfs://…` or `memory://…`."""

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        try:
            fs, root = fsspec.core.url_to_fs(url, **(options or {}))
        except Exception as error:
            clear = isinstance(error, ValueError | ImportError) and is_clear(url) and "@" not in url
            why = str(error) if clear else type(error).__name__
            raise BadCall(f"blobs={shown_address(url)!r} cannot be opened: {why}") from None
        self._fs, self._root = fs, root.rstrip("/")
        self.where = shown_address(url)

    def _path(self, name: str) -> str:
        return f"{self._root}/{split_name(name)}"

    def _temporary(self, name: str) -> str:
        return f"{self._root}/{TEMP}/{name}"

    @_only_os_errors()
    def create(self) -> tuple[BinaryIO, str]:
        temporary = unique_name()
        self._fs.makedirs(f"{self._root}/{TEMP}", exist_ok=True)
        return cast(BinaryIO, self._fs.open(self._temporary(temporary), "wb")), temporary

    @_only_os_errors()
    def publish(self, temporary: str, name: str) -> None:
        target = self._path(name)
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        if self._fs.isdir(target):  # a move would put the pack into it
            self._fs.rm(target, recursive=True)
        self._fs.mv(self._temporary(temporary), target)
        self._fs.invalidate_cache(target.rpartition("/")[0])

    @_only_os_errors()
    def discard(self, temporary: str) -> None:
        self._remove(self._temporary(temporary))

    @_only_os_errors()
    def read(self, name: str, ranges: Sequence[Range]) -> list[bytes]:
        path = self._path(name)
        # One request for all ranges where the filesystem can (async ones fetch them at the same time).
        starts, ends = [offset for offset, _ in ranges], [offset + length for offset, length in ranges]
        got = self._fs.cat_ranges([path] * len(ranges), starts, ends, on_error="raise")
        return [bytes(data) for data in got]

    @_only_os_errors()
    def size(self, name: str) -> int:
        found = _size(self._fs.info(self._path(name)))
        if found is None:
            raise NotAFile(errno.EINVAL, "it is no file")
        return found

    @_only_os_errors()
    def delete(self, name: str, unless_since: float | None = None) -> bool:
        path = self._path(name)
        with contextlib.suppress(FileNotFoundError):
            if unless_since is not None and self._modified(self._fs.info(path)) >= unless_since:
                return False
            self._remove(path)
        return True

    def scan(self) -> Iterator[StoredFile]:
        return (each for path, each in self._files(self._root) if f"/{TEMP}/" not in path[len(self._root) :])

    def scan_temporary(self) -> Iterator[StoredFile]:
        return (each for _, each in self._files(f"{self._root}/{TEMP}"))

    def _files(self, below: str) -> Iterator[tuple[str, StoredFile]]:
        for path, info in self._listing(below):
            size = _size(info)
            if size is not None:
                yield path, StoredFile(path.rpartition("/")[2], size, self._modified(info))

    def _remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            try:
                self._fs.rm_file(path)
            except OSError:
                if not self._fs.isdir(path):
                    raise
                self._fs.rm(path, recursive=True)

    @_only_os_errors()
    def _listing(self, below: str) -> list[tuple[str, dict[str, Any]]]:
        self._fs.invalidate_cache()
        try:
            found: dict[str, dict[str, Any]] = self._fs.find(below, detail=True)
        except FileNotFoundError:
            return []
        return sorted(found.items())

    def _modified(self, info: Mapping[str, Any]) -> float:
        for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
            value = info.get(key)
            if isinstance(value, int | float):
                return float(value)
            if value is not None and hasattr(value, "timestamp"):
                return float(value.timestamp())
        # A place that does not say: as if just written, so the collector keeps it while any session lives.
        return time.time()


def _size(info: Mapping[str, Any]) -> int | None:
    """A file's bytes; None for what is none, or does not say."""
    size = info.get("size")
    return int(size) if info.get("type", "file") == "file" and isinstance(size, int | float) else None
