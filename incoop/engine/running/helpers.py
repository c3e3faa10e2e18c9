"""Processes that are given something to do beside the driver: to look at parts of an input while that does the rest.

Contract: they never hold user code, so that what they say of an input may be kept. There are some only where they can
be had at once; one that is lost says nothing, and is missed by nobody.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from typing import Any

from incoop.code import light_cloudpickle
from incoop.engine.running.messages import receive, send
from incoop.engine.running.nearby import cores
from incoop.engine.running.processes import Processes
from incoop.engine.running.zygote_handle import Worker


class Helpers:
    """The helpers of one session: one for each core but the driver's own."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._idle: list[Worker] = []

    def ready(self) -> int:
        """How many could begin now."""
        missing = cores() - 1 - len(self._idle)
        if missing > 0:
            self._idle += self._processes.fresh(missing)
        return len(self._idle)

    def begin(self, function: Callable[[Any], Any], item: Any) -> HelpersAnswer | None:
        """Let one begin; None where none can."""
        packed, task = light_cloudpickle.dumps(function), light_cloudpickle.dumps(item)
        while self._idle:
            worker = self._idle.pop()
            try:
                send(worker.channel, b"f", packed)
                send(worker.channel, b"i", task)
            except OSError:  # it is gone
                worker.channel.close()
            else:
                return HelpersAnswer(worker, self._idle)
        return None

    def stop(self) -> None:
        """End them."""
        while self._idle:
            self._idle.pop().channel.close()


class HelpersAnswer:
    """What a helper is at."""

    def __init__(self, worker: Worker, idle: list[Worker]) -> None:
        self._worker, self._idle = worker, idle

    def wait(self) -> Any:
        """What it gave; None where it was lost, or failed."""
        with contextlib.suppress(OSError):
            while (message := receive(self._worker.channel)) is not None:
                if message[:1] == b"b":
                    continue
                self._idle.append(self._worker)
                return pickle.loads(memoryview(message)[1:]) if message[:1] == b"a" else None
        self._worker.channel.close()
        return None

    def drop(self) -> None:
        """Nobody waits for it any more."""
        if self._worker not in self._idle:
            self._worker.kill()
