"""A store in one setting, with the hands to damage it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from pathlib import Path
from typing import Any

import redis

from incoop.base.checksums import block_hash
from incoop.memo import INLINE_BYTES, BlobStore, MemoEntry, MemoStore
from incoop.memo.address import make_pool
from incoop.memo.files import split_name

from .servers import RealServer


def task_id(number: int) -> bytes:
    return random.Random(number).randbytes(16)


def result_of(number: int, size: int = 3000) -> bytes:
    """What the task with this number computes."""
    return random.Random(-number - 1).randbytes(size)


def kept(blobs: BlobStore, result: bytes) -> MemoEntry:
    """An entry for a result: inline when small, else in a pack of its own."""
    if len(result) <= INLINE_BYTES:
        return MemoEntry(inline=result)
    return MemoEntry(pack=blobs.write([result]), length=len(result), digest=block_hash(result))


def payload(blobs: BlobStore, entry: MemoEntry) -> bytes | None:
    """What was kept, verified; None when it has to be recomputed."""
    if entry.pack is None:
        return entry.inline
    return blobs.read_region(entry.pack, entry.offset, entry.length, entry.digest)


def read_whole(blobs: BlobStore, pack: bytes) -> bytes:
    """All of a pack, verified by its name."""
    blobs.check(pack)
    return blobs.read(pack, 0, blobs.size(pack))


def server_pid(store: MemoStore) -> int:
    """The process of the private server."""
    pid = store.session._server.pid()
    assert pid is not None
    return pid


class Place:
    """A folder and, unless private, the server that holds its entries."""

    def __init__(self, folder: Path, server: RealServer | None) -> None:
        self.folder, self.server = folder, server
        self._stack = contextlib.ExitStack()

    def open(self, **options: Any) -> MemoStore:
        """A session that is closed at the end of the test at the latest."""
        url = self.server.url if self.server is not None else None
        return self._stack.enter_context(MemoStore.open(self.folder, url, **options))

    def close(self) -> None:
        self._stack.close()
        if self.server is not None:
            self.server.close()

    @property
    def private(self) -> bool:
        return self.server is None

    def raw(self, store: MemoStore) -> redis.Redis:
        """A client of the store's server, as an intruder would use it."""
        return redis.Redis(connection_pool=make_pool(store.session.link.url))

    def entry_of(self, store: MemoStore, task: bytes) -> bytes:
        with contextlib.closing(self.raw(store)) as client:
            value = client.hget(store.keys.entries, task)
            assert isinstance(value, bytes)
            return value

    def put_entry(self, store: MemoStore, task: bytes, value: bytes) -> None:
        with contextlib.closing(self.raw(store)) as client:
            client.hset(store.keys.entries, task, value)

    def pack_path(self, pack: bytes | None) -> Path:
        assert pack is not None
        return self.folder / "memo" / "packs" / split_name(pack.hex())

    def kill_server(self, store: MemoStore) -> None:
        """kill -9, without a chance to say goodbye."""
        if self.server is not None:
            self.server.kill()
        else:
            os.kill(server_pid(store), signal.SIGKILL)


def run_generation(store: MemoStore, job: str, tasks: list[int], size: int = 3000) -> tuple[int, list[int]]:
    """One run of a job over numbered tasks, as the engine does it; its number and the tasks that were computed."""
    number = store.begin_generation(job)
    ids = [task_id(task) for task in tasks]
    fresh: dict[bytes, MemoEntry] = {}
    computed = []
    for task, key, entry in zip(tasks, ids, store.lookup(ids), strict=True):
        result = payload(store.blobs, entry) if entry is not None else None
        if result is None:
            computed.append(task)
            result = result_of(task, size)
            fresh[key] = kept(store.blobs, result)
        assert result == result_of(task, size)
    store.store(fresh)
    store.commit_generation(job, number, repr(tasks).encode(), ids)
    return number, computed
