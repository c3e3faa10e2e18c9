"""Daemons of Spark's Python workers, forked from a process that has loaded what workers load.

Contract: the JVM of the tests starts this module in place of `pyspark.daemon` (`spark.python.daemon.module`), and what
it gets behaves as that: PySpark's own loop runs, with the variables, path, folder and pipes that the JVM gave. Nothing
of one daemon reaches another: the process that they are forked from (the keeper) loads PySpark, numpy and the tasks,
and never a user's code. It ends with the test process that started it. Where a keeper cannot be reached, or would hash
otherwise, PySpark's daemon starts as always.

A test that changes a module gets new workers, which is the point of many tests. Each time, PySpark's daemon loads
PySpark, and each of two workers the tasks; what is forked has them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

#: Where the keeper listens.
SOCKET = "INCOOP_TESTS_KEEPER"

#: What Spark starts workers with, and what counts when Python starts.
START = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "YES"}

REPOSITORY = Path(__file__).parents[1]

#: Standard input, output and error.
_PIPES = (0, 1, 2)


@contextlib.contextmanager
def keeper() -> Iterator[dict[str, str]]:
    """A keeper, and the settings of a Spark session whose daemons it forks."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="incoop-keeper-") as folder:
        path = f"{folder}/socket"
        command = [sys.executable, "-m", __name__, "--keep", path]
        process = subprocess.Popen(command, cwd=REPOSITORY, env=os.environ | START, stdin=subprocess.PIPE)
        try:
            yield {"spark.python.daemon.module": __name__, f"spark.executorEnv.{SOCKET}": path}
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)


def _front() -> None:
    """Have a daemon forked for the pipes of this process, and end when it does."""
    daemon = _forked()
    if daemon is None:
        os.execv(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]])
    import select

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: _signal(daemon, number))
    with contextlib.suppress(ProcessLookupError):
        select.select([os.pidfd_open(daemon)], [], [])


def _forked() -> int | None:
    """The process id of the daemon; None where there is no keeper for it."""
    if any(os.environ.get(name) != value for name, value in START.items()) or sys.flags.optimize:
        return None
    order = repr((dict(os.environ), sys.path, str(Path.cwd()), sys.argv)).encode()
    try:
        with socket.socket(socket.AF_UNIX) as keeper:
            keeper.connect(os.environ[SOCKET])
            socket.send_fds(keeper, [len(order).to_bytes(8)], _PIPES)
            keeper.sendall(order)
            return int.from_bytes(keeper.recv(8)) or None
    except (KeyError, OSError):
        return None


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _keep(path: str) -> None:
    """Fork daemons for all that ask, until standard input ends."""
    import gc
    import importlib
    import select

    from incoop.engine.stages import TASKS

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        for name in ("pyspark.daemon", "pyspark.worker", *TASKS):
            importlib.import_module(name)
        del sys.modules["pyspark.daemon"]  # it runs as a program
        gc.freeze()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # as a daemon has it; nobody asks how one ended
        while True:
            if 0 in select.select([0, listening], [], [])[0]:
                return
            asking, _ = listening.accept()
            with asking:
                _fork(listening, asking)


def _fork(listening: socket.socket, asking: socket.socket) -> None:
    import ast

    size, pipes, _, _ = socket.recv_fds(asking, 8, len(_PIPES))
    wanted, order = int.from_bytes(size), b""
    while len(order) < wanted and (more := asking.recv(wanted - len(order))):
        order += more
    pid = os.fork()
    if pid:
        for pipe in pipes:
            os.close(pipe)
        with contextlib.suppress(OSError):
            asking.sendall(pid.to_bytes(8))
        return
    try:
        listening.close()
        asking.close()
        for pipe, number in zip(pipes, _PIPES, strict=True):
            os.dup2(pipe, number)
            os.close(pipe)
        variables, path, folder, arguments = ast.literal_eval(order.decode())
        del variables[SOCKET]
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(folder)
        sys.path[:], sys.argv[:] = path, arguments
        _become_daemon()
    finally:
        os._exit(1)  # PySpark's loop ends by itself


def _become_daemon() -> None:
    import pkgutil
    import runpy

    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    # As when Python starts and looks for its modules: archives on the path are read now, not when a function imports.
    for folder in sys.path:
        pkgutil.get_importer(folder)
    try:
        runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--keep"]:
        _keep(sys.argv[2])
    else:
        _front()
