"""The jobs that are watched: loaded from their files, and again when one of these was edited.

Contract: which jobs there are, and where their part files go, is settled by the first load; a later one brings the same
jobs with the code that is in the files now, or raises, and nothing is run until it does not. What counts as code is the
job files, and all modules of the user's that they import.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incoop.base.errors import BadCall
from incoop.base.file_stamps import Stamp
from incoop.base.paths import local_path
from incoop.code.modules import user_modules
from incoop.fronts.common.job_file import load_jobs, named_job, split_name
from incoop.fronts.watch.decide import CodeSeen, Standing, folder_names
from incoop.job import Job
from incoop.result import Before, Result


@dataclass(slots=True)
class WatchedJob:
    """One job, and how it stands."""

    path: Path
    #: Its name in the file.
    name: str
    job: Job
    #: Where its part files go.
    output: Path | None = None
    #: What was given to the user last, and what the next changes are told since.
    given: Result | None = None
    since: Result | Before | None = None
    standing: Standing = field(default_factory=Standing)

    @property
    def origin(self) -> str:
        """As a command line names it."""
        return f"{self.path}:{self.name}"


class JobFiles:
    """The files that `FILE` and `FILE:NAME` stand for."""

    def __init__(self, named: Sequence[str], output: Path | None = None) -> None:
        self._output = output
        self._modules_before = frozenset(user_modules())
        #: By file, the names that are asked for; all jobs of a file where there is none.
        self._asked: dict[Path, list[str]] = {}
        for each in named:
            path, name = split_name(local_path(each))
            self._asked.setdefault(path.absolute(), []).append(name)
        if len({path.stem for path in self._asked}) < len(self._asked):
            raise BadCall("two job files have the same name; rename one: folders and modules are named after them.")
        self._jobs: list[WatchedJob] = []
        #: What the system said of the code's files before they were last loaded.
        self.loaded: CodeSeen = {}

    def look(self) -> CodeSeen:
        """What the system says of all files of the code now."""
        modules = [module for name, module in user_modules().items() if name not in self._modules_before]
        files = {getattr(module, "__file__", None) for module in modules}
        paths = {str(path) for path in self._asked} | {str(Path(file).absolute()) for file in files if file}
        return {path: _stamp(Path(path)) for path in sorted(paths)}

    def load(self) -> list[WatchedJob]:
        """The jobs as the files define them now; those that were loaded before keep how they stand."""
        before = self.look()
        for name in user_modules().keys() - self._modules_before:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        # Its time stamps have whole seconds, too few for files that are edited and loaded again at once.
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            loaded = {path: load_jobs(path) for path in self._asked}
        finally:
            sys.dont_write_bytecode = writes
        if not self._jobs:
            self._jobs = self._settled(loaded)
        for watched in self._jobs:
            watched.job = named_job(watched.path, loaded[watched.path], watched.name)
        _demand_own_names(self._jobs)
        self.loaded = self.look() | before  # what was written while it was loaded is loaded again
        return self._jobs

    def _settled(self, loaded: dict[Path, dict[str, Job]]) -> list[WatchedJob]:
        found: dict[int, WatchedJob] = {}  # under several names in a file it is one job
        for path, names in self._asked.items():
            for name in loaded[path] if "" in names else names:
                job = named_job(path, loaded[path], name)
                found.setdefault(id(job), WatchedJob(path, name, job))
        jobs = list(found.values())
        if self._output is not None:
            folders = folder_names([(watched.path.stem, watched.name) for watched in jobs])
            for watched, folder in zip(jobs, folders, strict=True):
                watched.output = self._output.absolute() / folder
        return jobs


def _demand_own_names(jobs: Sequence[WatchedJob]) -> None:
    names = [watched.job.name for watched in jobs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadCall(f"two jobs are named {twice!r}; earlier runs are found by the name: give each its own.")


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of(path)
    except OSError:
        return None
