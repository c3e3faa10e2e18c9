"""kill -9 at random points: what a later run finds is right, or is not there."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from incoop.memo import MemoStore, collect, verify

from .places import Place, payload, result_of, run_generation, task_id
from .servers import RealServer


def killed_at_random(place: Place, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    memo = ["--memo", place.server.url] if place.server is not None else []
    first = 0
    for _ in range(rounds):
        first += chance.randrange(20)
        command = [sys.executable, "-m", "memo.looper", str(place.folder), *memo, "--rounds", "100000", "--step", "3"]
        workers = [
            subprocess.Popen([*command, "--first", str(first + 7 * worker), "--job", f"job {worker}"],
                             stdout=subprocess.PIPE, cwd=Path(__file__).parents[1])
            for worker in range(chance.choice([1, 1, 2]))
        ]  # fmt: skip
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()
        time.sleep(chance.uniform(0, 0.15))
        if place.private and chance.random() < 0.4:
            with contextlib.suppress(OSError, ValueError):
                os.kill(int((place.folder / "memo" / "server" / "redis.pid").read_text()), signal.SIGKILL)
        for worker in workers:
            worker.kill()
            worker.wait()
            assert worker.stdout is not None
            worker.stdout.close()
        with place.open() as store:
            check_everything(store)
            for worker_number in range(len(workers)):
                # The engine's run asserts that every payload, reused or computed, is the right one.
                run_generation(store, f"job {worker_number}", list(range(first, first + 30)))
            if chance.random() < 0.5:
                collect(store)
            check_everything(store)


def check_everything(store: MemoStore) -> None:
    """Nothing that a run would have trusted is wrong."""
    report = verify(store, dry_run=True)
    assert report.clean, report
    numbers = list(range(1000))
    for number, entry in zip(numbers, store.lookup([task_id(number) for number in numbers]), strict=True):
        if entry is not None:
            assert payload(store.blobs, entry) == result_of(number)
    assert store.events.warnings() == []


@pytest.mark.parametrize("setting", ["private", "shared"])
def test_killing_sessions_and_servers_leaves_only_right_results(folder: Path, setting: str) -> None:
    place = Place(folder, None if setting == "private" else RealServer(folder.parent / "redis", "unix"))
    try:
        killed_at_random(place, rounds=5, seed=1)
    finally:
        place.close()


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(1))
def test_killing_sessions_and_servers_many_times(folder: Path, seed: int) -> None:
    place = Place(folder, None)
    try:
        killed_at_random(place, rounds=20, seed=100 + seed)
    finally:
        place.close()


def test_a_collection_killed_at_random_points_loses_nothing_that_is_needed(folder: Path) -> None:
    chance = random.Random(5)
    script = (
        "import sys; from incoop.memo import MemoStore, collect\n"
        "store = MemoStore.open(sys.argv[1], maintenance=True); print('ready', flush=True)\n"
        "while True: collect(store)"
    )
    with contextlib.closing(Place(folder, None)) as place:
        store = place.open()
        for number in range(6):
            run_generation(store, "job", list(range(number * 10, number * 10 + 40)))
            collector = subprocess.Popen([sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE)
            with collector:
                assert collector.stdout is not None
                collector.stdout.readline()
                time.sleep(chance.uniform(0, 0.05))
                assert run_generation(store, "job", list(range(number * 10, number * 10 + 42)))[1][-2:]
                collector.kill()
            assert run_generation(store, "job", list(range(number * 10, number * 10 + 42)))[1] == []
            assert verify(store, dry_run=True).clean
