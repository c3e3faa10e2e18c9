"""What a Python file says that it needs: modules, files named in its text, programs.

Contract: everything that is spelled out is found: `import`, `from`, relative imports, `import_module("name")`, paths
that stand in the text as such. Where a module's name is computed, `computed` says so, and any neighbour may be meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

#: Functions that load code by a name or a path that may be computed.
_LOADERS = frozenset(
    {
        *("import_module", "__import__", "exec", "execfile", "run_path", "run_module", "spec_from_file_location"),
        *("find_spec", "iter_modules", "walk_packages", "load_module", "load_source", "entry_points", "find_loader"),
    }
)

#: Functions that start other programs.
_STARTERS = frozenset(
    {
        *("system", "popen", "Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
        *("execv", "execvp", "execve", "execvpe", "execl", "execlp", "spawnv", "spawnvp", "posix_spawn"),
    }
)

#: A constant that is longer is a text, not a path or a command.
_LONGEST = 4096


@dataclass(slots=True)
class Needs:
    """What a file's text asks for."""

    #: (how many dots, name) of each module, and of what may be one.
    modules: list[tuple[int, str]] = field(default_factory=list)
    #: Constants that may name files.
    texts: list[str] = field(default_factory=list)
    #: Some module's name is computed.
    computed: bool = False
    #: Other programs may be started: a constant may be one's name, or a command.
    starts_programs: bool = False


def needs_of(code: bytes | str) -> Needs | None:
    """What Python code needs; None when it is none.

    Example:
        >>> needs_of("from . import a; import b.c; open('stop.txt')")
        Needs(modules=[(1, ''), (1, 'a'), (0, 'b.c')], texts=['stop.txt'], computed=False, starts_programs=False)
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = Needs()
    passed_over = {id(node) for node in _not_read(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.modules += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found.modules.append((node.level, module))
            # What is imported from a package may be a module of it.
            found.modules += [
                (node.level, f"{module}.{alias.name}".lstrip(".")) for alias in node.names if alias.name != "*"
            ]
        elif isinstance(node, ast.Call):
            name = _called(node)
            found.starts_programs |= name in _STARTERS
            if name in _LOADERS:
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str) and name != "exec":
                    found.modules.append((0, first.value.lstrip(".")))
                else:
                    found.computed = True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed_over:
            found.texts += [node.value] if 0 < len(node.value) <= _LONGEST else []
    return found


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _not_read(tree: ast.Module) -> Iterator[ast.AST]:
    """Constants that name no file that is read: docstrings, and what is opened for writing."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            yield body[0].value
        if isinstance(node, ast.Call) and _called(node) == "open":
            modes = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "mode")]
            if any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax") for mode in modes):
                yield from node.args[:1]


def module_files(name: str, search: list[Path]) -> list[Path]:
    """The files that `import NAME` loads from the first folder (or zip) that has it, its packages first.

    An empty answer means that none has; a package without an `__init__` has no file of its own.
    """
    first, *rest = name.split(".")
    for place in search:
        if place.is_file():  # a zip or an egg counts as a whole
            if _in_archive(place, first):
                return [place]
            continue
        found = _one(place / first)
        if found is None:
            continue
        files = [found] if found.is_file() else []
        folder = place / first
        for part in rest:
            found = _one(folder / part)
            if found is None:
                break
            files += [found] if found.is_file() else []
            folder = folder / part
        return files or [place / first]
    return []


def _one(place: Path) -> Path | None:
    """The file of a module, or the folder of a package without one."""
    for found in (place / "__init__.py", *(place.with_name(place.name + end) for end in (*EXTENSION_SUFFIXES, ".py"))):
        if found.is_file():
            return found
    return place if place.is_dir() else None


def _in_archive(place: Path, name: str) -> bool:
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(place) as archive:
            return any(each.startswith((f"{name}/", f"{name}.")) for each in archive.namelist())
    except (BadZipFile, OSError):
        return False
