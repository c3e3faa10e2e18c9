"""The page on the architecture names every folder, and only folders that are there."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from .conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "architecture.md"
PACKAGES = ("incoop", "inchdfs", "contraction", "scheduler")


def folders() -> set[str]:
    """Folders that hold Python files, by their own place: links lead to others of these."""
    found = set()
    for package in PACKAGES:
        for path in (REPOSITORY / package).rglob("*.py"):
            folder = path.parent
            if folder.resolve() == folder and folder.name != "__pycache__":
                found.add(f"{folder.relative_to(REPOSITORY).as_posix()}/")
    return found


def test_every_folder_is_on_the_page_and_every_folder_on_the_page_is_there() -> None:
    rooms = PAGE.read_text().split("## Rooms")[1].split("Where does something new go?")[0]
    named = re.findall(r"^\| `([\w/]+/)` \|", rooms, re.MULTILINE)
    assert len(named) == len(set(named))
    assert set(named) == folders()


def test_every_folder_says_what_lives_there() -> None:
    for folder in folders():
        init = REPOSITORY / folder / "__init__.py"
        if init.exists():  # `watching` is no package: programs of any Python load it by its path
            assert init.read_text().lstrip().startswith('"""'), init


def test_files_that_the_page_links_to_are_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)", PAGE.read_text()):
        if "://" not in target:
            assert (PAGE.parent / target).exists(), target


def test_a_class_name_means_one_class() -> None:
    """Names that begin with an underscore are their file's own."""
    places = defaultdict(set)
    for package in PACKAGES:
        for path in (REPOSITORY / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].add(f"{path.resolve().relative_to(REPOSITORY)}:{node.lineno}")
    assert {name: sorted(found) for name, found in places.items() if len(found) > 1} == {}
