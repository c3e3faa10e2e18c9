"""What a worker process of our own does: a function, items one by one, an answer to each.

Contract: everything that happens to a task is an answer to it, but for the end of the process. A task finds the process
as one of Spark's finds its worker: the same folder before each, what users print on standard error.

Messages: b"f" and a pickled function, then for each item b"i" and the pickled item; back come b"b" when it has come and
nothing was done with it so far, then b"a" and the pickled answer, or b"r" and the traceback of what was raised.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any

from incoop.engine.running.messages import receive, send
from incoop.engine.running.worker_process import settled


def serve(channel: socket.socket) -> None:
    """Work until the driver goes."""
    own = os.getpid()
    function: Callable[[Any], Any] = _unknown
    while (message := receive(channel)) is not None:
        kind, body = message[:1], memoryview(message)[1:]
        if kind == b"f":
            function = _unpacked(body)
            continue
        try:
            send(channel, b"b")
        except OSError:  # the driver is gone
            return
        try:
            told = b"a", pickle.dumps(settled(function, pickle.loads(body)), pickle.HIGHEST_PROTOCOL)
        except BaseException:
            told = b"r", traceback.format_exc().encode("utf-8", "backslashreplace")
        _flush()
        if os.getpid() != own:  # of a fork in a user's function that came back here: the answer is its parent's
            os._exit(0)
        try:
            send(channel, *told)
        except OSError:
            return


def _unknown(_: Any) -> Any:
    raise RuntimeError("an item came before its function")


def _unpacked(packed: memoryview) -> Callable[[Any], Any]:
    """The function; where it cannot be had here, one that tells each item why."""
    try:
        function: Callable[[Any], Any] = pickle.loads(packed)
        return function
    except BaseException:
        trace = traceback.format_exc()

    def failing(_: Any) -> Any:
        raise RuntimeError(f"the task could not be unpacked\n{trace}")

    return failing


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or replaced, by a user's function
            stream.flush()
