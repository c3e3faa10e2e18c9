"""`incoop run`, `demo` and the store commands on what they leave, through the real command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from .command import CALL, incoop

JOB = """
import incoop

def words(_, line):
    for word in line.split():
        yield word, 1

def total(word, counts):
    yield word, sum(counts)

job = incoop.Job("word count", mapper=words, combiner=total, reducer=total)
"""

TEXT = "to be or not to be\nthat is the question\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path


def pairs_of(text: str) -> dict[str, int]:
    return {word: int(count) for word, count in (line.split("\t") for line in text.splitlines())}


def test_a_run_its_rerun_its_changes_its_part_files_and_its_store(folder: Path) -> None:
    """One scenario, since every command starts Python, and most Spark too."""
    first = incoop("run", "job.py", "text.txt", "--report", "json", cwd=folder)
    assert first.returncode == 0, first.stderr
    assert pairs_of(first.stdout) == Counter(TEXT.split())
    assert json.loads(first.stderr.splitlines()[-1])["map"] == {"tasks": 1, "executed": 1}

    again = incoop("run", "job.py:job", "text.txt", "--report", "json", cwd=folder)
    assert again.stdout == first.stdout
    report = json.loads(again.stderr)  # nothing but the report: not even Spark was started
    assert report["map"]["executed"] == report["combine"]["executed"] == report["reduce"]["executed"] == 0

    (folder / "text.txt").write_text(TEXT + "to sleep\n")
    explained = incoop("run", "job.py", "text.txt", "--explain", cwd=folder)
    assert "1 chunk is new" in explained.stdout
    refused = incoop("run", "job.py", "text.txt", "--strict", "0.5", cwd=folder)
    assert refused.returncode == 1
    assert "could reuse 0.0% of its input" in refused.stderr

    changes = incoop("run", "job.py", "text.txt", "--changes", "--report", "none", cwd=folder)
    assert set(changes.stdout.splitlines()) == {"to\t2\t3", "sleep\tNone\t1"}

    saved = incoop("run", "job.py", "text.txt", "--output", "out", cwd=folder)
    assert saved.returncode == 0, saved.stderr
    assert (folder / "out" / "_SUCCESS").exists()
    written = "".join(path.read_text() for path in sorted((folder / "out").glob("part-*")))
    assert pairs_of(written) == Counter((TEXT + "to sleep\n").split())
    before = {path: path.stat().st_mtime_ns for path in (folder / "out").iterdir()}
    assert "0 part files written" in incoop("run", "job.py", "text.txt", "--output", "out", cwd=folder).stderr
    assert {path: path.stat().st_mtime_ns for path in (folder / "out").iterdir()} == before

    incoop("put", "text.txt", "kept", cwd=folder)
    stored = incoop("run", "job.py", "inchdfs:/kept", "--report", "json", cwd=folder)
    assert pairs_of(stored.stdout) == Counter((TEXT + "to sleep\n").split())

    stats = incoop("stats", cwd=folder)
    assert "word count" in stats.stdout
    checked = incoop("verify", cwd=folder)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count("all good") == 2
    collected = incoop("gc", "--report", "json", cwd=folder)
    assert collected.returncode == 0, collected.stderr
    assert set(json.loads(collected.stderr.splitlines()[-1])) == {"memo", "datasets"}
    assert incoop("run", "job.py", "text.txt", "--report", "none", cwd=folder).stderr == ""


def test_a_folder_with_other_files_is_not_written_to(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("precious")
    done = incoop("run", "job.py", "text.txt", "--output", "out", cwd=folder)
    assert done.returncode == 1
    assert "holds thesis.txt" in done.stderr
    assert [path.name for path in (folder / "out").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["missing.py", "text.txt"], 2, "missing.py is not a file", id="a job file that is not there"),
        pytest.param(["text.txt", "text.txt"], 2, "is not a Python file", id="a job file that is no Python"),
        pytest.param(
            ["job.py:jbo", "text.txt"], 2, "defines no Job named jbo; it defines job", id="a job that is not there"
        ),
        pytest.param(["two.py", "text.txt"], 2, "several: one, other", id="two jobs and no name"),
        pytest.param(["broken.py", "text.txt"], 1, "ZeroDivisionError", id="a file that fails"),
        pytest.param(["job.py", "nowhere.txt"], 1, "nowhere.txt: no such file", id="an input that is not there"),
        pytest.param(["job.py", "inchdfs:/nothing"], 1, "no dataset nothing", id="a dataset that is not there"),
        pytest.param(["job.py", "text.txt", "--strct", "1"], 2, "Did you mean", id="an option with a typo"),
        pytest.param(["job.py", "text.txt", "--memo", "redis://127.0.0.1:1"], 1, "127.0.0.1:1", id="no Redis there"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_an_exit_code(folder: Path, words: list[str], code: int, said: str) -> None:
    (folder / "two.py").write_text(JOB + "\none = job\nother = incoop.Job('b', mapper=words)\ndel job\n")
    (folder / "broken.py").write_text("1 / 0\n")
    done = incoop("run", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_failing_mapper_shows_the_users_traceback_record_and_line(folder: Path) -> None:
    (folder / "job.py").write_text(JOB.replace("for word in line.split():", "for word in [line.split()[2]]:"))
    (folder / "text.txt").write_text("a b c\nd e f\nshort\n")
    done = incoop("run", "job.py", "text.txt", cwd=folder)
    assert done.returncode == 1
    assert "text.txt, line 3" in done.stderr
    assert "'short'" in done.stderr
    assert "IndexError" in done.stderr and "in words" in done.stderr


@pytest.mark.long
def test_ctrl_c_ends_a_run_quietly_and_leaves_no_process(folder: Path) -> None:
    slow = "    import pathlib, time\n    pathlib.Path('begun').touch()\n    time.sleep(0.5)\n    for word"
    (folder / "job.py").write_text(JOB.replace("    for word", slow))
    (folder / "text.txt").write_text("slow line\n" * 1000)
    process = subprocess.Popen(
        [sys.executable, "-c", CALL, "run", "job.py", "text.txt"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 120
    while not (folder / "begun").exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in said and "Traceback" not in said
    left = subprocess.run(["pgrep", "-f", str(folder)], capture_output=True, text=True).stdout
    assert left == ""


@pytest.mark.long
def test_the_demo_shows_what_was_reused() -> None:
    done = incoop("demo")
    assert done.returncode == 0, done.stderr
    assert "The same as counting from scratch" in done.stdout
    assert "inserted: None -> 1" in done.stdout
