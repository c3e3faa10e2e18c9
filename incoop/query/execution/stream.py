"""Rows through a command of the shell: printed to it, read from it.

Contract: the command is called once for each chunk of its input, and must give for its lines what it gives for them
alone. What it writes to standard error goes where ours goes. A command that fails ends the query with what it said.
"""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from incoop.query.errors import QueryError
from incoop.query.sources.text_format import TextFormat
from incoop.query.types import Row
from incoop.query.warnings import Warnings


class StreamFailed(QueryError):
    """The command of a stream ended with an error."""

    def __init__(self, command: str, status: int, said: str, place: str = "") -> None:
        super().__init__(f"{place}: " * bool(place) + f"the command {command!r} ended with status {status}: {said}")
        self.args = (command, status, said, place)
        self.command, self.status, self.said = command, status, said


@dataclass(frozen=True, slots=True)
class Through:
    """Called with rows."""

    command: str
    sent: TextFormat
    received: TextFormat
    place: str = ""

    def __call__(self, rows: list[Row]) -> list[Row]:
        done = subprocess.run(
            ["/bin/sh", "-c", self.command], input=self.sent.printed(rows), capture_output=True, check=False
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-500:] or "nothing on standard error"
            raise StreamFailed(self.command, done.returncode, said, self.place)
        return self.received.rows(done.stdout, Warnings())

    def files(self) -> list[str]:
        """Files that the command names, whose content its results depend on."""
        try:
            words = shlex.split(self.command)
        except ValueError:
            words = self.command.split()
        return [word for word in words if Path(word).is_file()]
