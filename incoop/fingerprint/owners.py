"""Decide who owns a module: the standard library, an installed package, or the user.

Contract: the answer depends on where the module was loaded from, not on what the file is called, so a user's own
`statistics.py` is the user's. What the user owns is fingerprinted by content; the standard library by Python's minor
version; an installed package by name, version and what its installer recorded (`incoop.fingerprint.packages`). When in
doubt the answer is "the user": that costs time, while the other mistake would reuse a stale result. Editable installs
lie outside site-packages, so they are the user's.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from incoop.fingerprint.files import folder_digest
from incoop.fingerprint.packages import installed

# Folders that hold installed packages on every platform (Debian says dist-packages).
INSTALL_FOLDERS = frozenset({"site-packages", "dist-packages"})

# Spark ships its Python side in zip files on PYTHONPATH, without metadata; code of Spark is never the user's.
ALWAYS_PACKAGES = frozenset({"pyspark", "py4j"})

# This distribution's package: by version, even in a development checkout, but for the rooms that users' functions call
# for what they give: results depend on these as on a user's own code.
OWN_PACKAGES = frozenset({"incoop"})
CALLED_ROOMS = ("logs", "sketches")

_OWN_FOLDER = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Owner:
    """Who is responsible for a module's code."""

    #: "python", "package" or "user".
    kind: str
    #: The installed package, e.g. "numpy"; empty for the others.
    name: str = ""
    version: str = ""
    #: A digest of what its installer recorded; of its files, if nothing is recorded. Empty for Spark and the engine.
    content: str = ""


PYTHON = Owner("python")
USER = Owner("user")


#: By top-level name and file: the package as it was loaded then, and the owner. See `owner`.
_KNOWN: dict[tuple[str, str | None], tuple[object, Owner]] = {}

#: The same by top-level name and folder, so that all modules of a package have one owner.
_PACKAGES: dict[tuple[str, Path], tuple[object, Owner | None]] = {}


def owner(module_name: str | None) -> Owner:
    """Return who owns the module of that name.

    What is loaded is what counts: a package that is loaded is looked at once, and again when it was loaded again. If
    another one is installed in its place meanwhile, this process still runs the old one, and says so; a process that
    starts later says otherwise.

    Example:
        >>> owner("json.decoder").kind, owner("numpy.linalg").name, owner("__main__").kind, owner(None).kind
        ('python', 'numpy', 'user', 'user')
    """
    if not module_name or module_name == "__main__":
        return USER
    module = sys.modules.get(module_name)
    location = _location(module_name, module)
    top = module_name.partition(".")[0]
    loaded = _loaded(top)
    known = _KNOWN.get((top, location))
    if known is None or known[0] is not loaded or (loaded is None and known[1].kind == "package"):
        known = _KNOWN[top, location] = loaded, _owner_of(top, location)
    return known[1]


def module_of(cls: type) -> str:
    """Return the module that a class names; empty for the few classes written in C that have something else there."""
    module: object = cls.__module__
    return module if isinstance(module, str) else ""


def _location(name: str, module: ModuleType | None) -> str | None:
    """Return the file or folder of a module; a module that is not loaded is looked up by its top package."""
    if module is None:
        top = name.partition(".")[0]
        if top in sys.modules:
            return _location(top, sys.modules[top])
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return None
    else:
        spec = getattr(module, "__spec__", None)
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            return file
    if spec is None:
        return None
    if spec.submodule_search_locations:  # a namespace package has folders and no file
        return next(iter(spec.submodule_search_locations), None)
    return spec.origin


def _owner_of(top: str, location: str | None) -> Owner:
    if location in (None, "built-in", "frozen"):
        return PYTHON if top in sys.stdlib_module_names else USER
    assert location is not None
    path = Path(location)
    if top in OWN_PACKAGES and _OWN_FOLDER in path.resolve().parents:
        return Owner("package", "incoop", _version_of("incoop") or "", _content_of_ours(path.resolve()))
    if top in ALWAYS_PACKAGES:
        return Owner("package", top, _version_of(top) or str(getattr(sys.modules.get(top), "__version__", "")))
    folder = next((parent for parent in path.parents if parent.name in INSTALL_FOLDERS), None)
    if folder is not None:
        return _package(top, folder) or _without_metadata(top, folder)
    if any(path.is_relative_to(root) for root in _stdlib_folders()):
        return PYTHON
    # `pip install --target`: a package and its record side by side, outside site-packages.
    home = path.parent if path.stem == top else next((p.parent for p in path.parents if p.name == top), None)
    found = _package(top, home, only_recorded=True) if home is not None else None
    return found or USER


def _content_of_ours(path: Path) -> str:
    """The content of a room of ours that users' functions call; empty for the others."""
    for room in CALLED_ROOMS:
        folder = _OWN_FOLDER / "incoop" / room
        if folder in path.parents:
            return "files " + folder_digest(folder).hex()
    return ""


def _package(top: str, folder: Path, only_recorded: bool = False) -> Owner | None:
    """Return the installed package that `folder` has under this name, as it was when it was loaded."""
    loaded = _loaded(top)
    known = _PACKAGES.get((top, folder))
    if known is None or known[0] is not loaded or loaded is None:
        found = installed(top, folder, only_recorded)
        package = None if found is None else Owner("package", found.name or top, found.version, found.content)
        known = _PACKAGES[top, folder] = loaded, package
    return known[1]


def _without_metadata(top: str, folder: Path) -> Owner:
    """Return the owner of what was copied into site-packages by hand: nothing is recorded, so its files speak."""
    target = folder / top
    for candidate in (target, target.with_suffix(".py")):
        if candidate.exists():
            return Owner("package", top, "", "files " + folder_digest(candidate).hex())
    return USER


def _loaded(top: str) -> object:
    """Return what tells one loading of a module from the next; None while it is not loaded."""
    return getattr(sys.modules.get(top), "__spec__", None)


@lru_cache(maxsize=1)
def _stdlib_folders() -> tuple[Path, ...]:
    names = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    return tuple(Path(name) for name in names if name)


@lru_cache(maxsize=512)
def _version_of(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
