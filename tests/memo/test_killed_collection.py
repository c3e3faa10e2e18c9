"""A collection that is killed at each of its steps, one after the other: nothing is lost, and the next one ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.client import Pipeline, Redis

from incoop.memo import MemoStore, collect, stats, verify

from .places import Place, kept, payload, result_of, run_generation, task_id

#: Of processes with threads, which other tests may have left in this one; the child calls nothing that they hold.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def place(folder: Path) -> Iterator[Place]:
    with contextlib.closing(Place(folder, None)) as place:
        yield place


def in_a_child(call: Callable[[], None]) -> bool:
    """Call it in a process of its own; whether that was killed."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            call()
            os._exit(0)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def collected_up_to(place: Place, step: int) -> bool:
    """Collect, and kill -9 before this command to Redis or this change of a file; whether there was one."""

    def call() -> None:
        left = step

        def killing(original: Any) -> Any:
            def counted(*args: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                return original(*args, **named)

            return counted

        store = MemoStore.open(place.folder, maintenance=True)
        for kind, names in ((Redis, ("execute_command",)), (Pipeline, ("execute",)), (Path, ("rename", "unlink"))):
            for name in names:
                setattr(kind, name, killing(getattr(kind, name)))
        collect(store)
        os._exit(0)

    return in_a_child(call)


def killed_at_every_step(place: Place) -> Iterator[int]:
    """Numbers of rounds; in each the collection gets one step further, until it is not killed any more."""
    step, goes_on = 0, True
    while goes_on:
        step += 1
        yield step
        goes_on = collected_up_to(place, step)
        yield -step
    assert step > 10, "it was killed at least so often"


def test_what_the_last_run_left_is_there_wherever_a_collection_was_killed(place: Place) -> None:
    opened = place.open(maintenance=True)  # the server stays
    for step in killed_at_every_step(place):
        first = 100 * abs(step)
        if step > 0:  # before it
            with place.open() as store:
                run_generation(store, "job", [first, first + 1, first + 2])
                run_generation(store, "job", [first + 1, first + 2, first + 3])
            time.sleep(0.01)  # the tick of the filesystem's clock
            continue
        with place.open() as store:
            assert run_generation(store, "job", [first + 1, first + 2, first + 3])[1] == []
            assert verify(store, dry_run=True).clean
            assert store.events.warnings() == []
        time.sleep(0.01)
        collect(opened)
        assert stats(opened).entries == stats(opened).packs == 3
    assert not [path for path in (place.folder / "memo" / "packs" / "tmp").iterdir() if path.stat().st_mtime < 1]


def test_what_a_session_had_looked_up_comes_back_wherever_a_collection_was_killed(place: Place) -> None:
    opened = place.open(maintenance=True)
    running = place.open()
    number = 0
    for step in killed_at_every_step(place):
        first = 100 * abs(step)
        ids = [task_id(first), task_id(first + 1)]
        if step > 0:
            with place.open() as store:
                run_generation(store, "job", [first, first + 1])
                run_generation(store, "job", [first + 2])
            number = running.begin_generation("reuses")
            assert None not in running.lookup(ids)
            time.sleep(0.01)
            continue
        assert running.commit_generation("reuses", number, b"", ids)
        time.sleep(0.01)
        collect(opened)
        found = running.lookup(ids)
        assert [payload(running.blobs, each) if each else None for each in found] == [
            result_of(first),
            result_of(first + 1),
        ]
    assert running.events.warnings() == []


def test_a_pack_that_is_being_written_while_a_collection_runs_is_whole_in_the_end(place: Place) -> None:
    opened = place.open(maintenance=True)
    with place.open() as store:
        run_generation(store, "old", [1])
    running = place.open()
    number = running.begin_generation("job")
    time.sleep(0.01)

    def parts() -> Iterator[bytes]:
        for at in range(0, 3000, 1000):
            collect(opened)
            yield result_of(5)[at : at + 1000]
        collect(opened)

    pack = running.blobs.write(parts())
    # It has its name, and nobody names it yet.
    assert collect(opened, dry_run=True).packs_dropped == collect(opened).packs_dropped == 0
    running.blobs.check(pack)
    running.store({task_id(5): kept(running.blobs, result_of(5))})
    collect(opened)
    running.commit_generation("job", number, b"", [task_id(5)])
    running.close()
    time.sleep(0.01)
    collect(opened)
    (entry,) = opened.lookup([task_id(5)])
    assert entry is not None
    assert payload(opened.blobs, entry) == result_of(5)
