"""One zygote for all sessions of a test process: starting one takes half a second of the processor, the rest of a small
run a twentieth of that.

Contract: a session that is closed leaves no worker, kept zygote or not; the next session is given the same zygote if it
would start an equal one: with the same modules, environment and standard error. A zygote never has a user's code, so
nothing of one test reaches another. One that something went wrong with is ended, as always.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence

import pytest

from incoop.engine.running import processes
from incoop.engine.running.zygote_handle import Worker, Zygote
from incoop.engine.stages import TASKS

#: What pytest says of the test that runs; a zygote does not read it, and workers get it as it is when they begin.
_SAID_BY_PYTEST = "PYTEST_CURRENT_TEST"

_kept: dict[object, Zygote] = {}


def _start() -> object:
    """What tells zygotes apart that are started now."""
    error = os.fstat(2)
    variables = {name: value for name, value in os.environ.items() if name != _SAID_BY_PYTEST}
    return tuple(sorted(variables.items())), error.st_dev, error.st_ino, sys.executable


class KeptZygote(Zygote):
    """When it is stopped, its workers end, and it waits for the next session."""

    def __init__(self, preload: Sequence[str], start: object) -> None:
        super().__init__(preload)
        self._start = start
        self._workers: set[int] = set()

    def fork(self) -> Worker:
        worker = super().fork()
        self._workers.add(worker.pid)
        return worker

    def stop(self) -> None:
        # In the middle of a failure, it may be in the middle of a message.
        if sys.exception() is not None or not self.lives or not self._workers_end():
            super().stop()
            return
        end_kept()
        _kept[self._start] = self

    def _workers_end(self) -> bool:
        self.hear_all()
        for pid in self._workers - self._dead.keys():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            if self.wait_for(pid) is None:
                return False
        self._workers.clear()
        self._dead.clear()  # the system may give out these numbers again
        return True


def zygote(preload: Sequence[str]) -> Zygote:
    """As a session asks for one. Tests of the processes themselves preload something else."""
    if tuple(preload) != tuple(TASKS):
        return Zygote(preload)
    start = _start()
    kept = _kept.pop(start, None)
    return kept if kept is not None and kept.lives else KeptZygote(preload, start)


def end_kept() -> None:
    while _kept:
        Zygote.stop(_kept.popitem()[1])


@contextlib.contextmanager
def zygotes_are_kept() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "Zygote", zygote)
        yield
    end_kept()
