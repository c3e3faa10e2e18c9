"""An installed package counts by what was installed, not by the number it gives itself; in fresh interpreters.

Packages are written as an installer writes them: files, METADATA and RECORD with their hashes. One is installed by pip.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from incoop.fingerprint import fingerprint, parts
from incoop.fingerprint.owners import owner
from tests.quick import some_turn_takes_less

ROOT = Path(__file__).resolve().parents[2]
JOB = "import own\ndef f(x): return own.go(x)\n"
SHOW = """
import json, job
from incoop.fingerprint import parts
print(json.dumps({name: value.hex() for name, value in parts(job.f).items()}))
"""


def _hash(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def _install(
    folder: Path,
    files: dict[str, str],
    *,
    name: str = "own",
    version: str = "1.0",
    origin: dict[str, Any] | None = None,
    more: str = "",
    reverse: bool = False,
) -> Path:
    """Put a package into a folder of installed packages, in place of the one that was there."""
    info = folder / f"{name}-{version}.dist-info"
    for old in folder.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    info.mkdir(parents=True)
    lines = []
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        lines.append(f"{path},{_hash(text.encode())},{len(text)}")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: of the text\n")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin))
        lines.append(f"{info.name}/direct_url.json,{_hash(json.dumps(origin).encode())},9")
    lines += [*more.splitlines(), f"{info.name}/RECORD,,"]
    (info / "RECORD").write_text("\n".join(reversed(lines) if reverse else lines) + "\n")
    return folder


def _parts(tmp_path: Path, packages: Path, job: str = JOB) -> dict[str, str]:
    (tmp_path / "job.py").write_text(job)
    environment = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


ONE = {"own/__init__.py": "def go(x): return 1\n"}
TWO = {"own/__init__.py": "def go(x): return 2\n"}


@pytest.mark.parametrize("place", ["lib/site-packages", "lib/dist-packages", "target"])
def test_the_same_version_with_other_code_is_another_package(tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    before = _parts(tmp_path, _install(folder, ONE))
    after = _parts(tmp_path, _install(folder, TWO))
    assert {name for name in before if before[name] != after[name]} == {"package own"}
    assert _parts(tmp_path, _install(folder, ONE)) == before


CHANGES: dict[str, dict[str, Any]] = {
    "a data file": {"files": {**ONE, "own/words.txt": "the a"}},
    "a module beside": {"files": {**ONE, "own/more.py": "N = 1"}},
    "another version": {"files": ONE, "version": "1.1"},
    "another commit": {"files": ONE, "origin": {"url": "https://h/own", "vcs_info": {"vcs": "git", "commit_id": "b"}}},
    "another archive": {"files": ONE, "origin": {"url": "https://h/own.whl", "archive_info": {"hash": "sha256=b"}}},
    "another URL": {"files": ONE, "origin": {"url": "https://h/fork", "vcs_info": {"vcs": "git", "commit_id": "a"}}},
}
BASE = {"files": ONE, "origin": {"url": "https://h/own", "vcs_info": {"vcs": "git", "commit_id": "a"}}}

SAME: dict[str, dict[str, Any]] = {
    "another order of the record": {"reverse": True},
    "a script of another environment": {"more": f"../../../bin/own,{_hash(b'#!/home/me/env/bin/python')},9"},
    "compiled caches": {"more": "own/__pycache__/__init__.cpython-311.pyc,,"},
    "another installer": {"more": f"own-1.0.dist-info/INSTALLER,{_hash(b'uv')},2"},
    "a folder of this machine": {"origin": {"url": "file:///home/me/own", "dir_info": {}}},
    "another folder of this machine": {"origin": {"url": "file:///tmp/build/own", "dir_info": {}}},
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_installed_counts(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "lib" / "site-packages"
    before = _parts(tmp_path, _install(folder, **BASE))  # type: ignore[arg-type]
    assert _parts(tmp_path, _install(folder, **CHANGES[what]))["package own"] != before["package own"]


@pytest.mark.parametrize("what", SAME)
def test_where_and_by_whom_it_was_installed_does_not_count(tmp_path: Path, what: str) -> None:
    before = _parts(tmp_path, _install(tmp_path / "a" / "site-packages", ONE))
    assert _parts(tmp_path, _install(tmp_path / "b" / "c" / "site-packages", ONE, **SAME[what])) == before


def test_a_package_whose_name_differs_from_its_module_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    before = _parts(tmp_path, _install(folder, ONE, name="acme_tools"))
    after = _parts(tmp_path, _install(folder, TWO, name="acme_tools"))
    assert "package acme_tools" in before
    assert before["package acme_tools"] != after["package acme_tools"]


def test_the_parts_of_a_namespace_that_several_packages_share_count(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    job = "import acme.own\ndef f(x): return acme.own.go(x)\n"
    _install(folder, {"acme/other.py": "N = 1"}, name="acme_other")
    before = _parts(tmp_path, _install(folder, {"acme/own.py": "def go(x): return 1"}, name="acme_own"), job)
    after = _parts(tmp_path, _install(folder, {"acme/own.py": "def go(x): return 2"}, name="acme_own"), job)
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == ["package acme_other+acme_own"]


def test_a_package_without_a_record_counts_by_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "dist-packages"
    (folder / "own").mkdir(parents=True)
    info = folder / "own-1.0.egg-info"
    info.write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")  # as a distribution's packages have it
    results = []
    for text in ("def go(x): return 1", "def go(x): return 2", "def go(x): return 1"):
        (folder / "own" / "__init__.py").write_text(text)
        results.append(_parts(tmp_path, folder))
    assert results[0]["package own"] != results[1]["package own"]
    assert results[0] == results[2]


def test_a_record_without_hashes_counts_by_the_files_it_names(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    results = []
    for files in (ONE, TWO):
        _install(folder, files)
        (folder / "own-1.0.dist-info" / "RECORD").write_text("own/__init__.py,,\n")
        results.append(_parts(tmp_path, folder))
    assert results[0]["package own"] != results[1]["package own"]


def _wheel(folder: Path, text: str) -> Path:
    """Build a wheel by hand, as a build tool would: the version stays."""
    folder.mkdir(parents=True)
    path = folder / "own-1.0-py3-none-any.whl"
    files = {
        "own/__init__.py": text,
        "own-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n",
        "own-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},{_hash(data.encode())},{len(data)}\n" for name, data in files.items())
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in (*files.items(), ("own-1.0.dist-info/RECORD", record + "own-1.0.dist-info/RECORD,,\n")):
            wheel.writestr(name, data)
    return path


def test_pip_installs_the_same_version_again(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    results = []
    for number in (1, 2, 1):
        wheel = _wheel(tmp_path / f"wheel{len(results)}", f"def go(x): return {number}\n")
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--upgrade", "--target"]
        subprocess.run([*command, str(folder), str(wheel)], check=True, capture_output=True)
        results.append(_parts(tmp_path, folder))
    assert "package own" in results[0]
    assert results[0]["package own"] != results[1]["package own"]


def test_what_is_loaded_counts_until_it_is_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages"
    _install(folder, {"loaded/__init__.py": "def go(x): return 1\n"}, name="loaded")
    monkeypatch.syspath_prepend(str(folder))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec("def f(x):\n    import loaded\n    return loaded.go(x)", namespace)
    fn = namespace["f"]
    unloaded = fingerprint(fn)
    _install(folder, {"loaded/__init__.py": "def go(x): return 22\n"}, name="loaded")
    assert fingerprint(fn) != unloaded, "not loaded yet: the next import would find the new one"
    assert fn(0) == 22
    before = fingerprint(fn)
    _install(folder, {"loaded/__init__.py": "def go(x): return 333\n"}, name="loaded")
    (folder / "loaded" / "more.py").write_text("N = 1")
    importlib.import_module("loaded.more")
    assert fn(0) == 22
    assert owner("loaded.more") == owner("loaded")
    assert fingerprint(fn) == before, "this process still runs the old one"
    importlib.reload(sys.modules["loaded"])
    assert fn(0) == 333
    assert fingerprint(fn) != before
    del sys.modules["loaded"], sys.modules["loaded.more"]


def test_looking_at_packages_again_costs_next_to_nothing() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec("import numpy, pandas\ndef f(x): return numpy.sum(x), pandas.Series(x)", namespace)
    parts(namespace["f"])
    assert some_turn_takes_less(0.002, lambda: parts(namespace["f"]))
