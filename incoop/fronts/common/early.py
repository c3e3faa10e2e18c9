"""For commands: begin to start worker processes at once, if it looks as if there will be work for them.

Contract: only a hint. It costs some looks at files, and imports nothing that is not needed for that: the processes load
what they need while the command does.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from incoop.engine.running.zygote_handle import start_early
from incoop.engine.stages import TASKS

#: So many files are looked at: with more, the run itself finds out as fast.
_LOOKED_AT = 1000


def prepare_processes(store: Path, inputs: Iterable[str], master: str | None, loading: Sequence[str] = ()) -> None:
    """Start them if an input was written since anything was last indexed in the store, and Spark was not asked for.

    `loading` are modules that they have besides those of the engine's tasks.
    """
    if master is None and _newest(islice(_files(inputs), _LOOKED_AT)) > _newest(_indexes(store)):
        start_early((*TASKS, *loading))


def start_processes(master: str | None) -> None:
    """Start them in any case, unless Spark was asked for."""
    if master is None:
        start_early(TASKS)


def _indexes(store: Path) -> Iterator[str]:
    with contextlib.suppress(OSError, ValueError), os.scandir(store / "inchdfs" / "inputs") as found:
        yield from (entry.path for entry in found)


def _files(inputs: Iterable[str]) -> Iterator[str]:
    for named in inputs:
        for path in glob.iglob(named) if glob.has_magic(named) else (named,):
            yield path
            with contextlib.suppress(OSError, ValueError), os.scandir(path) as found:
                yield from (entry.path for entry in found)


def _newest(paths: Iterable[str]) -> int:
    """When the file that was written last was; 0 where there is none."""
    newest = 0
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            newest = max(newest, Path(path).stat().st_mtime_ns)
    return newest
