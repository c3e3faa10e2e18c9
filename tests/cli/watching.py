"""A real `incoop watch` in a process of its own: wait for what it says and writes, and find what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from .command import CALL

#: Seconds for anything to happen, on a machine that has other things to do.
DEADLINE = 120.0

#: Names the processes of one watch: all that it starts have it in their environment.
MARK = "INCOOP_TEST_WATCH"


def _obey() -> None:
    """Of the child: tests may run in the background of a shell, where Ctrl-C is ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class WatchProcess:
    """`incoop -vv watch WORDS…`; with -vv it says which look it is at."""

    def __init__(self, folder: Path, *words: object, every: str = "50ms", reads: bool = True) -> None:
        """`reads` says that its output is read here."""
        self.folder, self._mark = folder, uuid.uuid4().hex
        self.out: list[str] = []
        self.said: list[str] = []
        for name in ("run", "tmp"):
            (folder / name).mkdir(mode=0o700, exist_ok=True)
        places = {"XDG_RUNTIME_DIR": str(folder / "run"), "TMPDIR": str(folder / "tmp"), MARK: self._mark}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CALL, "-vv", "watch", *map(str, words), "--every", every],
            cwd=folder,
            env={**os.environ, **places},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_obey,
        )
        self._readers = [
            threading.Thread(target=self._read, args=each)
            for each in ((self.process.stdout, self.out), (self.process.stderr, self.said))
            if reads or each[1] is self.said
        ]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(stream: IO[str], lines: list[str]) -> None:
        for line in stream:
            lines.append(line.rstrip("\n"))

    def until(self, what: Callable[[], Any]) -> Any:
        """Wait until something is so; what it gave."""
        end = time.monotonic() + DEADLINE
        while not (found := what()):
            assert self.process.poll() is None, "\n".join(["the watch ended", *self.said])
            assert time.monotonic() < end, "\n".join(["waited too long", *self.out, *self.told()[-50:]])
            time.sleep(0.01)
        return found

    def until_said(self, text: str, times: int = 1) -> None:
        self.until(lambda: sum(text in line for line in self.told()) >= times)

    def told(self) -> list[str]:
        """What it said, without the lines of its log."""
        return [line for line in self.said if not line.startswith(("incoop.", "redis."))]

    def looks(self) -> int:
        return sum(line.startswith("incoop.watch: look ") for line in self.said)

    def some_looks(self, count: int = 4) -> None:
        """Wait for so many looks from now on, the one that is being made not among them."""
        wanted = self.looks() + count + 1
        self.until(lambda: self.looks() >= wanted)

    def changes(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out]

    def end(self, number: int = signal.SIGTERM, code: int | None = None) -> None:
        """Send a signal; the exit code is the shell's, and nothing is left behind."""
        before = len(self.said)
        self.process.send_signal(number)
        try:
            found = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        for reader in self._readers:
            reader.join(DEADLINE)
        assert found == (128 + number if code is None else code), "\n".join(self.said)
        assert not any("Traceback" in line for line in self.said[before:]), "\n".join(self.said)
        self.demand_nothing_left()

    def demand_nothing_left(self) -> None:
        end = time.monotonic() + 10  # who is not our child is gone soon after it was told to
        while (left := self._processes()) and time.monotonic() < end:
            time.sleep(0.02)
        assert left == []
        home = self.folder / "incoop-store" / "memo"
        places = (self.folder / "run", self.folder / "tmp", home / "sessions")
        assert [path.name for place in places if place.exists() for path in place.iterdir()] == []
        assert not (home / "server" / "server.json").exists()
        assert list(self.folder.rglob("_part-*")) == []
        assert list((self.folder / "incoop-store").glob("unmemoized-*")) == []

    def _processes(self) -> list[str]:
        return list(self.processes().values())

    def processes(self) -> dict[int, str]:
        """The command lines of all processes that it started, and its own."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    marked = f"{MARK}={self._mark}".encode() in (entry / "environ").read_bytes().split(b"\0")
                    # Redis writes its title over its environment.
                    if marked or (entry / "cwd").readlink().is_relative_to(self.folder):
                        found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
                except OSError:  # gone, or somebody else's
                    continue
        return found

    def kill(self) -> None:
        """For a test that failed."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(120)
            except subprocess.TimeoutExpired:
                self.process.kill()


def counts(folder: Path) -> dict[str, int]:
    """The pairs in part files, of a set that is complete; empty while there is none."""
    if not (folder / "_SUCCESS").exists():
        return {}
    try:
        lines = [line for path in sorted(folder.glob("part-*")) for line in path.read_text().splitlines()]
    except FileNotFoundError:  # being written again
        return {}
    return {word: int(count) for word, count in (line.split("\t") for line in lines)}
