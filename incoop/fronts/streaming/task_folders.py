"""A folder for each command that runs; and those that killed tasks left, removed.

Contract: a folder is locked while its task lives, by the kernel, which gives the lock back however the task ends. So
nobody's folder is taken for a leftover, whichever container it runs in.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from incoop.code import unwatched

_PREFIX = "incoop-task-"

#: Seconds in which a new folder gets its lock.
_NEW = 60.0


@contextlib.contextmanager
def task_folder() -> Iterator[Path]:
    """An empty folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        with unwatched():  # it is ours, and nothing that a command reads
            held = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(held, fcntl.LOCK_SH)
            yield Path(name)
        finally:
            os.close(held)


def clear_task_folders() -> None:
    """Remove the folders of tasks that are gone."""
    with contextlib.suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                _clear(path)


def _clear(path: Path) -> None:
    held = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        found = os.fstat(held)
        if found.st_uid != os.geteuid() or found.st_ctime > time.time() - _NEW:
            return
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(held)
