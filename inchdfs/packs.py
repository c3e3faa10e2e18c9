"""Chunk bytes on disk: append-only pack files, each with an index of the chunks it holds.

Contract: a pack appears under its name only when it is whole and on disk; its index after it. So an index that can
be read stands for data that can be. A chunk read from a pack is checked against its id.
"""

from __future__ import annotations

import errno
import logging
import os
import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash
import zstandard

from inchdfs.errors import FileChangedWhileRead, InputUnreadable, StoreDamaged, StoreFull, StoreUnusable

log = logging.getLogger("inchdfs")

#: One row a stored chunk.
PACK_ROW = np.dtype(
    [
        ("id", "V16"),
        ("offset", "<u8"),
        ("stored", "<u4"),  # bytes in the pack
        ("length", "<u4"),  # bytes of the chunk; equal to `stored` when not compressed
    ]
)

#: Chunks are copied into buffers of at least this size, each of which is written with one call.
_BATCH_BYTES = 4 << 20

#: Batches waiting to be written: enough to keep the disk busy while the next cut is searched.
_QUEUED_BATCHES = 4

#: A batch larger than this (a very long record) is written before the caller goes on, so that few are in memory.
_LARGE_BATCH = 32 << 20

#: zstd's fast level: about a third of the size for text at several hundred MB/s.
_ZSTD_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Location:
    """Where a chunk's bytes are: in a pack, or in the user's own file."""

    id: bytes
    path: str
    offset: int
    #: Bytes on disk; fewer than `length` when compressed.
    stored: int
    length: int
    #: In a pack of the store; else in a file that may change under us.
    kept: bool = True


def read_chunk(where: Location) -> bytes:
    """Read, decompress and verify one chunk."""
    try:
        data = _read(where)
    except FileNotFoundError:
        if not where.kept:
            raise InputUnreadable(where.path, "the file is gone") from None
        data = _read_moved(where)
    except OSError as error:
        if where.kept:
            raise StoreDamaged(where.path, error.strerror or str(error)) from error
        raise InputUnreadable(where.path, error.strerror or str(error)) from error
    if xxhash.xxh3_128_digest(data) != where.id:
        if not where.kept:
            raise FileChangedWhileRead(where.path)
        raise StoreDamaged(where.path, f"chunk {where.id.hex()} at {where.offset} is not what was stored")
    return data


def _read(where: Location) -> bytes:
    with Path(where.path).open("rb", buffering=0) as file:
        data = os.pread(file.fileno(), where.stored, where.offset)
    if where.stored == where.length:
        return data
    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=where.length)
    except (zstandard.ZstdError, MemoryError) as error:  # MemoryError: the size inside is damaged
        raise StoreDamaged(where.path, f"chunk {where.id.hex()} does not decompress ({error})") from error


def _read_moved(where: Location) -> bytes:
    """A collection wrote the pack anew since the chunk was located: look where it is now."""
    (now,) = PackIndex.load(Path(where.path).parent).locate(np.array([where.id], "V16"))
    try:
        return _read(now)
    except OSError as error:
        raise StoreDamaged(now.path, error.strerror or str(error)) from error


class PackIndex:
    """Which chunks are stored, and where; looked up in bulk."""

    def __init__(self, packs: Path, names: list[str], tables: list[npt.NDArray[Any]]) -> None:
        self._packs = packs.absolute()
        self.names = names
        self.rows = np.concatenate(tables) if tables else np.empty(0, PACK_ROW)
        self.pack_of = np.repeat(np.arange(len(names)), [len(t) for t in tables]) if tables else np.empty(0, np.intp)
        ids = sortable(self.rows["id"])
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]

    @classmethod
    def load(cls, packs: Path) -> PackIndex:
        """Read the index of every whole pack. A damaged one is left out: its chunks count as lost."""
        tables = {}
        with using_store(packs):
            for path in sorted(packs.glob("*.index")):
                try:
                    tables[path.stem] = _read_index(path)
                except StoreDamaged as damage:
                    log.warning("%s", damage)
                except FileNotFoundError:  # a collection wrote the pack anew: start again
                    return cls.load(packs)
        return cls(packs, list(tables), list(tables.values()))

    def find(self, ids: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """The row of each id, -1 where it is not stored."""
        if not len(self._sorted):
            return np.full(len(ids), -1, np.intp)
        wanted = sortable(ids)
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[at] == wanted, self._order[at], -1)

    def holds(self, id_: bytes) -> bool:
        """Whether a chunk is stored."""
        return bool(self.find(np.array([id_], "V16"))[0] >= 0)

    def locate(self, ids: npt.NDArray[Any]) -> list[Location]:
        """Where each chunk's bytes are; a chunk that is not stored is damage."""
        return self.locations(self._rows_of(ids))

    def locations(self, found: npt.NDArray[np.intp]) -> list[Location]:
        """Rows of this index as locations."""
        paths = [str(self._packs / f"{name}.pack") for name in self.names]
        return [
            Location(id_, paths[pack], offset, stored, length)
            for (id_, offset, stored, length), pack in zip(
                self.rows[found].tolist(), self.pack_of[found].tolist(), strict=True
            )
        ]

    def _rows_of(self, ids: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        found = self.find(ids)
        if len(found) and found.min() < 0:
            lost = bytes(ids[int(np.argmin(found))]).hex()
            raise StoreDamaged(f"chunk {lost}", "no pack holds it")
        return found


def sortable(ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Ids as fixed-width byte strings, which numpy can order; void values it cannot."""
    return np.ascontiguousarray(ids).view("S16")


def _read_index(path: Path) -> npt.NDArray[Any]:
    data = path.read_bytes()
    if len(data) % PACK_ROW.itemsize != 16 or xxhash.xxh3_128_digest(data[:-16]) != data[-16:]:
        raise StoreDamaged(str(path), "the index is cut short or altered")
    return np.frombuffer(data[:-16], dtype=PACK_ROW)


class _Batch:
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


class PackWriter:
    """Writes one pack on a thread of its own, while the caller goes on finding chunks.

    A context manager: leaving it by an error removes what was written.
    """

    def __init__(self, packs: Path, temporary: Path, compress: bool = False) -> None:
        self._packs = packs
        self._compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL) if compress else None
        self._path = temporary / f"{os.getpid()}-{os.urandom(6).hex()}.pack"
        self._rows: list[tuple[bytes, int, int, int]] = []
        self._size = 0
        self._batch = _Batch(0)
        self._written: queue.SimpleQueue[_Batch] = queue.SimpleQueue()
        self._waiting: queue.Queue[_Batch | None] = queue.Queue(_QUEUED_BATCHES)
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

    def _empty_batch(self, size: int) -> _Batch:
        """A batch that was written, if it is large enough, else a new one."""
        try:
            batch = self._written.get_nowait()
        except queue.Empty:
            batch = _Batch(0)
        batch.clear()
        if batch.room_for(size):
            return batch
        # With some room to spare, so that the next chunk fits too when chunks are larger than usual.
        return _Batch(max(_BATCH_BYTES, size if size > _LARGE_BATCH else size + size // 2))

    def _write_all(self) -> None:
        """Take batches until None comes; after a failure too, so that a caller that waits goes on and sees it."""
        batch: _Batch | None = self._batch
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

    def _write(self, batch: _Batch | None) -> None:
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
    name = xxhash.xxh3_128_hexdigest(index)
    with written_aside(packs / f"{name}.index", [index, xxhash.xxh3_128_digest(index)]) as index_file:
        written.rename(packs / f"{name}.pack")
        index_file.rename(packs / f"{name}.index")
    sync_folder(packs)
    return name


def start_writing_back(fd: int, offset: int, size: int) -> None:
    """Ask the system to begin writing to disk now, so that the fsync at the end waits for little."""
    if hasattr(os, "posix_fadvise"):  # on Linux this advice starts the writing of dirty pages
        os.posix_fadvise(fd, offset, size, os.POSIX_FADV_DONTNEED)


def write_fully(fd: int, data: bytes | memoryview) -> None:
    """os.write may take less than it was given; this takes all."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file under a temporary name, bring it to disk, then give it its name."""
    with written_aside(path, parts) as temporary:
        temporary.rename(path)


@contextmanager
def written_aside(path: Path, parts: Iterable[bytes]) -> Iterator[Path]:
    """Write what `path` shall hold to a file next to it, whole and on disk; the file is gone afterwards."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with temporary.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Bring new names in a folder to disk."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def using_store(where: Path) -> Iterator[None]:
    """Turn what the operating system refuses into an error that names the store and says what to do."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull(str(where), why) from error
        raise StoreUnusable(str(where), why) from error
