"""Run one command over bytes: fed and read at once, its reports taken from standard error.

Contract: the command sees all of its input and nothing else; it is not an error to stop reading early. Whatever happens
here, an error or an interrupt, the command and what it started are gone afterwards. Commands stay in the process group
of the Spark worker, which is hung up as a whole when Spark ends.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import selectors
import signal
import subprocess
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from incoop.engine.running.nearby import ended_on_failure
from incoop.fronts.common.commands import CommandFailed

#: Bytes written or read at once, and what a pipe should hold: most chunks, so that neither side waits for the other.
_PIECE = 1 << 20

#: Lines of standard error that an error shows.
_LAST_LINES = 20

#: A line of standard error is kept up to this length.
_LONGEST_LINE = 2000

_COUNTER = re.compile(r"reporter:counter:([^,]*),([^,]*),\s*(-?\d+)\s*$")
_STATUS = "reporter:status:"


@dataclass(slots=True)
class EndedProgram:
    """What a command left."""

    #: What it printed, unless somebody took it piece by piece.
    output: bytes
    code: int
    counters: Counter[str] = field(default_factory=Counter)
    status: str = ""
    last_lines: str = ""


@dataclass(slots=True)
class _Errors:
    """Standard error, line by line: reports are taken out, the last of the other lines kept."""

    counters: Counter[str] = field(default_factory=Counter)
    status: str = ""
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))
    _rest: bytes = b""

    def feed(self, data: bytes) -> None:
        *whole, rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._take(line)
        self._rest = rest[:_LONGEST_LINE]  # a progress bar may never end its line

    def close(self) -> None:
        if self._rest:
            self._take(self._rest)

    def _take(self, raw: bytes) -> None:
        line = raw[:_LONGEST_LINE].decode("utf-8", "replace").rstrip("\r")
        if found := _COUNTER.match(line):
            group, name, amount = found.groups()
            self.counters[f"{group}: {name}"] += int(amount)
        elif line.startswith(_STATUS):
            self.status = line.removeprefix(_STATUS).strip()
        else:
            self.lines.append(line)


def run_command(
    argv: Sequence[str],
    data: Iterable[bytes],
    *,
    role: str,
    text: str,
    env: Mapping[str, str],
    folder: Path,
    timeout: float | None,
    take: Callable[[bytes], object] | None = None,
) -> EndedProgram:
    """Feed pieces of `data` to a command in a folder; raise CommandFailed when it does not start, or does nothing.

    `take` is given what it prints, while it goes on.
    """
    try:
        child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(env), cwd=folder
        )
    except OSError as error:
        raise _not_started(role, text, error) from None
    except ValueError as error:  # a NUL in an argument or a variable
        raise CommandFailed(role, text, f"cannot be started ({error})", "", "Mend the command.") from None
    errors = _Errors()
    pieces: list[bytes] = []
    try:
        with ended_on_failure(partial(_end, child)):
            _exchange(child, iter(data), take or pieces.append, errors, timeout)
            code = child.wait()
    except TimeoutError:
        _end(child)
        errors.close()
        raise CommandFailed(
            role,
            text,
            f"did nothing for {timeout:g} s (it read no input, wrote no output, reported no status)",
            "\n".join(errors.lines),
            "Mend it, or allow more with -D mapreduce.task.timeout=MILLISECONDS (0: no limit).",
        ) from None
    except BaseException:
        _end(child)
        raise
    finally:
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
    errors.close()
    return EndedProgram(b"".join(pieces), code, errors.counters, errors.status, "\n".join(errors.lines))


def _not_started(role: str, text: str, error: OSError) -> CommandFailed:
    return CommandFailed(
        role,
        text,
        f"cannot be started ({error.strerror})",
        "",
        "Name a program that is on PATH, ship it with -files, and give a script its #! line or name its interpreter.",
    )


def _exchange(
    child: subprocess.Popen[bytes],
    data: Iterator[bytes],
    take: Callable[[bytes], object],
    errors: _Errors,
    timeout: float | None,
) -> None:
    """Write and read as the pipes allow, so that neither side waits for the other."""
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    left = _next(data)
    with selectors.DefaultSelector() as selector:
        for pipe, event in (
            (child.stdin, selectors.EVENT_WRITE),
            (child.stdout, selectors.EVENT_READ),
            (child.stderr, selectors.EVENT_READ),
        ):
            os.set_blocking(pipe.fileno(), False)
            _widen(pipe)
            selector.register(pipe, event)
        if not left:
            _leave(selector, child.stdin)
        while selector.get_map():
            ready = selector.select(timeout)
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if key.fileobj is child.stdin:
                    try:
                        left = left[os.write(key.fd, left[:_PIECE]) :] or _next(data)
                    except BrokenPipeError:  # it stopped reading, as `head` does
                        left = left[:0]
                    if not left:
                        _leave(selector, child.stdin)
                    continue
                got = os.read(key.fd, _PIECE)
                if not got:
                    selector.unregister(key.fileobj)
                elif key.fileobj is child.stdout:
                    take(got)
                else:
                    errors.feed(got)
    _await_exit(child, timeout)


def _next(data: Iterator[bytes]) -> memoryview:
    """The next piece that is not empty; an empty one at the end."""
    return memoryview(next(filter(None, data), b""))


def _widen(pipe: IO[bytes]) -> None:
    """Let a pipe hold more, where the system allows it."""
    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIECE)


def _leave(selector: selectors.BaseSelector, pipe: IO[bytes]) -> None:
    selector.unregister(pipe)
    with suppress(BrokenPipeError):
        pipe.close()


def _await_exit(child: subprocess.Popen[bytes], timeout: float | None) -> None:
    """Wait for the end of a command that closed its pipes."""
    try:
        handle = os.pidfd_open(child.pid)  # wakes up at once; a wait with a timeout looks every now and then
    except (OSError, AttributeError):
        handle = None
    if handle is not None:
        ended, _, _ = select.select([handle], [], [], timeout)
        os.close(handle)
        if not ended:
            raise TimeoutError
    try:
        child.wait(timeout)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill a command and all that it started; a shell's children would go on without it."""
    for pid in [*descendants(child.pid), child.pid]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    child.wait()


def descendants(parent: int) -> list[int]:
    """Processes below one, found in /proc; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(above, []).append(int(entry.name))
    found: list[int] = []
    waiting = [parent]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
