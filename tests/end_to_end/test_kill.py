"""kill -9: whatever a killed process left, later runs are right, and the memo holds nothing wrong."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from incoop.memo import MemoStore, collect, verify

from ..conftest import REPOSITORY
from .histories import Files, as_set, by_hand, edited
from .looper import JOBS, LINES
from .places import Place

MARK = "INCOOP_TEST_LOOPER"


def marked(mark: str) -> list[int]:
    """Processes that carry a mark in their environment."""
    wanted = f"{MARK}={mark}\0".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (entry / "environ").read_bytes() and (entry / "stat").read_text().split()[2] != "Z":
                found.append(int(entry.name))
    return found


@contextmanager
def looper(place: Place, seed: int) -> Iterator[subprocess.Popen[str]]:
    """A process that runs jobs; killed at the end, and waited for with all that it started but the server."""
    mark = f"{place.folder.name}-{seed}"
    python_path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {MARK: mark, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": python_path}
    environment["PYSPARK_SUBMIT_ARGS"] = "--conf spark.ui.enabled=false --driver-memory 512m pyspark-shell"
    process = subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.looper", str(place.folder), str(seed)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        with process:
            process.kill()
        end = time.monotonic() + 120
        servers = {pid for pid in marked(mark) if "redis" in name_of(pid)}
        while (left := set(marked(mark)) - servers) and time.monotonic() < end:
            time.sleep(0.05)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, f"left behind: {left}"


def name_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text()
    return ""


def check_store(place: Place, version: Files) -> Files:
    """What is stored is whole, and runs on it are right, on this version and after an edit."""
    place.close_session()
    with MemoStore.open(place.store, maintenance=True) as store:
        found = verify(store, dry_run=True)
        assert found.clean, found
    for _ in range(2):
        place.write(version)
        for job in JOBS:
            assert as_set(place.run(job).collect()) == as_set(by_hand(job, version))
        version = edited(version, "change one word", random.Random(str(version)))
    return version


def kill_often(place: Place, rounds: int, seed: int) -> None:
    rng = random.Random(seed)
    version: Files = {"input.txt": LINES}
    for number in range(rounds):
        with looper(place, seed + number):
            if number % 2 == 0:
                # The same jobs on the same store from here, at the same time.
                place.write(version)
                for job in JOBS:
                    assert as_set(place.run(job).collect()) == as_set(by_hand(job, version))
            else:
                time.sleep(rng.uniform(0, 2.5))
        version = check_store(place, version)
    place.close_session()
    with MemoStore.open(place.store, maintenance=True) as store:
        collect(store)
        assert verify(store, dry_run=True).clean
    check_store(place, version)


def test_a_killed_process_leaves_nothing_wrong(place: Place) -> None:
    kill_often(place, rounds=1, seed=0)


@pytest.mark.endurance
def test_processes_killed_again_and_again_leave_nothing_wrong(place: Place) -> None:
    kill_often(place, rounds=2, seed=100)
