"""A command as a program that can be run on any worker.

Contract: two programs with equal text, equal content of what they were given and equal environment are the same, on
any machine and at any path; what differs from run to run is offered to them and is no part of that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from incoop.engine.running.counters import counter
from incoop.fronts.common.commands import CommandFailed
from incoop.fronts.streaming.process import EndedProgram, run_command
from incoop.fronts.streaming.seen_reads import WATCHING
from incoop.fronts.streaming.task_folders import task_folder


@dataclass(frozen=True, slots=True)
class Offered:
    """What a program is given that is no part of its identity."""

    argv: tuple[str, ...]
    #: Folder of the shipped files, and their names in it.
    staging: str
    links: tuple[str, ...]
    environment: Mapping[str, str]
    #: Seconds without progress after which it is ended; None for any.
    timeout: float | None
    verbose: bool = False
    #: Where its Python notes what it reads; empty where none runs.
    notes: str = ""

    def __incoop_identity__(self) -> None:
        """Nothing of it counts."""


@dataclass(frozen=True, slots=True)
class Program:
    """A command that can be run anywhere."""

    role: str
    text: str
    #: Names and digests of the files that the command names or is given.
    content: tuple[tuple[str, bytes], ...]
    environment: Mapping[str, str]
    exit_code_counts: bool
    offered: Offered

    def run(
        self, data: Iterable[bytes], task: Mapping[str, str], take: Callable[[bytes], object] | None = None
    ) -> EndedProgram:
        """Run the command over pieces of input; `take` is given what it prints, while it goes on.

        What it counted is in what is returned, and is for the caller to count (`count_all`).
        """
        offered = self.offered
        environment = {**offered.environment, **task, **self.environment, **self._watched()}
        with task_folder() as folder:
            for link in offered.links:
                (folder / link).parent.mkdir(parents=True, exist_ok=True)
                (folder / link).symlink_to(Path(offered.staging) / link)
            first, *rest = offered.argv
            argv = [str(folder / first) if first in offered.links else first, *rest]
            done = run_command(
                argv,
                data,
                role=self.role,
                text=self.text,
                env=environment,
                folder=folder,
                timeout=offered.timeout,
                take=take,
            )
        if offered.verbose and done.last_lines:
            sys.stderr.write(f"{self.role}: {done.last_lines}\n")
        if done.code and self.exit_code_counts:
            what = f"ended with exit code {done.code}" if done.code > 0 else f"was ended by signal {-done.code}"
            raise CommandFailed(
                self.role,
                self.text,
                what,
                done.last_lines,
                "Mend it, or accept any exit code with -D stream.non.zero.exit.is.failure=false.",
            )
        return done

    def _watched(self) -> dict[str, str]:
        """Variables that let a Python which this command starts note what it reads (seen_reads.py)."""
        if not self.offered.notes:
            return {}
        before = self.environment.get("PYTHONPATH")
        watched = {
            "INCOOP_READS": str(Path(self.offered.notes) / f"{uuid4().hex}.reads"),
            "INCOOP_STAGING": self.offered.staging,
            "PYTHONPATH": os.pathsep.join([str(WATCHING), *([before] if before else [])]),
        }
        return watched if before is None else {**watched, "INCOOP_PYTHONPATH": before}


def count_all(counters: Mapping[str, int]) -> None:
    """Add what a command counted to the counters of the task that ran it."""
    for name, amount in counters.items():
        counter(name, amount)
