"""How `incoop submit` treats a program: real processes. What programs give is compared in test_programs.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.cli.command import incoop

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


def test_version_names_incoop_and_spark() -> None:
    ran = incoop("submit", "--version")
    assert ran.returncode == 0 and ran.stdout.startswith("incoop 0.") and f"Spark {pyspark.__version__}" in ran.stdout
