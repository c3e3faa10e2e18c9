"""What happens around a task in a Python worker, of Spark's or of our own.

Contract: a worker is in the folder again that a task found it in: the next one may be the program's own, or its folder
gone. What Spark's worker does between two tasks is made short: some 20 ms, not 90 (bench/bench_gaps.py); nothing that a
task can see changes, and where Spark's worker is not the one that is known here, nothing does.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from incoop.base.garbage import collecting_seldom

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_modules_when_frozen = 0


def settled(function: Callable[[Item], Answer], item: Item) -> Answer:
    """Run a task, and leave the worker ready for another."""
    try:
        with folder_kept(), collecting_seldom():
            return function(item)
    finally:
        settle()


def settle() -> None:
    """Call it at the end of a task."""
    _read_at_once()
    _freeze()


@contextlib.contextmanager
def folder_kept() -> Iterator[None]:
    """Afterwards this process works in the folder in which it works now, also in one that was removed."""
    try:
        here = os.open(os.curdir, os.O_RDONLY)
    except OSError:  # not ours to look into
        yield
        return
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def _freeze() -> None:
    """Take what is loaded out of the garbage collector's sight.

    A worker collects all garbage after every task, which takes 30 ms for the modules of numpy and the user's program:
    none of it is garbage. Objects of the task that are still referred to stay, too, once for every import.
    """
    global _modules_when_frozen
    if len(sys.modules) != _modules_when_frozen:
        gc.freeze()
        _modules_when_frozen = len(sys.modules)


def _read_at_once() -> None:
    """Let a worker acknowledge what it reads at once.

    The JVM sends the end of a task's input apart, once the rest is acknowledged, and Linux puts that off for 40 ms on a
    connection that goes back and forth. The loop of PySpark's daemon looks its `worker` up for every task.
    """
    daemon: Any = sys.modules["__main__"]
    name = getattr(getattr(daemon, "__spec__", None), "name", None)
    worker = getattr(daemon, "worker", None)
    if name != "pyspark.daemon" or not callable(worker) or getattr(worker, "reads_at_once", False):
        return

    def reading(sock: socket.socket, *arguments: Any) -> Any:
        with contextlib.suppress(AttributeError, OSError):  # not on Linux, or not by TCP
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return worker(sock, *arguments)

    reading.reads_at_once = True  # type: ignore[attr-defined]
    daemon.worker = reading
