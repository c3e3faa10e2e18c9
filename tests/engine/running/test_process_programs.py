"""Whole programs: nothing of ours is left when they are interrupted or killed, and PySpark is not even imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.memo import MemoStore

from .tasks import alive, below, gone

JOB = """
import incoop, os, sys, time

def words(_, line):
    print("a word with the user")
    {more}
    for word in line.split():
        yield word, 1

def total(word, counts):
    yield word, sum(counts)

job = incoop.Job("word count", words, total, total)
"""

HANGS = "open(os.environ['AT'], 'w').close(); time.sleep(600)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text("one two\ntwo\n")
    return tmp_path


def command(folder: Path, *more: str, hangs: bool = False) -> list[str]:
    (folder / "job.py").write_text(JOB.format(more=HANGS if hangs else ""))
    return [str(Path(sys.executable).with_name("incoop")), "run", "job.py", "in.txt", "--store", "store", *more]


@pytest.fixture
def hanging(folder: Path) -> Iterator[tuple[subprocess.Popen[str], set[int]]]:
    """A run whose mapper hangs, with the workers that it has."""
    at = folder / "at"
    process = subprocess.Popen(
        command(folder, hangs=True),
        cwd=folder,
        env={**os.environ, "AT": str(at)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        end = time.monotonic() + 60
        while not at.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        yield process, below(process.pid)
    finally:
        process.kill()
        process.communicate()
        with MemoStore.open(folder / "store", maintenance=True):
            pass  # the Redis server of a program that was killed is the next one's, which stops it


def test_ctrl_c_while_a_function_hangs_ends_the_command(hanging: tuple[subprocess.Popen[str], set[int]]) -> None:
    process, workers = hanging
    assert len(workers) >= 2
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130 and "interrupted" in said
    assert "Traceback" not in said
    assert gone(workers)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])  # the latter when its terminal is closed
def test_a_command_that_is_asked_to_end_stops_its_redis_server_too(
    how: signal.Signals, hanging: tuple[subprocess.Popen[str], set[int]], folder: Path
) -> None:
    process, workers = hanging
    (pid,) = (int(path.read_text()) for path in folder.glob("store/memo/server/redis.pid"))
    assert alive(pid)
    process.send_signal(how)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + how and "Traceback" not in said
    assert gone({pid, *workers})


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_is_killed_leaves_no_worker(
    how: signal.Signals, hanging: tuple[subprocess.Popen[str], set[int]]
) -> None:
    process, workers = hanging
    assert len(workers) >= 2 and all(alive(pid) for pid in workers)
    process.send_signal(how)
    process.communicate(timeout=120)
    assert gone(workers)


def test_what_functions_print_is_not_in_the_output_of_the_command(folder: Path) -> None:
    done = subprocess.run(command(folder), cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert sorted(done.stdout.splitlines()) == ["one\t1", "two\t2"]
    assert "a word with the user" in done.stderr


PROGRAM = """
import sys
import incoop
from incoop.engine.events import DidStartSpark
from incoop.fronts.common.job_file import load_job

with incoop.connect("store"{more}) as session:
    result = session.run(load_job("job.py"), "in.txt")
    print(sorted(result), len(list(result.events.of(DidStartSpark))), "pyspark" in sys.modules)
    result.save("out")
    print(len(list(result.changes())), "pyspark" in sys.modules)
"""


@pytest.mark.parametrize(("more", "starts"), [("", 0), (", master='local[1]'", 2)])
def test_spark_is_started_and_pyspark_imported_only_for_who_asks(more: str, starts: int, folder: Path) -> None:
    command(folder)
    (folder / "program.py").write_text(PROGRAM.format(more=more))
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, timeout=240, check=True
    )
    asked = bool(starts)
    assert done.stdout == f"[('one', 1), ('two', 2)] {starts} {asked}\n2 {asked}\n"


def test_a_command_on_little_input_does_not_import_pyspark(folder: Path) -> None:
    run = command(folder, "--output", "out")
    code = f"import sys; sys.argv = {run[1:]!r}; sys.argv.insert(0, 'incoop')\n" + (
        "import atexit; atexit.register(lambda: print('pyspark' in sys.modules))\n"
        "from incoop.cli.main import main; main()\n"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stdout == "False\n"
