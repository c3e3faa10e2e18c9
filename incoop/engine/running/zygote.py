"""The process that workers of our own are forked from: it has numpy and the tasks' modules, and no user's code.

Contract: it has one thread, so that a fork is safe, and does nothing but fork and tell which workers ended. When the
program that started it is gone, however that ended, its workers are killed and it ends. Each worker is a process group
of its own, so that what a user's function started goes with it. Standard output is standard error.

Messages, pickled: from the driver (preload) once, then for each worker a byte with the worker's end of a socket, and
its surroundings; to the driver ("ready",) once, ("born", pid), ("died", pid, status) and ("failed", why).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from incoop.engine.running.messages import receive, send
from incoop.engine.running.worker_loop import serve

#: Seconds between two looks whether our parent is still there, should someone else hold its end of the socket.
_LOOK_UP = 2.0

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a new worker has of the driver's process."""

    variables: dict[str, str]
    folder: str
    #: Where modules of the engine's users are found, behind the worker's own.
    path: tuple[str, ...]


def main(descriptor: int) -> None:
    """Serve the driver at the other end of a socket until it goes."""
    os.dup2(2, 1)  # what users print must not get into a program's output
    # Users' code finds an empty program, not this one.
    sys.modules["__main__"], sys.argv[:] = ModuleType("__main__"), [""]
    with socket.socket(fileno=descriptor) as control:
        zygote = _Zygote(control)
        try:
            zygote.load()
            zygote.serve()
        except Exception:
            with contextlib.suppress(OSError):
                send(control, pickle.dumps(("failed", traceback.format_exc())))
        finally:
            zygote.end()


class _Zygote:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._parent = os.getppid()
        self._living: set[int] = set()
        self._woken, waking = socket.socketpair()
        for each in (self._woken, waking):
            each.setblocking(False)
        self._waking = waking

    def load(self) -> None:
        modules: Sequence[str] = pickle.loads(receive(self._control) or b"N.") or ()
        gc.disable()
        for name in modules:
            importlib.import_module(name)
        gc.freeze()  # a collection in a worker need not look at it, nor copy its pages
        gc.enable()
        with contextlib.suppress(OSError):  # that the driver is gone is told when it is listened to
            send(self._control, pickle.dumps(("ready",)))

    def serve(self) -> None:
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while os.getppid() == self._parent:
            ready, _, _ = select.select([self._control, self._woken], [], [], _LOOK_UP)
            if self._woken in ready:
                with contextlib.suppress(BlockingIOError):
                    self._woken.recv(4096)
                self._tell_of_the_dead()
            if self._control in ready:
                data, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
                order = receive(self._control) if data else None
                if order is None:
                    return
                os.set_inheritable(descriptors[0], False)  # what a user's function starts has no line to the driver
                self._fork(descriptors[0], pickle.loads(order))

    def _fork(self, descriptor: int, surroundings: Surroundings) -> None:
        own = os.getpid()
        pid = os.fork()
        if not pid:
            try:
                self._become_worker(own, surroundings)
                with socket.socket(fileno=descriptor) as channel:
                    serve(channel)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(descriptor)
        with contextlib.suppress(OSError):  # whoever comes first; it may be gone already
            os.setpgid(pid, pid)
        self._living.add(pid)
        send(self._control, pickle.dumps(("born", pid)))

    def _become_worker(self, zygote: int, surroundings: Surroundings) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setpgid(0, 0)
        _die_with_parent(zygote)
        for each in (self._control, self._woken, self._waking):
            each.close()
        for name in os.environ.keys() - surroundings.variables.keys():
            del os.environ[name]
        os.environ.update(surroundings.variables)
        with contextlib.suppress(OSError):  # a folder that was removed
            os.chdir(surroundings.folder)
        sys.path += [each for each in surroundings.path if each not in sys.path]

    def _tell_of_the_dead(self) -> None:
        while self._living:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self._living.discard(pid)
            _kill_group(pid)  # what it started
            send(self._control, pickle.dumps(("died", pid, status)))

    def end(self) -> None:
        for pid in self._living:
            _kill_group(pid)
        os._exit(0)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _die_with_parent(parent: int) -> None:
    """Should the zygote be killed, its workers go with it; elsewhere than on Linux, at the end of their task."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
