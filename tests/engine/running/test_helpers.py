"""Helpers: processes that do something beside the driver, and are missed by nobody."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import incoop
from incoop import inchdfs
from incoop.engine.running import helpers as helpers_module
from incoop.engine.running.helpers import Helpers
from incoop.engine.running.processes import Processes
from incoop.inchdfs.cutting import side_by_side
from tests.end_to_end import jobs
from tests.end_to_end.places import as_bytes

from . import tasks
from .conftest import OwnPlace
from .tasks import gone


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    monkeypatch.setattr(helpers_module, "cores", lambda: 3)
    made = Processes()
    yield made
    made.stop()


def started(processes: Processes) -> Helpers:
    """Helpers of processes that have loaded everything."""
    made = Helpers(processes)
    assert made.ready() == 0, "nobody is waited for"
    processes.run("start", tasks.square, [1])
    return made


def test_helpers_answer_when_they_are_waited_for_and_are_kept(processes: Processes) -> None:
    helpers = started(processes)
    assert helpers.ready() == 2
    answers = [helpers.begin(tasks.square, number) for number in (3, 4)]
    assert helpers.begin(tasks.square, 5) is None, "both have something to do"
    assert [answer.wait() for answer in answers if answer is not None] == [9, 16]
    again = [helpers.begin(tasks.whoami, None) for _ in range(2)]
    pids = {answer.wait() for answer in again if answer is not None}
    assert len(pids) == 2 and os.getpid() not in pids
    helpers.stop()
    assert gone(pids)


def test_helpers_are_not_the_workers_that_hold_user_code(processes: Processes) -> None:
    helpers = started(processes)
    workers = set(processes.run("jobs", tasks.slow_whoami, range(processes.cores)))
    assert helpers.ready() == 2
    answers = [helpers.begin(tasks.whoami, None) for _ in range(2)]
    assert not workers & {answer.wait() for answer in answers if answer is not None}


@pytest.mark.parametrize("how", ["exit", "unpicklable", signal.SIGKILL.value])
def test_a_helper_that_fails_says_nothing_and_another_takes_its_place(how: str | int, processes: Processes) -> None:
    helpers = started(processes)
    assert helpers.ready() == 2
    answer = helpers.begin(tasks.ending, how)
    assert answer is not None and answer.wait() is None
    assert helpers.ready() == 2
    answers = [helpers.begin(tasks.square, number) for number in (5, 6)]
    assert [each.wait() for each in answers if each is not None] == [25, 36]


def test_a_helper_that_nobody_waits_for_ends(processes: Processes) -> None:
    helpers = started(processes)
    assert helpers.ready() == 2
    first, other = helpers.begin(tasks.whoami, None), helpers.begin(tasks.square, 1)
    assert first is not None and other is not None
    pid = first.wait()
    first.drop()  # it has answered: it stays
    other.drop()
    assert helpers.ready() == 2
    again = helpers.begin(tasks.whoami, None), helpers.begin(tasks.whoami, None)
    assert pid in {answer.wait() for answer in again if answer is not None}


def test_nobody_helps_while_a_job_runs_elsewhere(processes: Processes) -> None:
    helpers = started(processes)
    job = threading.Thread(target=processes.run, args=("slow", tasks.slow_whoami, range(8)))
    job.start()
    while not processes._running.locked():
        time.sleep(0.001)
    assert helpers.ready() == 0
    job.join()
    assert helpers.ready() == 2


def test_an_update_that_changed_everywhere_is_looked_at_with_helpers(
    own: OwnPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "_WORTH", 64 << 10)
    monkeypatch.setattr(helpers_module, "cores", lambda: 2)
    begun: list[Any] = []
    begin = Helpers.begin

    def noted(self: Helpers, function: Callable[[Any], Any], item: Any) -> Any:
        begun.append((item.start, item.stop))
        return begin(self, function, item)

    monkeypatch.setattr(Helpers, "begin", noted)
    own.chunks = inchdfs.ChunkSettings(average=16 << 10)
    lines = [f"word{number % 700} {number}" for number in range(40_000)]
    job = incoop.Job("words", jobs.words, jobs.total, jobs.total)
    for day in range(3):
        changed = [f"{line} day{day}" if day and at % 300 == day else line for at, line in enumerate(lines)]
        own.write(changed)
        with own.scratch() as session:
            assert dict(own.run(job)) == dict(session.run(job, str(own.input)))
    size = len(as_bytes(changed))
    assert len(begun) == 2 and all(0 < start < stop == size for start, stop in begun), begun
