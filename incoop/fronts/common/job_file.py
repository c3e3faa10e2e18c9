"""Load jobs from a user's Python file, as `incoop run job.py[:NAME]` names it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from types import ModuleType

from incoop.base.errors import USERS_ERRORS, BadCall, IncoopError
from incoop.job import Job
from incoop.windows.window import Window, parsed


class JobFileFailed(IncoopError):
    """The user's file raised while it was loaded; `error` may be a whole traceback."""

    def __init__(self, path: str, error: str) -> None:
        super().__init__(path, error)
        self.path, self.error = path, error

    def __str__(self) -> str:
        return f"{self.path} could not be loaded: {self.error}"


def load_job(named: str) -> Job:
    """The job that `FILE` or `FILE:NAME` stands for; with several in a file, its name is needed."""
    path, name = split_name(named)
    jobs = load_jobs(path)
    if name:
        return named_job(path, jobs, name)
    if len(jobs) > 1:
        raise BadCall(f"{path} defines several: {', '.join(jobs)}; name one, as in {path}:{next(iter(jobs))}.")
    return next(iter(jobs.values()))


def named_job(path: Path, jobs: Mapping[str, Job], name: str) -> Job:
    """One of the jobs of a file."""
    if name not in jobs:
        raise BadCall(f"{path} defines no Job named {name}; it defines {', '.join(jobs)}.")
    return jobs[name]


def load_jobs(path: Path) -> dict[str, Job]:
    """All jobs that a file defines, by the names that it gives them: at least one."""
    if not path.is_file():
        raise BadCall(f"{path} is not a file. Name a Python file that defines a Job, as in job.py or job.py:NAME.")
    name = module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadCall(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    # Its neighbours can be imported, here and, since they travel with it, in workers.
    folder = str(path.parent.absolute())
    if folder in sys.path:  # loaded before
        sys.path.remove(folder)
    sys.path.insert(0, folder)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except USERS_ERRORS as error:
        raise JobFileFailed(str(path), f"{type(error).__name__}: {error}") from error
    jobs = {key: value for key, value in vars(module).items() if isinstance(value, Job)}
    if not jobs:
        raise BadCall(f"{path} defines no Job.")
    return jobs


def window_of(named: str, window: str, time_of: str) -> Window | None:
    """The window that a command was given as texts, for a job that is loaded; None for none.

    `time_of` names a function of the job's file, or is the form of a time in names of files.
    """
    if not window:
        if time_of:
            raise BadCall("--time-of goes with --window: it says where a window of time finds a record's time.")
        return None
    if not time_of or "%" in time_of:
        return parsed(window, time_of or None)
    path, _ = split_name(named)
    function = getattr(sys.modules[module_name(path)], time_of, None)
    if not callable(function):
        raise BadCall(f"{path} defines no function {time_of}, which is to give a record's time.")
    return parsed(window, function)


def module_name(path: Path) -> str:
    """The name that the file's neighbours import it by, unless Python, a package or another job's file has that name.

    Nobody loses theirs: what travels to workers is found by its name.
    """
    return next(
        name
        for name in _names(path)
        if name not in sys.stdlib_module_names
        and ((loaded := sys.modules.get(name)) is None or _is_loaded_from(loaded, path))
    )


def _names(path: Path) -> Iterator[str]:
    yield path.stem
    yield f"{path.stem}_job"
    yield from (f"{path.stem}_job{number}" for number in count(2))


def _is_loaded_from(module: ModuleType, path: Path) -> bool:
    return Path(getattr(module, "__file__", None) or "/").resolve() == path.resolve()


def split_name(named: str) -> tuple[Path, str]:
    """The file, and the name in it that is asked for; an empty one where none is."""
    path, colon, name = named.rpartition(":")
    return (Path(path), name) if colon and name.isidentifier() else (Path(named), "")
