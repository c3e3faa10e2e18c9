"""One open log: its content from any place, compressed or not, whatever its name is by now.

Contract: only regular files are opened, and nothing is waited for. NULs at the beginning are no content: a writer that
is not in append mode leaves a hole there when its log is copied and truncated. Of a compressed file nothing counts
until all of it can be decompressed, and what stands for more than a thousand times its size is refused. Memory does not
depend on the size of the file.
"""

from __future__ import annotations

import errno
import io
import os
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Protocol

from incoop.base.file_stamps import Stamp
from incoop.base.own_files import open_for_reader
from incoop.inchdfs.cutting.splitter import ReadInto
from incoop.inchdfs.errors import InputUnreadable
from incoop.inchdfs.files.sources import COMPRESSED, content_reader, longest_content, readable

#: Bytes read at once.
PIECE = 1 << 20


class LogContent(Protocol):
    """What lines are taken from."""

    #: Bytes that can be read now, as far as is known.
    length: int
    #: Nobody will write to it any more, so that a last line without an end is one.
    ended: bool

    def read_into(self, position: int, target: memoryview) -> int:
        """As many of the bytes from there on as there are, and as fit."""
        ...


class LogFile:
    """A regular file, kept open until `close`, so that its inode belongs to nobody else."""

    def __init__(self, path: str) -> None:
        #: Where it was last seen; it may have been renamed since.
        self.path = path
        self.suffix = PurePath(path).suffix if path.endswith(COMPRESSED) else ""
        self.length = 0
        self.ended = False
        #: It was renamed since it was opened.
        self.moved = False
        #: NULs before the content.
        self.lead = 0
        self._lead_known = False
        self._reader: ReadInto | None = None
        self._reader_at = 0
        with readable(Path(path)):
            self._handle = open_for_reader(path)
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._reader = None
        with suppress(OSError):
            os.close(self._handle)

    @property
    def compressed(self) -> bool:
        return bool(self.suffix)

    @property
    def inode(self) -> tuple[int, int]:
        found = self.found()
        return found.st_dev, found.st_ino

    def found(self) -> os.stat_result:
        """What the file system says of it now."""
        return os.fstat(self._handle)

    def stamp(self) -> Stamp:
        found = self.found()
        return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)

    def refresh(self) -> None:
        """See how long the content is now; a compressed one is decompressed for that."""
        with readable(Path(self.path)):
            size = self.found().st_size
            if self.compressed:
                self._measure()
                return
            if not self._lead_known or size < self.lead:
                self._find_lead(size)
            self.length = size - self.lead if self._lead_known else 0

    def read_into(self, position: int, target: memoryview) -> int:
        with readable(Path(self.path)):
            if self.compressed:
                return self._decompress_into(self.lead + position, target)
            return os.preadv(self._handle, [target], self.lead + position)

    def read_at(self, position: int, size: int) -> bytes:
        """The same as bytes of their own."""
        target = memoryview(bytearray(size))
        return bytes(target[: self.read_into(position, target)])

    def _find_lead(self, size: int) -> None:
        self._lead_known = False
        at = self.lead if size >= self.lead else 0
        while at < size:
            with suppress(OSError):  # a file system that knows of no holes
                at = _data_from(self._handle, at, size)
            piece = os.pread(self._handle, PIECE, at)
            if not piece:
                break
            kept = piece.lstrip(b"\0")
            at += len(piece) - len(kept)
            if kept:
                self._lead_known = True
                break
        self.lead = at

    def _measure(self) -> None:
        """Decompress everything once: a log that is being compressed, or damaged, shows here and not half taken."""
        limit = longest_content(self.found().st_size)
        buffer = memoryview(bytearray(PIECE))
        read, total, lead = self._from_beginning(), 0, 0
        while size := read(buffer):
            if lead == total:
                lead += size - len(bytes(buffer[:size]).lstrip(b"\0"))
            total += size
            if total > limit:
                raise InputUnreadable(self.path, f"it stands for more than {limit} bytes, as no log does")
        self.lead, self.length = lead, total - lead
        self._reader = None

    def _decompress_into(self, position: int, target: memoryview) -> int:
        if self._reader is None or position < self._reader_at:
            self._reader, self._reader_at = self._from_beginning(), 0
        if self._reader_at < position:
            passed_over = memoryview(bytearray(PIECE))
            while self._reader_at < position:
                passed = self._reader(passed_over[: min(PIECE, position - self._reader_at)])
                if not passed:
                    return 0
                self._reader_at += passed
        got = 0
        while got < len(target) and (more := self._reader(target[got:])):
            got += more
        self._reader_at += got
        return got

    def _from_beginning(self) -> ReadInto:
        os.lseek(self._handle, 0, os.SEEK_SET)
        return content_reader(io.FileIO(os.dup(self._handle), "rb"), self.suffix)


def _data_from(handle: int, at: int, size: int) -> int:
    """Where the next bytes are that are not a hole; a hole may be as large as it likes."""
    try:
        return os.lseek(handle, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return size
        raise
