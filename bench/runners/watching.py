"""Pathway: word count over a folder, by a process that stays and follows the files."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

from bench.apps.app import App

Fingerprint = tuple[int, int]


class NeverRight(Exception):
    """Pathway ended, or did not give the right answer in time."""


class Pathway:
    """`start` reads the folder; later the files may change, and `until` waits for the counts to follow."""

    name = "pathway"
    title = "Pathway"
    #: Waiting longer than this for an answer means that it will not come.
    patience = 600.0

    def can(self, app: App) -> bool:
        return app.name == "words"

    def start(self, folder: Path) -> None:
        command = [sys.executable, "-m", "bench.runners.pathway_words", str(folder)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._said: queue.SimpleQueue[Fingerprint | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            pairs, total = line.split()
            self._said.put((int(pairs), int(total)))
        self._said.put(None)

    def until(self, expected: Fingerprint) -> float:
        """Wait for this answer; the seconds that took."""
        started = time.perf_counter()
        said: Fingerprint | None = None
        while said != expected:
            try:
                said = self._said.get(timeout=max(0.0, started + self.patience - time.perf_counter()))
            except queue.Empty:
                raise NeverRight(f"Pathway gave {said}, not {expected}, within {self.patience:g} s.") from None
            if said is None:
                raise NeverRight(f"Pathway ended with exit code {self._process.wait()}.")
        return time.perf_counter() - started

    def __enter__(self) -> Pathway:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
