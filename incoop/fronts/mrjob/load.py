"""Load an mrjob job file as running it would, up to the moment where its job starts.

Contract: the file is run as `__main__` with its own arguments; what `SomeJob.run()` was called on is the job. Modules
beside the file can be imported, here and in Spark's Python workers, which get the ones that are loaded by value: a
worker that lives on does not keep an old version of them.
"""

from __future__ import annotations

import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import mrjob.job
from mrjob.job import MRJob

from incoop.base.errors import BadCall
from incoop.fingerprint.owners import owner
from incoop.fronts.common.job_file import JobFileFailed


@dataclass(frozen=True, slots=True)
class LoadedJob:
    """The job class of a file, and where its modules come from."""

    job: type[Any]
    path: Path
    #: Modules that were there before the file was run.
    before: frozenset[str]

    def modules(self) -> list[ModuleType]:
        """The user's own modules that are loaded for this job; the file's own first."""
        names = sorted(set(sys.modules) - self.before)
        loaded = [sys.modules[name] for name in names if owner(name).kind == "user"]
        return [sys.modules["__main__"], *(module for module in loaded if isinstance(module, ModuleType))]


class _JobStarts(BaseException):
    """Raised in place of running a job; no `except Exception` of the file's catches it."""


class _SuggestingParser(ArgumentParser):
    """mrjob's parser of arguments, which names the nearest option when one is unknown."""

    def error(self, message: str) -> NoReturn:
        unknown = [word.partition("=")[0] for word in message.split() if word.startswith("-")]
        if "unrecognized arguments" in message and unknown:
            near = get_close_matches(unknown[0], self._option_string_actions, n=1)
            message += f"; did you mean {near[0]}?" if near else "; options of incoop stand before the job file"
        super().error(message)


@contextmanager
def loaded_job(path: Path, arguments: list[str]) -> Iterator[LoadedJob]:
    """The job of a file. While inside, `__main__` and `sys.argv` are the file's."""
    if not path.is_file():
        raise BadCall(f"{path} is not a file. Name a Python file that ends with `YourJob.run()`.")
    main = ModuleType("__main__")
    main.__file__ = str(path.absolute())
    saved_main, saved_argv, saved_path = sys.modules["__main__"], sys.argv, list(sys.path)
    before = frozenset(sys.modules)
    sys.modules["__main__"], sys.argv = main, [str(path), *arguments]
    sys.path.insert(0, str(path.parent.absolute()))
    by_value: list[ModuleType] = []
    saved_parser, mrjob.job.ArgumentParser = mrjob.job.ArgumentParser, _SuggestingParser
    try:
        loaded = LoadedJob(_run_until_job(path, main), path, before)
        by_value = loaded.modules()[1:]
        _register(by_value, True)
        yield loaded
    finally:
        mrjob.job.ArgumentParser = saved_parser
        _register(by_value, False)
        sys.modules["__main__"], sys.argv, sys.path = saved_main, saved_argv, saved_path
        for name in set(sys.modules) - before:
            if owner(name).kind == "user":
                del sys.modules[name]  # another job's neighbour may have the same name


def _run_until_job(path: Path, main: ModuleType) -> type[Any]:
    started: list[type[Any]] = []

    def start(job: type[Any]) -> None:
        started.append(job)
        raise _JobStarts

    original = MRJob.__dict__["run"]
    MRJob.run = classmethod(start)
    try:
        code = compile(path.read_bytes(), str(path), "exec")
        exec(code, main.__dict__)
    except _JobStarts:
        return started[0]
    except Exception as error:
        raise JobFileFailed(str(path), _own_trace(error).rstrip()) from error
    finally:
        MRJob.run = original
    return _only_job(path, main)


def _only_job(path: Path, main: ModuleType) -> type[Any]:
    """The one job of a file that does not run any."""
    jobs = {
        name: value
        for name, value in vars(main).items()
        if isinstance(value, type) and issubclass(value, MRJob) and value.__module__ == "__main__"
    }
    if len(jobs) == 1:
        return next(iter(jobs.values()))
    found = f"defines {', '.join(jobs)} and runs none of them" if jobs else "defines no MRJob"
    raise BadCall(f"{path} {found}; it has to end with: if __name__ == '__main__': YourJob.run()")


def _own_trace(error: Exception) -> str:
    """The traceback from the file's own first line on."""
    frames = error.__traceback__
    return "".join(traceback.format_exception(type(error), error, frames.tb_next if frames else None))


def _register(modules: list[ModuleType], by_value: bool) -> None:
    from incoop.code import light_cloudpickle as cloudpickle

    for module in modules:
        if by_value:
            cloudpickle.register_pickle_by_value(module)
        else:
            cloudpickle.unregister_pickle_by_value(module)
