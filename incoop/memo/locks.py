"""File locks that the kernel gives back when a process dies.

Contract: a lock is held by an open file, never by a file's existence, so `kill -9` leaves nothing to clean up. A
child made by fork does not keep its parent's locks. `enter` and `alive` are called under the folder's gate.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from incoop.base.own_files import open_lock

_held: set[int] = set()


def _forget_in_child() -> None:
    # The lock belongs to the open file that parent and child share: closing the child's copy leaves it to the parent.
    for fd in _held:
        with contextlib.suppress(OSError):
            os.close(fd)
    _held.clear()


os.register_at_fork(after_in_child=_forget_in_child)


@contextlib.contextmanager
def gate(path: Path) -> Iterator[None]:
    """Hold the folder's gate: sessions enter and leave, and the server starts and stops, one at a time."""
    fd = open_lock(path)
    _held.add(fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        if fd in _held:
            _held.discard(fd)
            os.close(fd)


class SessionFile:
    """A file that is locked for as long as its session lives."""

    def __init__(self, path: Path, note: bytes) -> None:
        self.path = path
        self._pid = os.getpid()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        _held.add(self._fd)
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(self._fd, note)
        #: The moment of entering by the clock of the store's filesystem, which also stamps the packs.
        self.entered = os.fstat(self._fd).st_mtime

    @property
    def ours(self) -> bool:
        """Whether this process (not a parent of it) entered."""
        return self._pid == os.getpid()

    def leave(self) -> None:
        if self.ours and self._fd in _held:
            _held.discard(self._fd)
            with contextlib.suppress(OSError):  # removed with its folder, or on a disk that became read-only
                self.path.unlink()
            os.close(self._fd)


def alive(folder: Path) -> list[str]:
    """Names of the sessions that live; the files of dead ones are removed."""
    names = []
    for path in sorted(folder.iterdir()):
        fd = open_lock(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            names.append(path.name)
        else:
            path.unlink(missing_ok=True)
        finally:
            os.close(fd)
    return names
