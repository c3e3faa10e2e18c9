"""Processes of our own: what lies in the folder where we work is not run, and what becomes of them is told."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import incoop
from incoop.engine.running.fresh_process import run_in_fresh_process
from incoop.engine.running.processes import Processes
from incoop.engine.running.zygote_handle import ProcessesFailed, Zygote
from incoop.inchdfs import ChunkSettings, Lines
from incoop.inchdfs.cutting.parallel import LocalProcesses, Segment

from .conftest import COUNTED
from .test_output_folder import JOB

#: Modules that a Python process loads after it began; not `site`, nor what it has loaded by then.
PLANTED = ("pickle", "struct", "socket", "json", "numpy", "contextlib", "dataclasses", "incoop", "subprocess", "select")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where somebody else put modules, and where we work now."""
    folder = tmp_path / "shared"
    folder.mkdir()
    ran = str(tmp_path / "ran")
    for name in PLANTED:
        (folder / f"{name}.py").write_text(f"open({ran!r}, 'a').write({name!r})\nraise SystemExit(9)\n")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    return tmp_path / "ran"


def test_modules_in_the_folder_where_we_work_are_not_loaded(tmp_path: Path, planted: Path) -> None:
    (tmp_path / "words.txt").write_bytes(b"ash oak\n" * 1000)
    segment = Segment(str(tmp_path / "words.txt"), 0, 8000, ChunkSettings(), Lines())
    with LocalProcesses(1) as processes:
        assert len(list(processes([segment]))) == 1
    assert run_in_fresh_process(len, ["abc"]) == [3]
    processes_of_ours = Processes()
    try:
        assert processes_of_ours.run("count", len, ["abc"]) == [3]
    finally:
        processes_of_ours.stop()
    assert not planted.exists()


def test_nor_by_a_command(job_file: Path, planted: Path) -> None:
    words = job_file.parent / "words.txt"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    program = Path(sys.executable).parent / "incoop"
    call = [program, "run", job_file, words, "--store", job_file.parent / "store", "--report", "none"]
    done = subprocess.run(call, capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout == COUNTED, done.stderr
    assert not planted.exists()


def open_sockets(_: str) -> str:
    """The sockets that a program has which a worker starts."""
    return subprocess.run("ls -l /proc/self/fd", shell=True, close_fds=False, capture_output=True, text=True).stdout


def test_what_a_function_starts_does_not_get_the_line_to_the_driver() -> None:
    processes = Processes()
    try:
        (seen,) = processes.run("look", open_sockets, [""])
    finally:
        processes.stop()
    assert "pipe" in seen and "socket" not in seen


def test_a_python_that_cannot_be_started_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "words.txt").write_text("oak\n")
    with incoop.connect(tmp_path / "store") as session:
        session._workforce.processes.stop()  # which were started early
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", "/no/such/python")
            with pytest.raises(ProcessesFailed, match="could not be started: No such file"):
                session.run(JOB, tmp_path / "words.txt")
            patch.setattr(sys, "executable", "/bin/false")
            with pytest.raises(ProcessesFailed, match="could not be started"):
                session.run(JOB, tmp_path / "words.txt")
        assert dict(session.run(JOB, tmp_path / "words.txt")) == {"oak": 1}


def slowly(_: None, line: str) -> list[tuple[str, int]]:
    Path(os.environ["INCOOP_TEST_PLACE"], str(os.getpid())).touch()
    time.sleep(60 if Path(os.environ["INCOOP_TEST_PLACE"], "slow").exists() else 0)
    return [(line, 1)]


def test_a_zygote_that_is_killed_takes_its_workers_along_and_the_next_run_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    place = tmp_path / "place"
    place.mkdir()
    (place / "slow").touch()
    monkeypatch.setenv("INCOOP_TEST_PLACE", str(place))
    (tmp_path / "words.txt").write_text("oak\n")
    job = incoop.Job("slow", slowly, memoize=False)
    with incoop.connect(tmp_path / "store") as session:

        def kill() -> None:
            while not (pids := [int(path.name) for path in place.iterdir() if path.name.isdigit()]):
                time.sleep(0.02)
            zygote = session._workforce.processes._zygote
            assert zygote is not None
            os.kill(zygote._process.pid, signal.SIGKILL)
            workers.extend(pids)

        workers: list[int] = []
        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(incoop.IncoopError) as failed:
            session.run(job, tmp_path / "words.txt")
        killer.join()
        assert "\n" not in str(failed.value) and "Try again" in str(failed.value)
        end = time.monotonic() + 10
        while any(Path(f"/proc/{pid}/cwd").exists() for pid in workers):
            assert time.monotonic() < end, "a worker was left"
            time.sleep(0.02)
        (place / "slow").unlink()
        assert list(session.run(job, tmp_path / "words.txt")) == [("oak", 1)]


def test_a_zygote_that_ends_at_once_is_told_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    for _ in range(20):  # whoever comes first
        with contextlib.closing(Stopping(())) as zygote, pytest.raises(ProcessesFailed):
            zygote.fork()


class Stopping(Zygote):
    close = Zygote.stop
