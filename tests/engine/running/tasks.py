"""What tests let worker processes do: functions as tasks are, and how to look at processes from outside."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any


def square(number: int) -> int:
    return number * number


def whoami(_: Any) -> int:
    return os.getpid()


def slow_whoami(_: Any) -> int:
    time.sleep(0.2)
    return os.getpid()


def shouting(number: int) -> int:
    print("spoken in a worker")
    sys.stdout.buffer.write(b"\x00\xff raw\n")
    os.write(1, b"straight to the descriptor\n")
    return number


def ending(how: Any) -> str:
    """Ends its process as told, or gives an answer."""
    match how:
        case "exit":
            sys.exit(3)
        case "os._exit":
            os._exit(7)
        case "interrupt":
            raise KeyboardInterrupt("not yours")
        case "closed":
            os.closerange(3, 1 << 10)
            time.sleep(60)
        case "unpicklable":
            return threading.Lock()  # type: ignore[return-value]
        case int():
            os.kill(os.getpid(), how)
            time.sleep(60)
    return f"went on after {how}"


def ends_behind_others(number: int) -> int:
    """The last of four is lost, when the others are done."""
    if number == 3:
        time.sleep(0.4)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def ends_after_a_note(path: str) -> None:
    """Notes that it was begun, and is lost."""
    with Path(path).open("a") as file:
        file.write("begun\n")
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


class EndsWhenUnpacked:
    """A task that no worker gets to begin."""

    def __call__(self, _: Any) -> None:
        raise AssertionError("it was begun")

    def __reduce__(self) -> Any:
        return os._exit, (4,)


def forking(number: int) -> int:
    """A fork whose child comes back, too."""
    os.fork()
    return number


def leaving_a_child(number: int) -> int:
    """A child that holds what its parent had, and outlives it."""
    if not os.fork():
        time.sleep(60)
        os._exit(0)
    os._exit(5)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def gone(pids: set[int], seconds: float = 20.0) -> bool:
    """Whether processes are gone, or go soon."""
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def below(pid: int) -> set[int]:
    """All processes that a process started, and those that these did."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in "ZX":
            parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in {pid, *found}} - found:
        found |= more
    return found
