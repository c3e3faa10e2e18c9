"""Standard input as a log: what can be read only once is kept in a file without a name until it is taken.

Contract: what was read is taken, unless the process is killed; no more than a batch of it waits at any time, and while
it waits, whoever writes to the pipe does. Nothing is left on disk, however the process ends.
"""

from __future__ import annotations

import os
import select
import tempfile
from pathlib import Path
from types import TracebackType

from incoop.inchdfs.errors import InputUnreadable
from incoop.inchdfs.store.packs import using_store, write_fully

_PIECE = 1 << 20

_NAME = Path("standard input")


class InputSpool:
    """What came from standard input and was not taken yet."""

    def __init__(self, folder: Path, source: int = 0) -> None:
        self._source, self._folder = source, folder
        with using_store(folder):
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed by __exit__
        #: Where the file begins in the stream.
        self._begins = 0
        self.length = 0
        self.ended = False

    def __enter__(self) -> InputSpool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

    def wait(self, seconds: float, most: int) -> None:
        """Read what comes within some seconds, no more than `most` bytes of it."""
        if self.ended or most <= 0:
            return
        try:
            if not select.select([self._source], [], [], seconds)[0]:
                return
            piece = os.read(self._source, min(_PIECE, most))
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            raise InputUnreadable(str(_NAME), error.strerror or str(error)) from error
        if not piece:
            self.ended = True
            return
        with using_store(self._folder):
            os.lseek(self._file.fileno(), 0, os.SEEK_END)
            write_fully(self._file.fileno(), piece)
        self.length += len(piece)

    def read_into(self, position: int, target: memoryview) -> int:
        return os.preadv(self._file.fileno(), [target], position - self._begins)

    def forget(self, taken: int) -> None:
        """Give back the room of what was taken, where little else is left: a line that has no end yet."""
        if self.length - taken <= _PIECE and taken > self._begins:
            rest = os.pread(self._file.fileno(), self.length - taken, taken - self._begins)
            self._begins = taken
            with using_store(self._folder):
                self._file.truncate(0)
                os.pwrite(self._file.fileno(), rest, 0)

    def begin_at(self, taken: int) -> None:
        """Be a stream of which nothing was taken: what is left, from there on."""
        self._begins -= taken
        self.length -= taken
