"""Chunk bytes on disk: append-only pack files, each with an index of the chunks it holds.

Contract: an index that can be read stands for data that can be (pack_writer.py sees to it), and says what this store
wrote: it is signed, so that no length in it is made up. A chunk read from a pack is checked against its id.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from incoop.base.checksums import Signer
from incoop.base.content_ids import content_id
from incoop.base.own_files import open_regular, own_secret, read_regular
from incoop.inchdfs.errors import FileChangedWhileRead, InputUnreadable, StoreDamaged, StoreFull, StoreUnusable

log = logging.getLogger("incoop.inchdfs")

#: One row a stored chunk.
PACK_ROW = np.dtype(
    [
        ("id", "V16"),
        ("offset", "<u8"),
        ("stored", "<u4"),  # bytes in the pack
        ("length", "<u4"),  # bytes of the chunk; equal to `stored` when not compressed
    ]
)


#: The file that holds what signs the store's manifests and indexes.
SECRET = "secret"

#: What a missing secret is taken for: a signer that accepts nothing.
_ACCEPTS_NOTHING = Signer(os.urandom(32))


def signer_of(folder: Path) -> Signer:
    """What signs in a dataset store (`<store>/inchdfs`); where it has no secret yet, one that accepts nothing."""
    path = folder / SECRET
    try:
        path.lstat()
    except OSError:
        return _ACCEPTS_NOTHING
    with using_store(folder):
        return Signer(own_secret(path))


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
    if content_id(data) != where.id:
        if not where.kept:
            raise FileChangedWhileRead(where.path)
        raise StoreDamaged(where.path, f"chunk {where.id.hex()} at {where.offset} is not what was stored")
    return data


def _read(where: Location) -> bytes:
    handle = open_regular(where.path)
    try:
        # Looked at before anything is allocated.
        if where.offset + where.stored > os.fstat(handle).st_size:
            return b""
        data = os.pread(handle, where.stored, where.offset)
    finally:
        os.close(handle)
    if where.stored == where.length:
        return data
    try:
        if zstandard.frame_content_size(data) != where.length:
            raise StoreDamaged(where.path, f"chunk {where.id.hex()} has another length")
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
        self._tables = dict(zip(names, tables, strict=True))
        self.rows = np.concatenate(tables) if tables else np.empty(0, PACK_ROW)
        self.pack_of = np.repeat(np.arange(len(names)), [len(t) for t in tables]) if tables else np.empty(0, np.intp)
        ids = sortable(self.rows["id"])
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]

    @classmethod
    def load(cls, packs: Path, known: PackIndex | None = None) -> PackIndex:
        """Read the index of every whole pack. A damaged one is left out: its chunks count as lost.

        What is `known` is not read again: a pack is named by what it holds, and never changes.
        """
        tables = {}
        signer = signer_of(packs.parent)
        with using_store(packs):
            paths = sorted(packs.glob("*.index"))
            if known is not None and known.names == [path.stem for path in paths]:
                return known
            for path in paths:
                try:
                    before = known._tables.get(path.stem) if known is not None else None
                    tables[path.stem] = _read_index(path, signer) if before is None else before
                except StoreDamaged as damage:
                    log.warning("%s", damage)
                except FileNotFoundError:  # a collection wrote the pack anew: start again
                    return cls.load(packs, known)
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


def _read_index(path: Path, signer: Signer) -> npt.NDArray[Any]:
    try:
        data = read_regular(path)
    except FileNotFoundError:
        if path.is_symlink():
            raise StoreDamaged(str(path), "it is a link to nothing") from None
        raise
    except OSError as error:
        raise StoreDamaged(str(path), str(error.strerror)) from None
    if len(data) % PACK_ROW.itemsize != 16 or not signer.accepts_file(_named(path.stem), data[:-16], data[-16:]):
        raise StoreDamaged(str(path), "the index is cut short or altered")
    return np.frombuffer(data[:-16], dtype=PACK_ROW)


def _named(pack: str) -> bytes:
    return b"index\0" + pack.encode("utf-8", "surrogateescape")


def signed_index(rows: bytes, pack: str, signer: Signer) -> list[bytes]:
    """The content of the index of a pack."""
    return [rows, signer.sign_file(_named(pack), rows)]


def write_fully(fd: int, data: bytes | memoryview) -> None:
    """os.write may take less than it was given; this takes all."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


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
