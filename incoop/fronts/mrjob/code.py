"""A user's job class on its way to Spark's Python workers, and one mapper, combiner or reducer of it over lines there.

Contract: lines in, lines out, as if mrjob's inline runner (for commands and filters: its local runner) had run the
task. A `Script` makes a new job object for every task; what `kept` gives is for functions without state alone.
"""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from mrjob.step import MRStep
from mrjob.util import shlex_split

from incoop.code import unwatched
from incoop.fingerprint.owners import owner
from incoop.fronts.common.commands import CommandFailed
from incoop.fronts.mrjob.lines import joined, line_of, split_lines
from incoop.fronts.mrjob.quick_json import is_quick, quick, read_value
from incoop.fronts.mrjob.surroundings import count_reported, environment, reported, working_folder

#: Lines of a command's standard error that are shown when it fails.
_SHOWN_LINES = 10

#: Exit codes of a shell that could not run a command at all.
_NOT_RUN = (126, 127)


@dataclass(frozen=True, eq=False)
class JobCode:
    """What every task of a run needs: the class, its arguments, environment and side files. Equal to itself alone.

    Pickles as bytes that are unpacked only after the folders of the user's modules are on `sys.path`. Its fingerprint
    is the class and what was asked for, without folders, temporary names and times.
    """

    job: type[Any]
    #: What each job object is made with, behind the arguments that say which task it is.
    arguments: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    #: Of these, the ones that the user asked for; the others name the run and its folders.
    asked: tuple[tuple[str, str], ...]
    #: The folder that holds the side files.
    cache: str
    #: Name and content of each side file.
    files: tuple[tuple[str, str], ...]
    #: Folders of the user's modules.
    import_from: tuple[str, ...]
    #: The pickled class; made once, on the driver.
    pickled: bytes = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        told = self.arguments, self.variables, self.asked, self.cache, self.files, self.import_from
        return _arrived, (self.pickled, *told)

    def __incoop_identity__(self) -> Any:
        return self.job, self.arguments, self.asked, self.files

    def new_job(self, step: int, role: str, *more: str) -> Any:
        return self.job([f"--step-num={step}", f"--{role}", *self.arguments, *more])

    @contextmanager
    def place(self, variables: Mapping[str, str]) -> Iterator[None]:
        """Inside, the process looks as a task of the job expects it."""
        with working_folder(Path(self.cache)) as folder:
            own = {"mapreduce_job_local_dir": str(folder), "job_local_dir": str(folder)}
            with environment({**dict(self.variables), **own, **variables}), reported():
                yield


def is_map(yes: bool) -> dict[str, str]:
    """The variables that tell a task whether it maps, under the names of both Hadoops."""
    return dict.fromkeys(("mapreduce_task_ismap", "mapred_task_is_map"), str(yes).lower())


@lru_cache(maxsize=8)
def _arrived(
    pickled: bytes,
    arguments: tuple[str, ...],
    variables: tuple[tuple[str, str], ...],
    asked: tuple[tuple[str, str], ...],
    cache: str,
    files: tuple[tuple[str, str], ...],
    import_from: tuple[str, ...],
) -> JobCode:
    for folder in import_from:
        if folder not in sys.path:
            sys.path.append(folder)
        _forget_modules(folder)
    return JobCode(pickle.loads(pickled), arguments, variables, asked, cache, files, import_from, pickled)


def _forget_modules(folder: str) -> None:
    """Drop modules that an earlier run imported from a folder: their files may have changed since."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and file and Path(folder) in Path(file).parents and owner(name).kind == "user":
            del sys.modules[name]


@dataclass(frozen=True)
class Script:
    """A mapper, combiner or reducer that the job file defines, or a command in place of one."""

    code: JobCode
    step: int
    #: "mapper", "combiner" or "reducer".
    role: str
    #: What mrjob says of it: {"type": "script", "pre_filter": ...} or {"type": "command", "command": ...}.
    description: Mapping[str, str]
    #: Names and digests of what its command or filter leads to.
    content: tuple[tuple[str, bytes], ...] = ()

    def run(self, lines: Iterable[bytes], variables: Mapping[str, str], *more: str) -> list[bytes]:
        """One task: all that a new job object makes of these lines."""
        with self.code.place({**is_map(self.role == "mapper"), **variables}):
            if self.description["type"] == "command":
                return _piped(shlex_split(self.description["command"]), lines)
            if "pre_filter" in self.description:
                lines = _filtered(self.description["pre_filter"], lines)
            return list(self.written(lines, *more))

    def written(self, lines: Iterable[bytes], *more: str) -> Iterator[bytes]:
        """What a new job object gives, encoded as it is asked for; only for use inside the job's place."""
        job = self.code.new_job(self.step, self.role, *more)
        read, write = quick(*job.pick_protocols(self.step, self.role))
        run: Any = {"mapper": job.map_pairs, "combiner": job.combine_pairs, "reducer": job.reduce_pairs}[self.role]
        last: list[bytes] = []

        def pairs() -> Iterator[Any]:
            for line in lines:
                last[:] = [line]
                yield read(line.rstrip(b"\r\n"))

        try:
            for key, value in run(pairs(), step_num=self.step):
                data = write(key, value)
                if b"\n" in data:
                    yield from data.split(b"\n")  # newlines that a protocol writes end lines for whoever reads them
                else:
                    yield data
        except Exception as error:
            _say_where(error, self.role, self.step, last[0] if last else None)
            raise

    def kept(self) -> Kept:
        """A job object that this process keeps: for functions that have no state."""
        return _kept(self.code, self.step, self.role)


@dataclass(slots=True)
class Kept:
    """A job object with one of its functions, to be called key by key, or line by line."""

    step: int
    role: str
    read: Callable[[bytes], Any]
    write: Callable[[Any, Any], bytes]
    function: Callable[[Any, Iterator[Any]], Any]
    said: io.BytesIO

    def of_key(self, key: bytes, values: Sequence[bytes]) -> list[bytes]:
        """What the function makes of a key and its values."""
        out: list[bytes] = []
        for read_key, read_values in self._groups(key, values):
            for out_key, value in self.function(read_key, read_values) or ():
                data = self.write(out_key, value)
                if b"\n" in data:
                    out += data.split(b"\n")
                else:
                    out.append(data)
        self._count()
        return out

    def of_lines(self, lines: Iterable[bytes]) -> list[bytes]:
        """What a mapper makes of lines."""
        out: list[bytes] = []
        read, write, function, line = self.read, self.write, self.function, None
        try:
            for line in lines:
                for key, value in function(*read(line.rstrip(b"\r\n"))) or ():
                    data = write(key, value)
                    if b"\n" in data:
                        out += data.split(b"\n")
                    else:
                        out.append(data)
        except Exception as error:
            _say_where(error, self.role, self.step, line)
            raise
        self._count()
        return out

    def _count(self) -> None:
        if self.said.tell():
            count_reported(self.said.getvalue())
            self.said.seek(0)
            self.said.truncate()

    def _groups(self, key: bytes, values: Sequence[bytes]) -> Iterator[tuple[Any, Iterator[Any]]]:
        """One group in nearly all cases; a key that does not equal itself, such as NaN, is a group each time."""
        if is_quick(self.read) and not key.endswith(b"\n"):
            read_key, first = self.read(line_of(key, values[0]).rstrip(b"\r\n"))
            if read_key == read_key:
                yield read_key, chain([first], (read_value(value.rstrip(b"\r\n")) for value in values[1:]))
                return
        pairs = (self.read(line_of(key, value).rstrip(b"\r\n")) for value in values)
        for read_key, group in groupby(pairs, key=itemgetter(0)):
            yield read_key, (value for _, value in group)


@lru_cache(maxsize=8)
def _kept(code: JobCode, step: int, role: str) -> Kept:
    job = code.new_job(step, role)
    said = io.BytesIO()
    job.sandbox(stderr=said)
    read, write = quick(*job.pick_protocols(step, role))
    return Kept(step, role, read, write, job._get_step(step, MRStep)[role], said)


def _say_where(error: Exception, role: str, step: int, line: bytes | None) -> None:
    """Note at which line a function failed."""
    where = f"had read {line!r:.300}" if line is not None else "had read nothing yet"
    error.add_note(f"The {role} of step {step + 1} {where}")


def _piped(command: list[str], lines: Iterable[bytes]) -> list[bytes]:
    """Lines through a command, as mrjob's local runner does it."""
    shown = " ".join(command)
    try:
        with unwatched():  # what commands lead to is in the job's identity
            done = subprocess.run(command, input=joined(lines), capture_output=True, check=False)
    except OSError as error:
        raise _failed(shown, f"cannot be run ({error.strerror})") from error
    count_reported(done.stderr)
    if done.returncode:
        raise _failed(shown, f"ended with exit code {done.returncode}", done.stderr)
    return split_lines(done.stdout)


def _filtered(command: str, lines: Iterable[bytes]) -> list[bytes]:
    """Lines through a filter in a shell; like in a pipe, what it says when it ends does not matter."""
    with unwatched():
        done = subprocess.run(["/bin/sh", "-c", command], input=joined(lines), capture_output=True, check=False)
    count_reported(done.stderr)
    if done.returncode in _NOT_RUN:
        raise _failed(command, "cannot be run", done.stderr)
    return split_lines(done.stdout)


def _failed(command: str, what: str, said: bytes = b"") -> CommandFailed:
    last = "\n".join(said.decode("utf-8", "replace").splitlines()[-_SHOWN_LINES:])
    return CommandFailed("command", command, what, last, "Nothing of the failed task is kept.")
