"""Chunk bytes on disk: append-only pack files, each with an index of the chunks it holds.

Contract: a pack appears under its name only when it is whole and on disk; its index after it. So an index that can
be read stands for data that can be. A chunk read from a pack is checked against its id.
"""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash
import zstandard

from inchdfs.errors import FileChangedWhileRead, InputUnreadable, StoreDamaged, StoreFull

#: One row a stored chunk.
PACK_ROW = np.dtype(
    [
        ("id", "V16"),
        ("offset", "<u8"),
        ("stored", "<u4"),  # bytes in the pack
        ("length", "<u4"),  # bytes of the chunk; equal to `stored` when not compressed
    ]
)

#: Chunks waiting to be written: enough to keep the disk busy while the next cut is searched.
_QUEUED = 32

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
        with Path(where.path).open("rb", buffering=0) as file:
            data = os.pread(file.fileno(), where.stored, where.offset)
    except OSError as error:
        if where.kept:
            raise StoreDamaged(where.path, error.strerror or str(error)) from error
        raise InputUnreadable(where.path, error.strerror or str(error)) from error
    if where.stored != where.length:
        try:
            data = zstandard.ZstdDecompressor().decompress(data, max_output_size=where.length)
        except zstandard.ZstdError as error:
            raise StoreDamaged(where.path, f"chunk {where.id.hex()} does not decompress ({error})") from error
    if xxhash.xxh3_128_digest(data) != where.id:
        if not where.kept:
            raise FileChangedWhileRead(where.path)
        raise StoreDamaged(where.path, f"chunk {where.id.hex()} at {where.offset} is not what was stored")
    return data


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
        """Read the index of every whole pack."""
        names = sorted(path.stem for path in packs.glob("*.index"))
        return cls(packs, names, [_read_index(packs / f"{name}.index") for name in names])

    def find(self, ids: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """The row of each id, -1 where it is not stored."""
        if not len(self._sorted):
            return np.full(len(ids), -1, np.intp)
        wanted = sortable(ids)
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[at] == wanted, self._order[at], -1)

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


class PackWriter:
    """Writes one pack on a thread of its own, while the caller goes on finding chunks.

    A context manager: leaving it by an error removes what was written.
    """

    def __init__(self, packs: Path, temporary: Path, compress: bool = False) -> None:
        self._packs = packs
        self._compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL) if compress else None
        self._path = temporary / f"{os.getpid()}-{os.urandom(6).hex()}.pack"
        self._rows: list[tuple[bytes, int, int, int]] = []
        self._waiting: queue.Queue[tuple[bytes, Callable[[], bytes]] | None] = queue.Queue(_QUEUED)
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._write_all, name="incoop-pack-writer", daemon=True)
        self._thread.start()

    def __enter__(self) -> PackWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._thread.is_alive():
            self._failed = self._failed or error or RuntimeError("the pack was not finished")
            self._waiting.put(None)
            self._thread.join()
        self._path.unlink(missing_ok=True)

    def add(self, id_: bytes, read: Callable[[], bytes]) -> None:
        """Queue a chunk; `read` is called on the writing thread."""
        self._waiting.put((id_, read))
        self._raise_if_failed()

    def finish(self) -> None:
        """Wait until everything is on disk, then give the pack and its index their names."""
        self._waiting.put(None)
        self._thread.join()
        self._raise_if_failed()
        if self._rows:
            with on_full_disk(self._packs):
                publish_pack(self._packs, self._path, np.array(self._rows, dtype=PACK_ROW))

    def _raise_if_failed(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _write_all(self) -> None:
        try:
            with on_full_disk(self._packs), self._path.open("wb", buffering=0) as file:
                while (item := self._waiting.get()) is not None:
                    if self._failed is None:
                        self._write_one(file.fileno(), *item)
                if self._failed is None:
                    os.fsync(file.fileno())
        except BaseException as error:
            self._failed = error
            while self._waiting.get() is not None:  # let a caller that waits in add() see the failure
                pass

    def _write_one(self, fd: int, id_: bytes, read: Callable[[], bytes]) -> None:
        data = read()
        stored = data
        if self._compressor is not None and len(small := self._compressor.compress(data)) < len(data):
            stored = small
        offset = self._rows[-1][1] + self._rows[-1][2] if self._rows else 0
        write_fully(fd, stored)
        self._rows.append((id_, offset, len(stored), len(data)))


def publish_pack(packs: Path, written: Path, rows: npt.NDArray[Any]) -> str:
    """Move a whole pack and its index to their names; return the name, which follows from the chunks inside."""
    name = xxhash.xxh3_128_hexdigest(rows.tobytes())
    written.rename(packs / f"{name}.pack")
    index = rows.tobytes()
    write_atomically(packs / f"{name}.index", [index, xxhash.xxh3_128_digest(index)])
    return name


def write_fully(fd: int, data: bytes | memoryview) -> None:
    """os.write may take less than it was given; this takes all."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file under a temporary name, bring it to disk, then give it its name."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with temporary.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)


class on_full_disk:  # noqa: N801 - used as a statement, like contextlib.suppress
    """Turn 'no space left', a quota and a file-size limit into StoreFull."""

    def __init__(self, where: Path) -> None:
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull(str(self._where), error.strerror or str(error)) from error
