"""What a module of the user's does at its top level besides defining names: registrations, settings, patches.

Contract: statements whose outcome is seen by who reads the names (imports, definitions, assignments of names, entries
of the user's own containers and attributes of the user's own objects, with the branches and loops around them) are left
out; so are docstrings, `if __name__ == "__main__"`, assertions, prints, logging and the search path. What is left is
compiled into one code object, free of layout and comments; most modules have none.
"""

from __future__ import annotations

import array
import ast
import builtins
import collections
import importlib.util
import os
import sys
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from incoop.fingerprint.owners import module_of, owner

#: Containers whose entries are their content, so that who reads them sees them.
CONTAINERS = (dict, list, set, collections.deque, bytearray, array.array)

#: What does not change a result when it is called; the path only says where modules are found.
HARMLESS = frozenset({"print", "logging", "warnings", "sys.path", "faulthandler", "gc", "site"})

_UNKNOWN = object()

_DEFINITIONS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Pass,
    ast.Assert,
    ast.Raise,
    ast.Global,
    ast.Break,
    ast.Continue,
)


@dataclass(frozen=True, slots=True)
class TopLevel:
    """What the source of a module says."""

    #: The statements that do something; None if there are none.
    effects: CodeType | None
    #: Names of the modules that are imported at the top level, those of the standard library included.
    imports: tuple[str, ...]


NOTHING = TopLevel(None, ())

#: By module name: what tells one source of it from the next, and what it says.
_KNOWN: dict[str, tuple[tuple[Any, ...], TopLevel]] = {}


def top_level(module: ModuleType) -> TopLevel:
    """Return what the top level of a module does, read once for each source of it."""
    spec = getattr(module, "__spec__", None)
    loader = getattr(spec, "loader", None)
    stamp = (module, spec, _stamp(getattr(module, "__file__", None)))
    known = _KNOWN.get(module.__name__)
    if known is None or known[0][0] is not module or known[0][1] is not spec or known[0][2] != stamp[2]:
        known = _KNOWN[module.__name__] = stamp, _read(module, loader)
    return known[1]


def _stamp(file: Any) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116 -- asked for every module at every fingerprint
    except (OSError, TypeError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(module: ModuleType, loader: Any) -> TopLevel:
    source = None
    try:
        if hasattr(loader, "get_source"):
            source = loader.get_source(module.__name__)
        if source is None and hasattr(loader, "get_code"):
            code = loader.get_code(module.__name__)  # compiled, and its source is not there: all of it counts
            return TopLevel(code, ())
        tree = ast.parse(source or "")
    except (ImportError, OSError, SyntaxError, ValueError):
        return NOTHING  # made by hand, or its file is gone: what it defines is all there is
    return TopLevel(_effects(module, tree), tuple(dict.fromkeys(_imports(module, tree.body))))


def _effects(module: ModuleType, tree: ast.Module) -> CodeType | None:
    kept = _Effects(vars(module)).of(tree.body)
    if not kept:
        return None
    return compile(ast.Module(body=kept, type_ignores=[]), "<top level>", "exec", dont_inherit=True)


class _Effects:
    """Chooses the statements that do something that their names do not show."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace

    def of(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [kept for statement in body if (kept := self._kept(statement)) is not None]

    def _kept(self, node: ast.stmt) -> ast.stmt | None:
        if isinstance(node, _DEFINITIONS):
            return None
        if isinstance(node, ast.Expr):
            return node if self._acts(node.value) else None
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
            return None if all(self._is_seen(target) for target in targets) else node
        if isinstance(node, ast.If) and (_is_main_check(node.test) or _is_type_checking(node.test)):
            rest = self.of(node.orelse)
            kept = ast.If(node.test, [_nothing(node)], rest)
            return ast.copy_location(kept, node) if rest else None
        return self._kept_branches(node)

    def _kept_branches(self, node: ast.stmt) -> ast.stmt | None:
        """Keep of a compound statement the branches that do something; the statement itself if any does."""
        found = False
        changed: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                changed[name] = self.of(value)
                found = found or bool(changed[name])
                if value and not changed[name] and name == "body":
                    # What may fail decides whether a handler runs.
                    changed[name] = value if isinstance(node, ast.Try | ast.TryStar) else [_nothing(node)]
            elif name in ("handlers", "cases"):
                inner = [self._kept_branches(part) for part in value]
                found = found or any(part is not None for part in inner)
                changed[name] = [
                    part if part is not None else _emptied(old) for part, old in zip(inner, value, strict=True)
                ]
        if not found:
            return None
        if isinstance(node, ast.Try | ast.TryStar) and not (changed["handlers"] or changed["finalbody"]):
            changed["finalbody"] = [_nothing(node)]
        return ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), **changed}), node)

    def _acts(self, node: ast.expr) -> bool:
        """Say whether an expression that stands alone does something that nobody sees in a name."""
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
            return False
        if not isinstance(node, ast.Call):
            return True
        if _dotted(node.func) in HARMLESS or any(_dotted(node.func).startswith(f"{name}.") for name in HARMLESS):
            return False
        if isinstance(node.func, ast.Attribute):
            holder = self._value(node.func.value)
            return not isinstance(holder, CONTAINERS) and not _is_logger(holder)
        return True

    def _is_seen(self, target: ast.expr) -> bool:
        """Say whether who reads names sees what is stored here."""
        if isinstance(target, ast.Name):
            return True
        if isinstance(target, ast.Tuple | ast.List):
            return all(self._is_seen(part) for part in target.elts)
        if isinstance(target, ast.Starred):
            return self._is_seen(target.value)
        if isinstance(target, ast.Subscript):
            return isinstance(self._value(target.value), CONTAINERS)
        if isinstance(target, ast.Attribute):
            return _is_users(self._value(target.value))
        return False

    def _value(self, node: ast.expr) -> Any:
        """Return what an expression of names, attributes and entries stands for now, without running any code."""
        if isinstance(node, ast.Name):
            return self._namespace.get(node.id, getattr(builtins, node.id, _UNKNOWN))
        if isinstance(node, ast.Attribute):
            holder = self._value(node.value)
            if isinstance(holder, ModuleType):
                return vars(holder).get(node.attr, _UNKNOWN)
            return _plain_attribute(holder, node.attr)
        if isinstance(node, ast.Subscript):  # an entry of a container is seen in the container
            holder = self._value(node.value)
            return holder if isinstance(holder, CONTAINERS) else _UNKNOWN
        return _UNKNOWN


def _nothing(node: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.Pass(), node)


def _emptied(node: Any) -> Any:
    fields = {**dict(ast.iter_fields(node)), "body": [_nothing(node.body[0])]}
    return ast.copy_location(type(node)(**fields), node)


def _plain_attribute(holder: Any, name: str) -> Any:
    return vars(holder).get(name, _UNKNOWN) if hasattr(holder, "__dict__") else _UNKNOWN


def _is_users(value: Any) -> bool:
    """Say whether a module, class, function or other object is the user's, so that its attributes count."""
    if value is _UNKNOWN:
        return False
    if isinstance(value, ModuleType):
        return owner(value.__name__).kind == "user"
    if isinstance(value, type):
        return owner(module_of(value)).kind == "user"
    if hasattr(value, "__globals__"):
        return owner(value.__globals__.get("__name__")).kind == "user"
    return owner(module_of(type(value))).kind == "user"


def _is_logger(value: Any) -> bool:
    return module_of(type(value)).partition(".")[0] == "logging"


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f"{_dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _is_main_check(test: ast.expr) -> bool:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides) and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )


def _is_type_checking(test: ast.expr) -> bool:
    return _dotted(test).rpartition(".")[2] == "TYPE_CHECKING"


def _imports(module: ModuleType, body: list[ast.stmt]) -> list[str]:
    """Return the names of the modules that statements import, those in branches included, with their packages."""
    found: list[str] = []
    pending: list[Any] = list(body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            if node.level:
                try:
                    name = importlib.util.resolve_name(name, getattr(module, "__package__", None))
                except ImportError:
                    continue
            found += [name, *(f"{name}.{alias.name}" for alias in node.names if f"{name}.{alias.name}" in sys.modules)]
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            if not (isinstance(node, ast.If) and (_is_main_check(node.test) or _is_type_checking(node.test))):
                pending += list(ast.iter_child_nodes(node))
            else:
                pending += node.orelse
    return found
