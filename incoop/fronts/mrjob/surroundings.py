"""Where a task of an mrjob job runs inside a Spark worker: its folder, its environment, its standard error.

Contract: a task sees what mrjob's inline runner shows it: a working folder with the side files in it, first on
`sys.path`; the job's environment variables; counters on standard error. Everything is put back behind it, since a
worker process goes on to other tasks. A worker process runs one task at a time.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mrjob.parse import parse_mr_job_stderr

from incoop.base.errors import IncoopError
from incoop.code import unwatched
from incoop.engine.running.counters import counter
from incoop.engine.running.worker_process import folder_kept

#: Between the group and the name of a counter; neither can hold it, since a counter is one line.
COUNTER_SEPARATOR = "\n"


class SideFilesNotReachable(IncoopError):
    """A worker does not see the folder with the job's side files."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return (
            f"a Spark worker does not find {self.folder}, where the job's side files are. On a cluster that folder has "
            "to be shared by all machines: set local_tmp_dir in mrjob.conf, or TMPDIR."
        )


@contextmanager
def working_folder(cache: Path) -> Iterator[Path]:
    """A folder for one task with links to all side files, beside the folder that holds them."""
    try:
        with unwatched():
            folder = Path(tempfile.mkdtemp(prefix="wd-", dir=cache.parent))
            for path in cache.iterdir():
                (folder / path.name).symlink_to(path)
    except FileNotFoundError:
        raise SideFilesNotReachable(str(cache)) from None
    with folder_kept():
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        try:
            yield folder
        finally:
            if str(folder) in sys.path:
                sys.path.remove(str(folder))
            with unwatched():
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """These environment variables on top of the process's own."""
    with unwatched():
        before = dict(os.environ)
        os.environ.update(variables)
    try:
        yield
    finally:
        with unwatched():
            for name in os.environ.keys() - before.keys():
                del os.environ[name]
            os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})


@contextmanager
def reported() -> Iterator[None]:
    """Standard error whose counters are counted, and whose other lines are passed on."""
    before, said = (sys.stdin, sys.stdout, sys.stderr), io.BytesIO()
    text: Any = io.TextIOWrapper(said, encoding="utf-8", write_through=True)
    # What a task prints is no record here, as it is none on inline's binary output; the user still sees it.
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO()), before[2], text
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        count_reported(said.getvalue())


def count_reported(said: bytes) -> None:
    """Count what a task wrote in the way of Hadoop Streaming; pass on the rest."""
    if not said:
        return
    found = parse_mr_job_stderr(said.splitlines(keepends=True))
    for group, counts in found["counters"].items():
        for name, amount in counts.items():
            counter(f"{group}{COUNTER_SEPARATOR}{name}", amount)
    for line in found["other"]:
        sys.stderr.write(line)
