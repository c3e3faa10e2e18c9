"""The user's modules that a job needs, as they are loaded here, by content.

Contract: a module that was loaded from a source file travels as that source, with the user's modules that it imports;
their order is the one in which they were begun here. A module that is still being loaded, that has no source, or whose
loader makes other code of it than Python would (pytest rewrites assertions) does not travel: what is used of it is
pickled by value. A compiled module is found on `sys.path`, or not at all.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import zipimport
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader, SourceFileLoader
from pathlib import Path
from types import ModuleType

from incoop.base.content_ids import content_id
from incoop.fingerprint.owners import owner


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """One module on its way."""

    name: str
    #: `__file__` here: for messages, and for files that lie beside it.
    path: str
    #: `__path__` of a package.
    search: tuple[str, ...] | None
    source: bytes
    #: How Python compiles here (`-O`): whether assertions are left out.
    optimize: int
    digest: bytes


def user_modules() -> dict[str, ModuleType]:
    """The user's modules that are loaded, in the order in which they were begun; without `__main__`."""
    found = {}
    for name, module in list(sys.modules.items()):
        if _foreign.get(name) is module or name in ("__main__", "__mp_main__") or not isinstance(module, ModuleType):
            continue
        if owner(name).kind == "user":
            found[name] = module
        else:
            _foreign[name] = module
    return found


#: Modules that are not the user's: asked once, since there are a thousand of them.
_foreign: dict[str, ModuleType] = {}


def travels(module: ModuleType) -> bool:
    """Whether the module can be imported elsewhere from its source."""
    return not _is_initializing(module) and (_is_namespace(module) or _source_of(module) is not None)


def by_value(module: ModuleType) -> bool:
    """Whether what is used of the module has to be pickled by value."""
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    return not travels(module) and not (isinstance(loader, ExtensionFileLoader) and not _is_initializing(module))


def sources(names: Iterable[str]) -> list[ModuleSource]:
    """The modules of these names that travel, all that they import, and the packages that they are in."""
    loaded = user_modules()
    wanted: set[str] = set()
    todo = [name for name in names if name in loaded]
    while todo:
        name = todo.pop()
        if name in wanted or not travels(loaded[name]):
            continue
        wanted.add(name)
        more = {name.rpartition(".")[0], *_imports(loaded[name])}
        todo += [each for each in more if each in loaded]
    return [_travelling(name, module) for name, module in loaded.items() if name in wanted]


def with_imported(names: frozenset[str]) -> frozenset[str]:
    """These modules, and what their sources import by name, whoever's that is."""
    loaded = [sys.modules[name] for name in names if name in sys.modules]
    return names.union(*map(_imports, loaded))


def _is_initializing(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _is_namespace(module: ModuleType) -> bool:
    return getattr(module, "__file__", None) is None and hasattr(module, "__path__")


def _travelling(name: str, module: ModuleType) -> ModuleSource:
    source = _source_of(module) or b""
    path = getattr(module, "__file__", None) or ""
    search = tuple(module.__path__) if hasattr(module, "__path__") else None
    digest = content_id(b"\0".join([path.encode(), repr(search).encode(), source]))
    return ModuleSource(name, path, search, source, sys.flags.optimize, digest)


def _source_of(module: ModuleType) -> bytes | None:
    """The source that Python would compile to get this module; None where there is none."""
    loader, path = getattr(getattr(module, "__spec__", None), "loader", None), getattr(module, "__file__", None)
    if isinstance(loader, zipimport.zipimporter):
        text = loader.get_source(module.__name__)
        return text.encode() if text is not None else None
    # Exactly this class, or one that says that it loads what travelled: a subclass may compile something else.
    if not (type(loader) is SourceFileLoader or getattr(loader, "is_incoop", False)) or not isinstance(path, str):
        return None
    known = getattr(loader, "source", None)
    return known if isinstance(known, bytes) else _read(Path(path))


def _read(path: Path) -> bytes | None:
    try:
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)
        known = _texts.get(path)
        if known is None or known[0] != stamp:
            known = _texts[path] = (stamp, path.read_bytes())
        return known[1]
    except OSError:
        return None


#: What was read of each file, with its times then: a job's modules are looked at in every run.
_texts: dict[Path, tuple[tuple[int, ...], bytes]] = {}


def _imports(module: ModuleType) -> set[str]:
    """Names of modules that the source may import, and of things in them that may be modules."""
    source = _source_of(module)
    if source is None:
        return set()
    key = module.__name__, source
    if key not in _imported:
        if len(_imported) > _REMEMBERED:
            _imported.clear()
        _imported[key] = set(_named(source, module))
    return _imported[key]


_REMEMBERED = 4096

_imported: dict[tuple[str, bytes], set[str]] = {}


def _named(source: bytes, module: ModuleType) -> Iterator[str]:
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    try:
        tree = ast.parse(source)
    except SyntaxError:  # saved after it was loaded; the worker will say so
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            try:
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:
                continue
            yield from _with_parents(base)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]
