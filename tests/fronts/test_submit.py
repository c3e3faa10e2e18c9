"""`incoop submit` as a user calls it: real processes, beside a real spark-submit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import incoop

from .harness import PROGRAMS

LINES = [f"word{number % 90} word{number % 7}" for number in range(3000)]


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)


@pytest.mark.usefixtures("quiet")
def test_a_program_prints_what_spark_submit_prints_and_maps_one_chunk_again(tmp_path: Path) -> None:
    text, script = tmp_path / "text.txt", PROGRAMS / "word_count.py"
    options = ["--master", "local[1]", "--conf", "spark.ui.enabled=false", "--store", tmp_path / "store"]
    for line in ("", "word1 inserted"):
        text.write_text("\n".join([*LINES[:1500], line, *LINES[1500:]]) + "\n")
        ours = incoop("submit", *options, "--report", "json", script, text)
        assert ours.returncode == 0, ours.stderr
    theirs = subprocess.run(
        [Path(sys.executable).with_name("spark-submit"), "--master", "local[1]", script, text],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )
    assert ours.stdout == theirs.stdout and "inserted: 1\n" in ours.stdout
    report = json.loads(ours.stderr.splitlines()[-1])
    assert report["job"] == "word_count.py" and report["notes"] == []
    assert report["map"]["executed"] == 1 < report["map"]["tasks"]
    assert report["keys"]["reduced"] <= 3


SHOWS = """
import sys
import helper
print(__name__, sys.argv, helper.NAME, sys.modules["__main__"].__file__)
sys.exit(int(sys.argv[-1]))
"""

FAILS = """
def broken():
    raise KeyError("mine")

broken()
"""


def test_a_program_finds_its_arguments_its_modules_and_itself(tmp_path: Path) -> None:
    script, other = tmp_path / "shows.py", tmp_path / "other"
    script.write_text(SHOWS)
    other.mkdir()
    (other / "helper.py").write_text("NAME = 'helped'\n")
    ran = incoop("submit", "--py-files", other / "helper.py", script, "--master", "mine", "7")
    assert ran.returncode == 7
    assert ran.stdout == f"__main__ {[str(script), '--master', 'mine', '7']} helped {script}\n"


def test_a_program_that_fails_fails_as_under_python(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text(FAILS)
    ours = incoop("submit", "--report", "none", script)
    theirs = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (ours.returncode, ours.stdout, ours.stderr) == (1, "", theirs.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mastre", "local", "x.py"], "--master"),
        (["nowhere.py"], "there is no program nowhere.py"),
        ([], "SCRIPT.PY"),
        (["--deploy-mode", "cluster", __file__], "client"),
        (["--conf", "spark.ui.enabled", __file__], "KEY=VALUE"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(words: list[str], said: str) -> None:
    ran = incoop("submit", *words)
    assert ran.returncode == 2 and said in ran.stderr


def test_help_shows_examples() -> None:
    ran = incoop("submit", "--help")
    assert ran.returncode == 0 and "incoop submit pagerank.py links.txt 10" in ran.stdout
