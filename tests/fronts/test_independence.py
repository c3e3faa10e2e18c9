"""Ways in do not know each other, and nothing below knows them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import incoop

ROOT = Path(incoop.__file__).parent
WAYS_IN = ("rdd", "streaming", "mrjob")


def imported_by(folder: Path) -> set[str]:
    """Every module that the files of a folder import, also inside functions."""
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{file} has a relative import"
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def below(package: str, names: set[str]) -> set[str]:
    return {name for name in names if f"{name}.".startswith(f"{package}.")}


@pytest.mark.parametrize("way", WAYS_IN)
def test_no_way_in_imports_another_nor_the_command_line(way: str) -> None:
    imported = imported_by(ROOT / "fronts" / way)
    for other in WAYS_IN:
        assert other == way or not below(f"incoop.fronts.{other}", imported)
    assert not below("incoop.cli", imported)


def test_what_ways_in_share_imports_none_of_them() -> None:
    assert below("incoop.fronts", imported_by(ROOT / "fronts/common")) == below(
        "incoop.fronts.common", imported_by(ROOT / "fronts/common")
    )


@pytest.mark.parametrize("room", ["base", "code", "contraction", "engine", "fingerprint", "inchdfs", "memo"])
def test_nothing_below_imports_a_way_in(room: str) -> None:
    imported = imported_by((ROOT / room).resolve())
    assert not below("incoop.fronts", imported) | below("incoop.cli", imported)


def test_streaming_needs_no_pyspark_to_be_imported() -> None:
    assert not below("pyspark", imported_by(ROOT / "fronts/streaming"))
