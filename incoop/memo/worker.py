"""What an executor's Python worker needs to read and write packs, without Redis.

Contract: a small picklable value. It holds the key that names packs, and not the store's secret: whoever reads it out
of a task can name a pack of their own, which no signed entry refers to. Its `repr` shows neither that nor credentials.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from incoop.base.checksums import PackSigner
from incoop.base.own_files import NotOurs
from incoop.base.paths import local_path
from incoop.memo.blobs import BlobStore
from incoop.memo.cache import CachedFiles, cache_name
from incoop.memo.events import DidGoWithoutCache, EventLog, Sink
from incoop.memo.files import FolderFiles, PackFiles

#: Names a node's cache folder, before what the session says: nodes differ. A relative path lies in the working
#: directory of each executor.
CACHE_VARIABLE = "INCOOP_CACHE"

#: Bytes of a node-local cache unless told otherwise.
CACHE_BYTES = 4 << 30


#: Cache folders that this process was found not to be able to use: a worker opens its cache for every task.
_gone_without: set[Path] = set()


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """Where the packs are and how they are signed."""

    #: A folder's path, or an fsspec URL.
    blobs: str
    #: `PackSigner.key`.
    pack_key: bytes = field(repr=False)
    compression: str = "none"
    fsync: bool = False
    #: Node-local cache folder; None reads and writes the place itself.
    cache: str | None = None
    cache_bytes: int = CACHE_BYTES
    #: Options of the fsspec filesystem, which may hold credentials.
    options: tuple[tuple[str, Any], ...] = field(default=(), repr=False)

    def open(self, on_event: Sink | None = None, *, events: EventLog | None = None, cached: bool = True) -> BlobStore:
        """The blob store. A session gives its `events`: it refuses a cache folder that is another user's (NotOurs).

        In a task a cache that cannot be used only means that nothing is cached on this node, which is said once.
        """
        files, told = self._files(), events or EventLog(on_event)
        if cached and (folder := self.cache_folder) is not None:
            try:
                files = CachedFiles(files, folder, self.cache_bytes)
            except (NotOurs, OSError, ValueError) as error:  # ValueError: a null character in a path
                if isinstance(error, NotOurs) and events is not None:
                    raise
                if events is not None or folder not in _gone_without:
                    _gone_without.add(folder)
                    told.emit(DidGoWithoutCache(str(folder), getattr(error, "strerror", None) or str(error)))
        return BlobStore(files, PackSigner(self.pack_key), compression=self.compression, events=told)

    @property
    def cache_folder(self) -> Path | None:
        """The cache folder of the node that asks."""
        folder = os.environ.get(CACHE_VARIABLE) or self.cache
        return Path(folder) if folder else None

    def cache_name(self) -> str:
        """The name of that cache; empty without one."""
        if (folder := self.cache_folder) is not None:
            with contextlib.suppress(OSError, ValueError, NotOurs):
                return cache_name(folder)
        return ""

    def _files(self) -> PackFiles:
        if is_local(self.blobs):
            folder = self.blobs.removeprefix("local://")  # what fsspec calls it
            return FolderFiles(Path(local_path(folder, percent=False)), fsync=self.fsync)
        from incoop.memo.fsspec_files import FsspecFiles

        return FsspecFiles(self.blobs, dict(self.options))


def is_local(place: str) -> bool:
    """Whether the place is a plain path, or a URL by which fsspec means one."""
    return "://" not in place or urlsplit(place).scheme in ("file", "local")
