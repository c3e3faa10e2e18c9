"""Write chunks to a new pack, on a thread of its own.

Contract: a pack appears under its name only when it is whole and on disk; its index after it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import zstandard

from incoop.base.atomic import sync, unique_name, written_aside
from incoop.base.content_ids import content_id
from incoop.base.own_files import clear_way
from incoop.inchdfs.store.packs import PACK_ROW, signed_index, signer_of, using_store, write_fully

#: Chunks are copied into buffers of at least this size, each of which is written with one call.
_BATCH_BYTES = 4 << 20

#: Batches waiting to be written: enough to keep the disk busy while the next cut is searched.
_QUEUED_BATCHES = 4

#: A batch larger than this (a very long record) is written before the caller goes on, so that few are in memory.
_LARGE_BATCH = 32 << 20

#: zstd's fast level: about a third of the size for text at several hundred MB/s.
_ZSTD_LEVEL = 1


class PackBatch:
    """Chunks that wait to be written together. Its memory is used again: fresh pages cost as much as a copy."""

    def __init__(self, capacity: int) -> None:
        self.buffer = memoryview(bytearray(capacity))
        self.clear()

    def clear(self) -> None:
        self.filled = 0
        self.chunks: list[tuple[bytes, int]] = []

    def room_for(self, size: int) -> bool:
        return self.filled + size <= len(self.buffer)

    def add(self, id_: bytes, data: bytes | memoryview) -> None:
        self.buffer[self.filled : self.filled + len(data)] = data
        self.filled += len(data)
        self.chunks.append((id_, len(data)))

    def views(self) -> Iterator[tuple[bytes, memoryview]]:
        start = 0
        for id_, length in self.chunks:
            yield id_, self.buffer[start : start + length]
            start += length


#: Batches whose memory can be used again.
FreeBatches: TypeAlias = "queue.SimpleQueue[PackBatch]"


class PackWriter:
    """Writes one pack on a thread of its own, while the caller goes on finding chunks.

    A context manager: leaving it by an error removes what was written. Who writes one pack after the other gives them
    the same queue of batches that are `free`.
    """

    def __init__(self, packs: Path, temporary: Path, compress: bool = False, free: FreeBatches | None = None) -> None:
        self._packs = packs
        self._compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL) if compress else None
        self._path = temporary / f"{unique_name()}.pack"
        self._rows: list[tuple[bytes, int, int, int]] = []
        self._size = 0
        self._batch = PackBatch(0)
        self._written: FreeBatches = free if free is not None else queue.SimpleQueue()
        self._waiting: queue.Queue[PackBatch | None] = queue.Queue(_QUEUED_BATCHES)
        self._failed: BaseException | None = None
        with using_store(packs):
            self._file = self._path.open("wb", buffering=0)
        self._thread = threading.Thread(target=self._write_all, name="incoop-pack-writer", daemon=True)
        self._thread.start()

    def __enter__(self) -> PackWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._thread.is_alive():
            self._failed = self._failed or error or RuntimeError("the pack was not finished")
            self._waiting.put(None)
            self._thread.join()
        self._file.close()
        self._path.unlink(missing_ok=True)

    def add(self, id_: bytes, data: bytes | memoryview) -> None:
        """Copy a chunk, to be written soon."""
        if not self._batch.room_for(len(data)):
            self._queue_batch()
            self._batch = self._empty_batch(len(data))
        self._batch.add(id_, data)

    def finish(self) -> None:
        """Wait until everything is on disk, then give the pack and its index their names."""
        self._queue_batch()
        self._waiting.put(None)
        self._thread.join()
        if self._failed is not None:
            raise self._failed
        if self._rows:
            with using_store(self._packs):
                publish_pack(self._packs, self._path, np.array(self._rows, dtype=PACK_ROW))

    def _queue_batch(self) -> None:
        if self._batch.filled:
            self._waiting.put(self._batch)
        if self._batch.filled > _LARGE_BATCH:
            self._waiting.join()
        if self._failed is not None:
            raise self._failed

    def _empty_batch(self, size: int) -> PackBatch:
        """A batch that was written, if it is large enough, else a new one."""
        try:
            batch = self._written.get_nowait()
        except queue.Empty:
            batch = PackBatch(0)
        batch.clear()
        if batch.room_for(size):
            return batch
        # With some room to spare, so that the next chunk fits too when chunks are larger than usual.
        return PackBatch(max(_BATCH_BYTES, size if size > _LARGE_BATCH else size + size // 2))

    def _write_all(self) -> None:
        """Take batches until None comes; after a failure too, so that a caller that waits goes on and sees it."""
        batch: PackBatch | None = self._batch
        while batch is not None:
            batch = self._waiting.get()
            try:
                if self._failed is None:
                    with using_store(self._packs):
                        self._write(batch)
            except BaseException as error:
                self._failed = error
            finally:
                if batch is not None:
                    self._written.put(batch)
                self._waiting.task_done()

    def _write(self, batch: PackBatch | None) -> None:
        fd, start = self._file.fileno(), self._size
        if batch is None:
            os.fsync(fd)
        elif self._compressor is None:
            for id_, length in batch.chunks:
                self._note(id_, length, length)
            write_fully(fd, batch.buffer[: batch.filled])
        else:
            for id_, view in batch.views():
                small = self._compressor.compress(view)
                stored = small if len(small) < len(view) else view
                self._note(id_, len(stored), len(view))
                write_fully(fd, stored)
        start_writing_back(fd, start, self._size - start)

    def _note(self, id_: bytes, stored: int, length: int) -> None:
        self._rows.append((id_, self._size, stored, length))
        self._size += stored


def publish_pack(packs: Path, written: Path, rows: npt.NDArray[Any]) -> str:
    """Move a whole pack and its index to their names; return the name, which follows from the chunks inside."""
    index = rows.tobytes()
    name = content_id(index).hex()
    content = signed_index(index, name, signer_of(packs.parent))
    with written_aside(packs / f"{name}.index", content) as index_file:
        for name_of in (packs / f"{name}.pack", packs / f"{name}.index"):
            clear_way(name_of)
        written.rename(packs / f"{name}.pack")
        index_file.rename(packs / f"{name}.index")
    sync(packs)
    return name


def start_writing_back(fd: int, offset: int, size: int) -> None:
    """Ask the system to begin writing to disk now, so that the fsync at the end waits for little."""
    if hasattr(os, "posix_fadvise"):  # on Linux this advice starts the writing of dirty pages
        os.posix_fadvise(fd, offset, size, os.POSIX_FADV_DONTNEED)
