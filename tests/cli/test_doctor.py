"""`incoop doctor` says what is missing, and how to get it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from .command import incoop


def test_a_whole_machine_is_healthy(tmp_path: Path) -> None:
    done = incoop("doctor", "--store", tmp_path / "store")
    assert done.returncode == 0
    assert "MISSING" not in done.stdout
    assert not (tmp_path / "store").exists()


def test_a_missing_java_is_named_with_its_remedy(tmp_path: Path) -> None:
    done = incoop("doctor", "--report", "json", env=os.environ | {"JAVA_HOME": str(tmp_path)})
    assert done.returncode == 1
    assert "MISSING  Java" in done.stdout
    assert "install a Java runtime of 17 or later" in done.stdout
    assert '"missing": ["Java"]' in done.stderr.splitlines()[-1]


def test_an_old_java_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "java"
    fake.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n")
    fake.chmod(0o755)
    done = incoop("doctor", env=os.environ | {"JAVA_HOME": str(tmp_path)})
    assert done.returncode == 1
    assert "is too old" in done.stdout


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = incoop("doctor", "--store", "/proc/incoop-store")
    assert done.returncode == 1
    assert "MISSING  Store" in done.stdout


def test_the_prerequisites_script_names_a_python() -> None:
    script = Path(__file__).parents[2] / "scripts" / "prerequisites.sh"
    done = subprocess.run(["sh", str(script)], capture_output=True, text=True)
    assert done.returncode == 0
    assert "python" in done.stdout
    assert done.stderr == ""


def test_the_prerequisites_script_stops_with_one_sentence_where_it_may_not_install(tmp_path: Path) -> None:
    """A PATH without Java, apt-get and a C compiler, as on a machine where we are not root."""
    for name in ("sh", "sed", "head", "id"):
        found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True).stdout.strip()
        (tmp_path / name).symlink_to(found)
    script = Path(__file__).parents[2] / "scripts" / "prerequisites.sh"
    python = subprocess.run(["sh", "-c", "command -v python3"], capture_output=True, text=True).stdout.strip()
    done = subprocess.run(
        [tmp_path / "sh", script], env={"PATH": str(tmp_path), "PYTHON": python}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == ""
    (sentence,) = done.stderr.splitlines()
    assert "a Java runtime of 17 or later" in sentence and "a C compiler" in sentence and "apt-get install" in sentence
