"""Which room may import which: the contracts of pyproject.toml hold, and would notice."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CHECK = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def _check(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CHECK], cwd=tree, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    shutil.copy(ROOT / "pyproject.toml", tree)
    shutil.copytree(ROOT / "incoop", tree / "incoop", ignore=shutil.ignore_patterns("__pycache__"))
    return tree


def test_every_room_imports_only_rooms_below_it() -> None:
    done = _check(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


LAZY = "\n\ndef forbidden():\n    from {} import {}\n"
TYPED = "\n\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from {} import {}\n"


@pytest.mark.parametrize(
    ("module", "line", "imported"),
    [
        pytest.param("base/errors.py", "\nfrom {} import {}\n", ("incoop.memo", "entry"), id="base imports a room"),
        pytest.param("memo/entry.py", LAZY, ("incoop.contraction.columns", "run"), id="rooms side by side, lazily"),
        pytest.param(
            "scheduler/placement.py", TYPED, ("incoop.inchdfs", "errors"), id="rooms side by side, for a type"
        ),
        pytest.param("fingerprint/tokens.py", LAZY, ("incoop.fingerprint", "api"), id="a cycle inside a room"),
        pytest.param(
            "inchdfs/cutting/splitter.py", LAZY, ("incoop.inchdfs.store", "packs"), id="cutting knows the store"
        ),
        pytest.param("contraction/parts/part.py", LAZY, ("incoop.contraction.tree", "node"), id="parts know the tree"),
        pytest.param("code/reads.py", LAZY, ("incoop.memo", "entry"), id="code knows what is stored"),
        pytest.param("engine/stored.py", LAZY, ("incoop.fronts.rdd", "steps"), id="the engine knows a way in"),
        pytest.param("fronts/mrjob/lines.py", LAZY, ("incoop.fronts.rdd", "steps"), id="two ways in"),
        pytest.param("query/types.py", LAZY, ("incoop.query.plan", "node"), id="types know plans"),
        pytest.param("nowhere/plan.py", "", None, id="a room without a place"),
    ],
)
def test_a_forbidden_import_is_found(copy: Path, module: str, line: str, imported: tuple[str, str] | None) -> None:
    path = copy / "incoop" / module
    before = path.read_text() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text((before or "") + (line.format(*imported) if imported else ""))
    try:
        done = _check(copy)
    finally:
        if before is None:
            shutil.rmtree(path.parent)
        else:
            path.write_text(before)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout
    assert imported is None or ".".join(imported) in done.stdout or "cycles" in done.stdout.lower()


#: Rooms that stages, runners and ways in stand on.
LOWER = ("base", "code", "contraction", "fingerprint", "inchdfs", "memo", "scheduler")


@pytest.mark.parametrize("room", LOWER)
def test_every_folder_says_what_lives_there_and_what_it_may_import(room: str) -> None:
    folder = (ROOT / "incoop" / room).resolve()
    for each in {folder, *(path.parent for path in folder.rglob("*.py"))}:
        said = ast.get_docstring(ast.parse((each / "__init__.py").read_text()))
        assert said is not None and "imports" in said.lower(), each


def test_no_two_classes_of_the_lower_rooms_have_one_name() -> None:
    homes: dict[str, list[str]] = {}
    for room in LOWER:
        for path in (ROOT / "incoop" / room).resolve().rglob("*.py"):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
