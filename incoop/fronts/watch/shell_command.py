"""A shell command with a file as its standard input, which is ended with the program that runs it.

Contract: the command has a process group of its own, so that Ctrl-C is for the program alone. When its shell has ended,
or the program is stopped while it waits, all that is left of the group is ended: asked to, and after some seconds made
to. What it prints goes to standard error. Its input is a file: whoever does not read it keeps nobody waiting.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import IO

from incoop.fronts.watch.stop import StopSignals

#: Seconds between two looks whether a command has ended: no more than a person notices.
_PAUSE = 0.02

#: Seconds for a command to end when it is asked to.
_PATIENCE = 3.0


def run_command(command: str, content: IO[bytes], variables: Mapping[str, str], signals: StopSignals) -> str:
    """Run a command to its end; says how it failed, nothing where it did not."""
    content.seek(0)
    with signals.allowed(False):
        process = subprocess.Popen(
            ["/bin/sh", "-c", command], stdin=content, stdout=2, env={**os.environ, **variables}, start_new_session=True
        )
        try:
            # Its number stays its own: it is not taken from the system yet.
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                signals.sleep(_PAUSE)
        finally:
            _end_group(process)
    code = process.wait()
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with {code}" if code else ""


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the command's process group, and take its shell from the system."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + _PATIENCE
        _signal_group(process.pid, number)
        while time.monotonic() < end:
            process.poll()
            if not _signal_group(process.pid, 0):
                return
            time.sleep(0.005)


def _signal_group(group: int, number: int) -> bool:
    """Whether there was anybody to get the signal."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False
