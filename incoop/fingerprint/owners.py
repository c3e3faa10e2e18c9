"""Decide who owns a module: the standard library, an installed package, or the user.

Contract: the answer depends on where the module was loaded from, not on what the file is called, so a user's own
`statistics.py` is the user's. What the user owns is fingerprinted by content; the standard library by Python's minor
version; an installed package by name and version. When in doubt the answer is "the user": that costs time, while the
other mistake would reuse a stale result. Editable installs lie outside site-packages, so they are the user's.
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

# Folders that hold installed packages on every platform (Debian says dist-packages).
INSTALL_FOLDERS = frozenset({"site-packages", "dist-packages"})

# Spark ships its Python side in zip files on PYTHONPATH, without metadata; code of Spark is never the user's.
ALWAYS_PACKAGES = frozenset({"pyspark", "py4j"})

# The packages of this distribution: by version, even in a development checkout.
OWN_PACKAGES = frozenset({"incoop", "inchdfs", "contraction", "scheduler"})

_OWN_FOLDER = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Owner:
    """Who is responsible for a module's code."""

    #: "python", "package" or "user".
    kind: str
    #: The installed package, e.g. "numpy"; empty for the others.
    name: str = ""
    #: Its version; for an installed package without metadata, a hash of its files.
    version: str = ""


PYTHON = Owner("python")
USER = Owner("user")


def owner(module_name: str | None) -> Owner:
    """Return who owns the module of that name.

    Example:
        >>> owner("json.decoder").kind, owner("numpy.linalg").name, owner("__main__").kind, owner(None).kind
        ('python', 'numpy', 'user', 'user')
    """
    if not module_name or module_name == "__main__":
        return USER
    module = sys.modules.get(module_name)
    location = _location(module_name, module)
    top = module_name.partition(".")[0]
    return _owner_of(top, location)


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


@lru_cache(maxsize=4096)
def _owner_of(top: str, location: str | None) -> Owner:
    if location in (None, "built-in", "frozen"):
        return PYTHON if top in sys.stdlib_module_names else USER
    assert location is not None
    path = Path(location)
    if top in OWN_PACKAGES and _OWN_FOLDER in path.resolve().parents:
        return Owner("package", "incoop", _version_of("incoop") or "")
    if top in ALWAYS_PACKAGES:
        return Owner("package", top, _version_of(top) or str(getattr(sys.modules.get(top), "__version__", "")))
    folder = next((parent for parent in path.parents if parent.name in INSTALL_FOLDERS), None)
    if folder is not None:
        return _package(top, folder)
    if any(path.is_relative_to(root) for root in _stdlib_folders()):
        return PYTHON
    # `pip install --target`: a package and its record side by side, outside site-packages.
    home = path.parent if path.stem == top else next((p.parent for p in path.parents if p.name == top), None)
    if home is not None and any(_is_installed_in(name, home) for name in _distributions().get(top, ())):
        return _package(top, home)
    return USER


def _package(top: str, folder: Path) -> Owner:
    names = sorted(set(_distributions().get(top, ())))
    versions = [version for name in names if (version := _version_of(name))]
    if versions:
        return Owner("package", "+".join(names), "+".join(versions))
    # Copied into site-packages by hand: nothing records its version, so its files speak.
    target = folder / top
    for candidate in (target, target.with_suffix(".py")):
        if candidate.exists():
            return Owner("package", top, "files " + folder_digest(candidate).hex())
    return USER


def _is_installed_in(name: str, folder: Path) -> bool:
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    # A checkout has egg-info beside its code; only an installer writes RECORD.
    return found.read_text("RECORD") is not None and Path(str(found.locate_file(""))) == folder


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    return {top: list(names) for top, names in importlib.metadata.packages_distributions().items()}


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
