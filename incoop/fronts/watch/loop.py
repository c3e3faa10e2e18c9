"""The loop of a watch: looks at fixed times, runs what is not current, takes the steps after each run.

Contract: one look at a time, one run at a time, in one session. A look that finds everything as it was makes no
generation and says nothing. A failure is said and tried again at the next look; nothing of it is kept, and the other
jobs go on. A job's steps are taken for what it gave last, whoever else ran the job meanwhile.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from incoop.base.errors import IncoopError
from incoop.engine.record import Origin
from incoop.fronts.common.job_file import window_of
from incoop.fronts.watch.after_run import AfterRun, JobRun
from incoop.fronts.watch.decide import (
    Action,
    CodeSeen,
    Condition,
    Standing,
    action,
    after_failure,
    after_success,
    next_look,
)
from incoop.fronts.watch.job_files import JobFiles, WatchedJob
from incoop.fronts.watch.stop import StopSignals
from incoop.inchdfs.errors import FileChangedWhileRead
from incoop.job_session import JobSession
from incoop.result import Result

log = logging.getLogger("incoop.watch")

#: How often a file that is written to while it is read is read again at once: who writes line by line pauses for longer
#: than reading takes. One that is written without a pause has to become a stored dataset, version by version.
_READ_AGAIN = 5


@dataclass(slots=True)
class Status:
    """What a terminal shows between looks; times are those of the clock on the wall."""

    next_look: float = 0.0
    last_run: float | None = None
    run_seconds: float = 0.0
    #: Jobs that are not current.
    behind: int = 0


@dataclass(slots=True)
class WatchLoop:
    """Jobs that are kept current."""

    session: JobSession
    files: JobFiles
    #: As they were first loaded; `files` brings them up to date.
    jobs: Sequence[WatchedJob]
    inputs: Sequence[str]
    #: What happens after a run, in this order.
    steps: Sequence[AfterRun]
    signals: StopSignals
    #: Takes sentences for people.
    say: Callable[[str], None]
    #: Takes what a terminal shows while nothing happens.
    show: Callable[[Status], None]
    #: The window that jobs run in, and what gives a record's time, as a command line has them; empty for none.
    window: tuple[str, str] = ("", "")
    #: Whether the history of runs has the size of the store, for a page.
    counts_store: bool = False
    #: The code as it was when it was loaded; None where that failed.
    _loaded: CodeSeen | None = field(init=False)
    _code: Standing = field(default_factory=lambda: Standing(Condition.CURRENT))
    _status: Status = field(default_factory=Status)

    def __post_init__(self) -> None:
        self._loaded = self.files.loaded

    def run(self, every: float) -> None:
        """Look every so many seconds, until a signal comes."""
        began, number = time.monotonic(), 0
        while True:
            log.debug("look %d", number)
            self.look()
            number, due = next_look(began, every, number, time.monotonic())
            wait = max(0.0, due - time.monotonic())
            self._status.next_look = time.time() + wait
            self.show(self._status)
            self.signals.sleep(wait)

    def look(self) -> bool:
        """Look once, and bring up to date what is not; whether everything is current now."""
        with self.signals.allowed():
            if self._code_loads():
                for watched in self.jobs:
                    self._bring_up_to_date(watched)
        behind = [watched for watched in self.jobs if watched.standing.condition is not Condition.CURRENT]
        self._status.behind = len(behind)
        return not behind and self._loaded is not None

    def _code_loads(self) -> bool:
        """Load the job files if they were edited; whether the code is the one that they hold."""
        seen = self.files.look()
        if action(seen, self._loaded) is Action.LOOK:
            self._loaded = seen | (self._loaded or {})
            return True
        try:
            self.files.load()
        except Exception as error:
            self._loaded = None
            self._code, said = after_failure(self._code, error)
        else:
            self._loaded = self.files.loaded
            self._code, said = after_success(self._code)
        self._tell("the job's code", said)
        return self._loaded is not None

    def _bring_up_to_date(self, watched: WatchedJob) -> None:
        try:
            result = self._update(watched)
            if result is not None:
                # Should a step fail, the next run tells its changes since then, too.
                watched.since = watched.since or result.before
                with closing(JobRun(watched, result)) as run:
                    for step in self.steps:
                        step(run)
                watched.given = watched.since = result
        except Exception as error:
            watched.standing, said = after_failure(watched.standing, error)
            if said and not isinstance(error, IncoopError):  # perhaps a fault of ours
                log.info("%s", watched.job.name, exc_info=error)
        else:
            watched.standing, said = after_success(watched.standing)
        self._tell(watched.job.name, said)

    def _update(self, watched: WatchedJob) -> Result | None:
        """Run a job if it is not current; a file that was written to while it was read is read again."""
        origin = Origin(watched.origin, tuple(self.inputs), str(Path.cwd()), *self.window)
        began = time.perf_counter()
        for attempt in range(_READ_AGAIN):
            try:
                window = window_of(watched.origin, *self.window)
                result = self.session.update(
                    *(watched.job, list(self.inputs), watched.given),
                    window=window,
                    origin=origin,
                    counts_store=self.counts_store,
                )
                break
            except FileChangedWhileRead:
                if attempt == _READ_AGAIN - 1:
                    raise
        if result is not None:
            self._status.last_run, self._status.run_seconds = time.time(), time.perf_counter() - began
        return result

    def _tell(self, who: str, said: str) -> None:
        if said:
            self.say(f"{who}: {said}")
