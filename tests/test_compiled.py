"""What is imported is compiled once for an environment, also where Python must not write what it compiles."""

from __future__ import annotations

import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from scripts.compile_imports import write_down


def test_what_is_imported_is_written_down_where_python_may_not_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path / "installed")
    ours, installed = tmp_path / "ours", tmp_path / "installed"
    for folder, name in ((ours, "own"), (installed, "named_here"), (installed, "needed_by_it"), (installed, "other")):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text("import needed_by_it\n" if name == "named_here" else "")
    write_down([ours], ["named_here", "not_installed_anywhere"])
    found = {path.stem.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert found == {"own", "named_here", "needed_by_it"}
    assert Path(cache_from_source(str(ours / "own.py"))).exists()
    assert sys.dont_write_bytecode
