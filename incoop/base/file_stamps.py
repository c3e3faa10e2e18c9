"""What the file system says of a file, and when that is enough to leave the file unread.

Contract: a stamp that `Watch.will_tell` answered for with True moves with every later change of the file's content, by
whatever means it is written. Where that cannot be promised the answer is False, and whoever asked reads the file again.

Three things make equal stamps of unequal contents, and each has its answer here:
(1) The change time was so young that the next write falls into the same tick: it is not trusted.
(2) The file is mapped into memory. A page that is dirty already can be written without its file's times moving, until
    it is written back. So it is written back before the file is read: the next write to it moves the times.
(3) The file system does not move times for mapped pages at all, keeps them by another machine's clock, or makes them
    up: only those in the table below are trusted.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: A file written this shortly before it was looked at may be written again without its time moving: ext3 keeps whole
#: seconds, the kernel's clock for files ticks every few milliseconds. Twice the coarsest of the trusted ones.
SETTLED_NS = 2_000_000_000

#: sync_file_range: wait for pages that are being written, write the dirty ones, wait for them. Unlike fdatasync it
#: commits no journal: 0.11 ms instead of 0.19 ms for a new file, 5 µs instead of 60 µs for one that is on disk.
_ALL_PAGES = 7

_OVERLAY = 0x794C7630

_MOUNTED_LAYER = re.compile(r"(?:upperdir|lowerdir|datadir)\+?=(.*)")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says of a file."""

    size: int
    mtime_ns: int
    #: Moves with every write and every change of the other time, and nobody can set it.
    ctime_ns: int
    inode: int
    #: Another file system may have the same file number with the same times: a copy of its image.
    device: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        found = path.stat()
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)


class Watch:
    """One look at some files: what is written after it began counts as not settled."""

    def __init__(self) -> None:
        self.began = time.time_ns()
        self._flushes: dict[int, Flush | None] = {}

    def will_tell(self, path: Path, stamp: Stamp) -> bool:
        """Whether the stamp moves when a file, which is read after this call, is changed after that."""
        if stamp.ctime_ns >= self.began - SETTLED_NS:  # (1)
            return False
        try:
            if stamp.device not in self._flushes:
                self._flushes[stamp.device] = flush_of(path)  # (3)
            flush = self._flushes[stamp.device]
            # A pipe is left alone: opening it would end its writer.
            if flush is None or not path.is_file():
                return False
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            return flush(handle)  # (2)
        finally:
            os.close(handle)


#: Writes dirty pages back, so that the next write to them moves the file's times.
Flush = Callable[[int], bool]


def _write_range(handle: int) -> bool:
    return _libc is not None and _libc.sync_file_range(handle, 0, 0, _ALL_PAGES) == 0


def _write_data(handle: int) -> bool:
    with suppress(OSError):
        os.fdatasync(handle)
        return True
    return False


#: File systems, by the number that statfs(2) gives, whose times move with every write, also one through a mapping once
#: its page is clean. Not here, among others: tmpfs (a mapped write never moves a time), network file systems and FUSE
#: (times come late, from another clock, or from a program), squashfs and other images (one that is built again has the
#: same numbers and times). docs/inchdfs.md has the list with reasons.
_TELLING: dict[int, Flush] = {
    0xEF53: _write_range,  # ext2, ext3, ext4
    0x58465342: _write_range,  # xfs
    0x9123683E: _write_range,  # btrfs
}


def flush_of(path: Path) -> Flush | None:
    """How dirty pages of the files of a file system are written; None where its times are not trusted."""
    kind = _file_system(path)
    if kind != _OVERLAY:
        return _TELLING.get(kind)
    layers = _layers(path)
    # Its own files have no pages, so that only fdatasync reaches those of the layer below.
    return _write_data if layers and all(_file_system(layer) in _TELLING for layer in layers) else None


def _file_system(path: Path) -> int:
    """The number of a file system's kind; 0 where the system does not say."""
    if _libc is None:
        return 0
    buffer = (ctypes.c_long * 64)()  # struct statfs has 120 bytes, of which f_type is the first long
    if _libc.statfs(os.fsencode(path), buffer):
        return 0
    return int(buffer[0]) & 0xFFFFFFFF


def _layers(path: Path) -> list[Path]:
    """The folders that an overlay is made of; one that is not seen from here (in a container) is none's folder."""
    return layers_at(path.resolve(), Path("/proc/self/mountinfo").read_text())


def layers_at(path: Path, mounts: str) -> list[Path]:
    """The layers of the overlay that holds a path, as /proc/self/mountinfo tells them.

    Example:
        >>> line = "44 27 0:39 / /mnt rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/c\\\\040d,workdir=/w"
        >>> [str(layer) for layer in layers_at(Path("/mnt/file"), line)]
        ['/a', '/b', '/c d']
    """
    found: tuple[int, str] = (0, "")
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split()[4]))
        # Of mounts at one place the last is on top.
        if path.is_relative_to(point) and len(point.parts) >= found[0]:
            found = len(point.parts), after.split()[2]
    names = [match[1] for option in found[1].split(",") if (match := _MOUNTED_LAYER.fullmatch(option))]
    return [Path(_unescaped(name)) for joined in names for name in joined.split(":") if name]


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _loaded() -> ctypes.CDLL | None:
    """The C library of Linux; elsewhere no times are trusted."""
    if not sys.platform.startswith("linux"):
        return None
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
        library.statfs.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        return library
    return None


_libc = _loaded()
