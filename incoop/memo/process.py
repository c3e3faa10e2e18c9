"""Is that process still the one we started?

Contract: a process id alone proves nothing, because ids are used again. A process is identified by its id and its
start time; a process that has exited but was not waited for (a zombie) counts as gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def start_time(pid: int) -> str | None:
    """When the process started, as the system says it; None when there is no such (running) process."""
    if sys.platform.startswith("linux"):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return None
        # The name in parentheses may hold anything; state and the rest follow the last one.
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]
    answer = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = answer.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else started.strip()


def is_running(pid: int, started: str) -> bool:
    """Whether the very process that was recorded still runs."""
    return start_time(pid) == started


def works_in(pid: int, folder: Path, *, otherwise: bool = False) -> bool:
    """Whether the process has `folder` as its working folder; where the system does not say, `otherwise`."""
    if not sys.platform.startswith("linux"):
        return otherwise
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == folder.resolve()
    except OSError:
        return False


def wait_gone(pid: int, started: str, seconds: float) -> bool:
    """Wait until the process has exited."""
    end = time.monotonic() + seconds
    while is_running(pid, started):
        if time.monotonic() > end:
            return False
        time.sleep(0.003)
    return True


def end_process(pid: int, started: str, seconds: float) -> None:
    """Ask the process to end, then make it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not is_running(pid, started):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        if wait_gone(pid, started, seconds):
            return
