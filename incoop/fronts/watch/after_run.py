"""What happens after a run that gave something: one step after the other, in the order of a list.

Contract: a step that raises makes the look a failed one: at the next look the job is run again, which reuses all, and
its steps are taken again. Saving, which may fail, comes before what is told, so that nothing is told twice. A command
that fails is said, and is no failure of the run.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from incoop.fronts.watch.job_files import WatchedJob
from incoop.fronts.watch.json_lines import changed_lines
from incoop.fronts.watch.shell_command import run_command
from incoop.fronts.watch.stop import StopSignals
from incoop.result import Result


class ReaderLeft(BaseException):
    """Nobody reads the changed keys any more: the end of the watch, and no error (`| head`)."""


class JobRun:
    """A job's run, with what changed since it last gave something."""

    def __init__(self, watched: WatchedJob, result: Result) -> None:
        self.watched, self.result = watched, result

    @cached_property
    def changes(self) -> IO[bytes]:
        """The changed keys as JSON lines, in a file that is gone when it is closed."""
        lines = tempfile.TemporaryFile()  # noqa: SIM115
        found = changed_lines(self.watched.job.name, self.result, self.watched.since)
        lines.writelines(line.encode() for line in found)
        lines.flush()
        return lines

    def close(self) -> None:
        if "changes" in self.__dict__:
            self.changes.close()


#: One step.
AfterRun = Callable[[JobRun], None]


def save(run: JobRun) -> None:
    """Write part files that changed."""
    if run.watched.output is not None:
        run.result.save(run.watched.output)


@dataclass(frozen=True, slots=True)
class Page:
    """Writes the report page of a job's run; of several jobs each has a page of its own."""

    path: Path
    several: bool

    def __call__(self, run: JobRun) -> None:
        from incoop.page import write_page

        watched = run.watched
        own = f"{self.path.stem}.{watched.path.stem}.{watched.name}{self.path.suffix}"
        write_page(self.path.with_name(own) if self.several else self.path, run.result)


def print_changes(run: JobRun) -> None:
    """Write the changed keys to standard output."""
    run.changes.seek(0)
    try:
        sys.stdout.writelines(line.decode() for line in run.changes)
        sys.stdout.flush()
    except BrokenPipeError as left:
        raise ReaderLeft from left


@dataclass(frozen=True, slots=True)
class CommandOnChange:
    """Runs a command for each job that changed, with the changed keys as its standard input."""

    command: str
    signals: StopSignals
    say: Callable[[str], None]

    def __call__(self, run: JobRun) -> None:
        run.changes.seek(0, 2)
        if not run.changes.tell():
            return
        watched = run.watched
        variables = {
            "INCOOP_JOB": watched.job.name,
            "INCOOP_OUTPUT": str(watched.output) if watched.output is not None else "",
            "INCOOP_GENERATION": str(run.result.report.generation),
        }
        if failed := run_command(self.command, run.changes, variables, self.signals):
            self.say(f"{watched.job.name}: the command after the run {failed}; the watch goes on.")
