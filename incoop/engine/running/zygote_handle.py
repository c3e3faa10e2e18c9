"""The process that workers are forked from, and its workers, as the driver sees them.

Contract: nothing is forked here. A worker has the environment and the folder that this process has when it is asked
for; what became of one that ended is known soon after.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from incoop.base.errors import IncoopError
from incoop.engine.running.messages import receive, send
from incoop.engine.running.zygote import Surroundings

#: Starts the zygote with Python's own path, where no module of a user's is found before one of ours.
_BOOT = "import sys; sys.path.append(sys.argv[2]);from incoop.engine.running.zygote import main; main(int(sys.argv[1]))"

#: As Spark has them in its workers: sets of texts have one order everywhere, and numpy's libraries one thread.
_AS_SPARK = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}

#: Seconds for a process of ours to end, or to be told of, before it is made to.
_PATIENCE = 5.0


class ProcessesFailed(IncoopError):
    """The process that workers are forked from could not be started, or is gone."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said

    def __str__(self) -> str:
        return (
            f"worker processes could not be started: {self.said}. Try again; with a Spark master (local[*]) the job "
            "runs in Spark's own workers."
        )


class Worker:
    """A worker process, as the driver sees it."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid, self.channel = pid, channel
        #: Which items it is given first (processes.py).
        self.seat = 0

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.channel.close()


class Zygote:
    """The process that workers are forked from, as the driver sees it."""

    def __init__(self, preload: Sequence[str]) -> None:
        self._owner = os.getpid()
        try:
            self.control, theirs = socket.socketpair()
        except OSError as error:  # too many open files
            raise ProcessesFailed(error.strerror or str(error)) from error
        with theirs:
            self._process = self._start(theirs)
        self._dead: dict[int, int] = {}
        self._born: list[int] = []
        #: Whether it is known to have loaded everything: from then on a worker is there at once.
        self.ready = False
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # that it is gone is told when it is asked
            send(self.control, pickle.dumps(tuple(preload)))

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        root = str(Path(__file__).parents[3])  # where incoop is
        try:
            return subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT, str(theirs.fileno()), root],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **_as_spark()},
                start_new_session=True,  # Ctrl-C is for the program, which ends its workers
            )
        except OSError as error:  # no memory, too many processes, no such program
            self.control.close()
            raise ProcessesFailed(error.strerror or str(error)) from error

    @property
    def lives(self) -> bool:
        """False also in a child of the process that started it."""
        return self._owner == os.getpid() and self._process.poll() is None

    def fork(self) -> Worker:
        """A new worker, with this process's environment and folder."""
        surroundings = Surroundings({**os.environ, **_as_spark()}, _folder(), tuple(filter(None, sys.path)))
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise ProcessesFailed(error.strerror or str(error)) from error
        with theirs, contextlib.suppress(BrokenPipeError, ConnectionResetError):  # why it is gone is in what it said
            socket.send_fds(self.control, [b"w"], [theirs.fileno()])
            send(self.control, pickle.dumps(surroundings))
        while not self._born:
            self.hear()
        return Worker(self._born.pop(), ours)

    def hear(self) -> None:
        """Take in what the zygote says next."""
        message = receive(self.control)
        if message is None:
            raise ProcessesFailed(f"the process that starts them ended with {self._process.wait(_PATIENCE)}")
        match pickle.loads(message):
            case ("ready",):
                self.ready = True
            case ("born", pid):
                self._born.append(pid)
            case ("died", pid, status):
                self._dead[pid] = status
            case ("failed", why):
                raise ProcessesFailed(why)

    def hear_all(self) -> None:
        """Take in what it has said so far."""
        while select.select([self.control], [], [], 0)[0]:
            self.hear()

    def status(self, pid: int) -> int | None:
        """The status of a worker that is known to have ended."""
        return self._dead.get(pid)

    def wait_for(self, pid: int) -> int | None:
        """The status of a worker that does not listen any more; None if it lives on."""
        self.control.settimeout(_PATIENCE)
        try:
            while pid not in self._dead:
                self.hear()
        except TimeoutError:
            return None
        finally:
            self.control.settimeout(None)
        return self._dead[pid]

    def stop(self) -> None:
        self.control.close()  # at which it kills its workers and ends
        if self._owner != os.getpid():
            return
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


#: Started before it was known who needs it, and what it loads.
_early: dict[tuple[str, ...], Zygote] = {}


def start_early(preload: Sequence[str]) -> None:
    """Start a zygote for the first session that wants such a one: it loads its modules while this process does."""
    if tuple(preload) not in _early:
        _early[tuple(preload)] = Zygote(preload)


def take_early(preload: Sequence[str]) -> Zygote | None:
    """The one that was started early; for the first who asks."""
    return _early.pop(tuple(preload), None)


def _as_spark() -> dict[str, str]:
    return {name: os.environ.get(name, value) for name, value in _AS_SPARK.items()}


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # removed
        return "/"
