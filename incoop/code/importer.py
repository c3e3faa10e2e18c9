"""In a worker: import the user's modules from what came with a shipment, before anything on `sys.path`.

Contract: a module of a shipment is imported from its source there, under its own name, with the `__file__` it had on
the driver. A worker never holds two versions of one module, and never replaces one: what a module did when it was
imported cannot be undone. Who needs another version needs another worker (`incoop.code.workplaces`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from incoop.code.errors import ModuleNotLoaded, OtherWorkerNeeded
from incoop.code.modules import ModuleSource


class ShippedLoader(SourceFileLoader):
    """Loads one module from the source that came; files beside it are read where they are."""

    #: Says that the module is what its source says (`incoop.code.modules`).
    is_incoop = True

    def __init__(self, module: ModuleSource) -> None:
        super().__init__(module.name, module.path)
        self.source, self.digest, self.optimize = module.source, module.digest, module.optimize

    def get_code(self, fullname: str) -> CodeType | None:
        return compile(self.source, self.path, "exec", dont_inherit=True, optimize=self.optimize)

    def get_data(self, path: Any) -> bytes:
        return self.source if str(path) == str(self.path) else super().get_data(path)


class ShippedModules(MetaPathFinder):
    """Finds modules that came."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleSource] = {}
        self.importing = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        module = self._modules.get(fullname)
        if module is None:
            return None
        search = list(module.search) if module.search is not None else None
        if not module.path:  # a package of folders without a file
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = search
            return spec
        return spec_from_file_location(
            fullname, module.path, loader=ShippedLoader(module), submodule_search_locations=search
        )

    def take(self, modules: Iterable[ModuleSource], folders: Iterable[str]) -> None:
        """Take modules in and import them in their order; `folders` are searched for what did not come."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        sys.path += [folder for folder in folders if folder not in sys.path]
        modules = list(modules)
        for module in modules:
            if not self._holds(module):
                raise OtherWorkerNeeded(module.name)
        self._modules.update((module.name, module) for module in modules)
        self.importing = True
        try:
            for module in modules:
                if module.name not in sys.modules:
                    _import(module.name)
        finally:
            self.importing = False

    def _holds(self, module: ModuleSource) -> bool:
        """Whether the module is here already as it came, or not here at all."""
        loaded = sys.modules.get(module.name)
        if loaded is None:
            return True
        loader = getattr(getattr(loaded, "__spec__", None), "loader", None)
        if isinstance(loader, ShippedLoader):
            return loader.digest == module.digest
        if not module.path:
            return True
        # Imported by something else in this worker: the same, if its file is. What differs then is found by the proof.
        file = getattr(loaded, "__file__", None)
        try:
            return isinstance(file, str) and Path(file).read_bytes() == module.source
        except OSError:
            return False


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:  # of a module that parses arguments
        raise ModuleNotLoaded(name, f"{type(error).__name__}: {error}") from error


#: The one of this process.
shipped = ShippedModules()


def importing() -> bool:
    """Whether modules that came are being imported, so that what they do at their top level is done here, too."""
    return shipped.importing
