"""Run a share of every known job again, each in a process of its own: `incoop verify --rerun`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from incoop.base.errors import IncoopError
from incoop.engine.failures import NotDeterministic
from incoop.engine.record import Origin, Record
from incoop.engine.running.fresh_process import ProcessFailed, run_in_fresh_process
from incoop.memo import MemoStore, stats


@dataclass(frozen=True, slots=True)
class Rerun:
    """What came out for a job."""

    job: str
    #: Whether something was computed and compared.
    checked: bool
    #: Whether a result came out differently. Another error is that nothing could be computed.
    wrong: bool
    said: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """A job to be loaded as `incoop run` did, and verified."""

    name: str
    origin: Origin
    store: str
    memo: str | None
    share: float


def rerun_jobs(store: Path, memo: str | None, share: float) -> Iterator[Rerun]:
    """Say of every job what came out; one whose last run was not `incoop run` can only be verified by its program."""
    for job, origin in _origins(store, memo):
        if origin is None:
            yield Rerun(job, False, False, "was not run by `incoop run`; use verify= in its program")
        elif not Path(origin.folder).is_dir():
            yield Rerun(job, False, False, f"the folder {origin.folder}, where it was run, is gone")
        else:
            asked = _Asked(job, origin, str(store.absolute()), memo, share)
            try:
                (done,) = run_in_fresh_process(_rerun, [asked])
            except ProcessFailed as failed:
                done = Rerun(job, False, False, str(failed))
            yield done


def _origins(store: Path, memo: str | None) -> list[tuple[str, Origin | None]]:
    with MemoStore.open(store, memo, create=False, maintenance=True) as opened:
        found: list[tuple[str, Origin | None]] = []
        for job in stats(opened).jobs:
            generation = opened.last_generation(job.key)
            record = Record.from_bytes(generation.record) if generation is not None else None
            if record is not None:
                found.append((job.job, record.origin))
        return found


def _rerun(asked: _Asked) -> Rerun:
    """In the process of its own."""
    from incoop.fronts.common.job_file import load_job, window_of
    from incoop.session import connect

    os.chdir(asked.origin.folder)
    try:
        origin = asked.origin
        loaded = load_job(origin.job)
        window = window_of(origin.job, origin.window, origin.time_of)
        with connect(asked.store, memo=asked.memo) as session:
            chunks, shards = session.verify(loaded, list(origin.inputs), asked.share, window)
    except NotDeterministic as wrong:
        return Rerun(asked.name, False, True, str(wrong))
    except IncoopError as error:
        return Rerun(asked.name, False, False, str(error))
    return Rerun(asked.name, True, False, f"{chunks:,} chunks and {shards:,} shards came out as they are kept")
