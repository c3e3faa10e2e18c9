"""Placement, caches and losses on real Spark executors. What happens is in scenario.py; here is what must hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ..conftest import REPOSITORY

MARK = "INCOOP_TEST_CLUSTER"


def marked(mark: str) -> list[str]:
    """Command lines of the living processes that carry a mark in their environment."""
    wanted = f"{MARK}={mark}\0".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (entry / "environ").read_bytes() and (entry / "stat").read_text().rpartition(")")[2][1] != "Z":
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200])
    return found


def play(kind: str, folder: Path) -> dict[str, Any]:
    """Run a scenario; what it printed, and the processes that it left behind after its end."""
    python_path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "INCOOP_"))}
    process = subprocess.run(
        [sys.executable, "-m", f"{__package__}.scenario", kind, str(folder)],
        env=environment | {MARK: str(folder), "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert process.returncode == 0, process.stderr[-4000:]
    # The JVM of a Spark driver ends a moment after its Python.
    end = time.monotonic() + 120
    while (left := marked(str(folder))) and time.monotonic() < end:
        time.sleep(0.1)
    return json.loads(process.stdout.splitlines()[-1]) | {"left behind": left}


@pytest.fixture(scope="module")
def in_one_jvm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return play("in-one-jvm", tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="module")
def of_processes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return play("of-processes", tmp_path_factory.mktemp("cluster"))


def read_by_contraction(report: dict[str, Any]) -> tuple[int, int]:
    found = report["bytes"]["stages"]["contract"]
    return found["local"], found["moved"]


def local_share(report: dict[str, Any]) -> float:
    local, moved = read_by_contraction(report)
    return local / (local + moved)


# --- local-cluster[3,1,512]


def test_tasks_land_on_the_executors_that_were_wished(in_one_jvm: dict[str, Any]) -> None:
    hints = in_one_jvm["hints"]
    assert hints["executors"] == [["0", 1], ["1", 1], ["2", 1]]
    assert hints["items"] == list(range(12))
    assert hints["at home"] == 12


def test_a_wish_for_an_executor_that_is_not_there_does_no_harm(in_one_jvm: dict[str, Any]) -> None:
    hints = in_one_jvm["hints"]
    assert hints["with lost executors"] == [0, 1, 2, 3]
    # Spark's own default would wait 3 s at each of two levels; a hang would be a minute.
    assert hints["waited for lost executors"] < 30


def test_the_wait_is_set_for_one_job_and_a_users_own_setting_stands(in_one_jvm: dict[str, Any]) -> None:
    inside, left_after, set_over_users = in_one_jvm["hints"]["wait"]
    assert inside == "300ms"
    assert not left_after
    assert not set_over_users


def test_results_are_right_with_and_without_wishes(in_one_jvm: dict[str, Any]) -> None:
    for name in ("with", "without"):
        first, second = in_one_jvm[name]
        assert first["right"] and second["right"]
        assert first["map"] == {"tasks": 60, "executed": 60}
        assert second["map"] == {"tasks": 60, "executed": 6}
        assert not second["warnings"]


def test_a_second_run_reads_nine_tenths_of_its_contraction_input_locally(in_one_jvm: dict[str, Any]) -> None:
    assert in_one_jvm["caches"] == 3
    assert local_share(in_one_jvm["with"][1]) >= 0.9
    assert local_share(in_one_jvm["without"][1]) < 0.9


def test_wishes_make_a_second_run_move_at_most_a_quarter_of_the_bytes(in_one_jvm: dict[str, Any]) -> None:
    moved, moved_without = (read_by_contraction(in_one_jvm[name][1])[1] for name in ("with", "without"))
    assert 0 < moved <= moved_without / 4


# --- a master and three workers on addresses of their own


def test_each_worker_has_its_own_cache_and_affinity_follows_it(of_processes: dict[str, Any]) -> None:
    assert of_processes["hosts"] == ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    assert of_processes["caches"] == [True, True, True]
    first, second = of_processes["runs"][:2]
    assert first["right"] and second["right"]
    assert local_share(second) >= 0.9


def test_a_damaged_cache_is_read_past(of_processes: dict[str, Any]) -> None:
    report = of_processes["runs"][2]
    assert report["right"]
    # Nothing is lost: the shared store has what the cache had.
    assert report["map"]["executed"] == 6
    assert not report["warnings"]
    assert local_share(report) < local_share(of_processes["runs"][1])


def test_a_worker_killed_in_the_middle_of_a_run_does_not_show_in_the_result(of_processes: dict[str, Any]) -> None:
    assert of_processes["killed in the middle"]
    assert of_processes["still running"] == [True, False, True]
    assert of_processes["runs"][3]["right"]


def test_the_next_run_goes_on_with_the_executors_that_are_left(of_processes: dict[str, Any]) -> None:
    assert of_processes["left"] == ["127.0.0.2", "127.0.0.4"]
    report = of_processes["runs"][4]
    assert report["right"]
    assert report["map"]["executed"] == 6


@pytest.mark.parametrize("kind", ["in_one_jvm", "of_processes"])
def test_no_process_is_left_behind(kind: str, request: pytest.FixtureRequest) -> None:
    assert request.getfixturevalue(kind)["left behind"] == []
