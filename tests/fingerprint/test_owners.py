"""Who owns a module decides whether it counts by content or by version; in fresh interpreters with made-up packages."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

JOB = "import dep\ndef f(x): return dep.go(x)\n"
ROOT = Path(__file__).resolve().parents[2]
PRINT = "import job; from incoop.fingerprint import fingerprint; print(fingerprint(job.f).hex())"


def _package(folder: Path, body: str, version: str | None, record: bool = True) -> Path:
    (folder / "dep").mkdir(parents=True, exist_ok=True)
    (folder / "dep" / "__init__.py").write_text(body)
    if version:
        info = folder / ("dep_dist-1.dist-info" if record else "dep_dist.egg-info")
        info.mkdir(exist_ok=True)
        (info / ("METADATA" if record else "PKG-INFO")).write_text(f"Name: dep-dist\nVersion: {version}\n")
        (info / "top_level.txt").write_text("dep\n")
        if record:
            written = base64.urlsafe_b64encode(hashlib.sha256(body.encode()).digest()).decode().rstrip("=")
            (info / "RECORD").write_text(f"dep/__init__.py,sha256={written},{len(body)}\n")
    return folder


def _fingerprint(tmp_path: Path, packages: Path, *options: str, job: str = JOB) -> str:
    (tmp_path / "job.py").write_text(job)
    environment = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *options, "-c", PRINT]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("place", ["lib/site-packages", "target"])
def test_an_installed_package_counts_by_its_version_and_its_record(tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    before = _fingerprint(tmp_path, _package(folder, "def go(x): return 1", "1.0"))
    assert _fingerprint(tmp_path, _package(folder, "def go(x): return 2", "1.0")) != before
    assert _fingerprint(tmp_path, _package(folder, "def go(x): return 1", "1.0")) == before
    assert _fingerprint(tmp_path, _package(folder, "def go(x): return 1", "1.1")) != before
    # By the record, not by code: a comment is another installation.
    assert _fingerprint(tmp_path, _package(folder, "# same\ndef go(x): return 1", "1.0")) != before


def test_a_checkout_with_metadata_beside_it_is_the_users(tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    before = _fingerprint(tmp_path, _package(folder, "def go(x): return 1", "1.0", record=False))
    assert _fingerprint(tmp_path, _package(folder, "def go(x): return 2", "1.0", record=False)) != before
    assert _fingerprint(tmp_path, _package(folder, "# same\ndef go(x): return 1", "2.0", record=False)) == before


def test_a_package_copied_into_site_packages_counts_by_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "site-packages"
    before = _fingerprint(tmp_path, _package(folder, "def go(x): return 1", None))
    assert _fingerprint(tmp_path, _package(folder, "def go(x): return 2", None)) != before


def test_a_users_function_under_a_packages_decorator_still_counts(tmp_path: Path) -> None:
    decorator = "import functools\ndef deco(g):\n    @functools.wraps(g)\n    def w(x): return g(x)\n    return w"
    folder = _package(tmp_path / "lib" / "site-packages", decorator, "1.0")
    job = "import dep\ndef low(x): return 1\n@dep.deco\ndef f(x): return low(x)\n"
    before = _fingerprint(tmp_path, folder, job=job)
    assert _fingerprint(tmp_path, folder, job=job.replace("return 1", "return 2")) != before
    assert _fingerprint(tmp_path, folder, job="# comment\n" + job) == before


def test_optimisation_counts_only_where_it_removes_code(tmp_path: Path) -> None:
    plain = 'def f(x):\n    "Doc."\n    return x\n'
    assert _fingerprint(tmp_path, tmp_path, "-OO", job=plain) == _fingerprint(tmp_path, tmp_path, job=plain)
    asserting = "def f(x):\n    assert x\n    return x\n"
    assert _fingerprint(tmp_path, tmp_path, "-O", job=asserting) != _fingerprint(tmp_path, tmp_path, job=asserting)


CALLS_OURS = (
    "from incoop import logs\nfrom incoop.sketches import Distinct\ndef f(x): return logs.combined(x), Distinct([x])\n"
)


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        pytest.param("logs/malformed.py", True, id="a parser"),
        pytest.param("sketches/distinct.py", True, id="a sketch"),
        pytest.param("engine/report.py", False, id="the engine"),
    ],
)
def test_of_incoop_what_functions_call_for_what_it_gives_counts_by_content(
    tmp_path: Path, copied: Path, changed: str, counts: bool
) -> None:
    before = _fingerprint(tmp_path, copied, job=CALLS_OURS)
    path = copied / "incoop" / changed
    content = path.read_text()
    path.write_text(content + "\nNEW = 1\n")
    try:
        assert (_fingerprint(tmp_path, copied, job=CALLS_OURS) != before) == counts
    finally:
        path.write_text(content)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package by itself, in a folder that comes first on the path."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "incoop", tree / "incoop", ignore=shutil.ignore_patterns("__pycache__"))
    return tree
