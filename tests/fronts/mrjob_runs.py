"""Run an mrjob job file in this process: with mrjob's own runner, and with incoop."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mrjob.examples
from mrjob.fs.local import LocalFilesystem
from pytest import MonkeyPatch

from incoop import inchdfs
from incoop.fronts.common.reports import added_up
from incoop.fronts.mrjob.load import loaded_job
from incoop.fronts.mrjob.run import IncoopRunner, made_job, run_job

if TYPE_CHECKING:
    from incoop import RunReport, Session

#: For jobs that run commands: each of their chunks costs several processes.
FEW_CHUNKS = inchdfs.ChunkSettings(average=1024)

EXAMPLES = Path(mrjob.examples.__file__).parent


@contextmanager
def captured(given: bytes = b"") -> Iterator[io.BytesIO]:
    """Standard output as bytes, and some bytes as standard input."""
    before = sys.stdin, sys.stdout
    out = io.BytesIO()
    sys.stdin, sys.stdout = io.TextIOWrapper(io.BytesIO(given)), io.TextIOWrapper(out, write_through=True)
    try:
        yield out
    finally:
        sys.stdin, sys.stdout = before


@contextmanager
def listed_in_order() -> Iterator[None]:
    """Make mrjob list part files by name: it takes them as the file system gives them, which is any order."""
    unordered = LocalFilesystem.ls

    def ls(self: Any, path: str) -> Iterator[str]:
        yield from sorted(unordered(self, path))

    with MonkeyPatch.context() as patch:
        patch.setattr(LocalFilesystem, "ls", ls)
        yield


def plain(job: Path, *arguments: object, runner: str = "inline", given: bytes = b"") -> bytes:
    """What mrjob's own runner prints."""
    words = ["-r", runner, "--quiet", *map(str, arguments)]
    with listed_in_order(), captured(given) as out, loaded_job(job, words) as loaded:
        loaded.job().run_job()
        return out.getvalue()


class Memoized:
    """Runs jobs with incoop in one store."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.runner: IncoopRunner
        self.report: RunReport

    def __call__(self, job: Path, *arguments: object, given: bytes = b"") -> bytes:
        """What `incoop mrjob` prints."""
        with captured(given) as out, loaded_job(job, ["--quiet", *map(str, arguments)]) as loaded:
            self.runner = run_job(self.session, loaded, made_job(loaded))
            self.report = added_up("job", self.runner.reports, self.runner.notes)
            return out.getvalue()
