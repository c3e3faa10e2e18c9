"""A job's functions, packed for a worker, and the proof there that they are what was hashed.

Contract: `open` gives functions whose fingerprints are those that the driver computed, or raises: `OtherWorkerNeeded`
where this worker has other modules, `CodeDiffers` with the names of the parts that differ. After a task `doubts` says
whether running the functions changed them. What cannot be had by importing alone (a module's variable that the program
set) travels as an amendment, once a worker has said that it differs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from incoop.base.content_ids import content_id
from incoop.base.errors import IncoopError
from incoop.code import watch
from incoop.code.amendments import amend, amend_variables, amended_variables, amendments_of
from incoop.code.errors import CodeDiffers, KeepsState
from incoop.code.functions import Functions, Opened
from incoop.code.importer import shipped
from incoop.code.modules import ModuleSource, by_value, sources, with_imported
from incoop.fingerprint import (
    CannotFingerprint,
    PartChange,
    changed_parts,
    fingerprint,
    modules_needed,
    one_look,
    parts,
    reaches_caches,
)


@dataclass(frozen=True, slots=True)
class Shipment:
    """A value that can be sent."""

    job: str
    #: Equal ids open to equal functions.
    id: bytes
    payload: bytes
    modules: tuple[ModuleSource, ...]
    #: Where to look for modules that did not come.
    folders: tuple[str, ...]
    #: The working folder; empty to stay where the worker is, as PySpark's do.
    folder: str
    #: `sys.argv` of the program, which modules may read when they are imported; None for the worker's own.
    arguments: tuple[str, ...] | None
    handles: tuple[Any, ...]
    #: The fingerprint of each function by its role, in the order of `Functions.roles`; None: nothing to prove.
    expected: tuple[bytes | None, ...]
    #: Whether results are stored, so that what the functions read is noted.
    stores: bool
    #: Whether functions must not keep anything; not where nothing is stored, or a version stands for them.
    steady: bool
    #: Whether the functions reach a cache, which may give them what those of another job have read.
    caches: bool
    #: Environment variables that workers have otherwise than the driver; None: not set.
    variables: Mapping[str, str | None]
    #: Digests of what the functions are known to read: a worker that read something else may still hold it.
    read: Mapping[str, bytes]
    #: What the driver's functions are made of, to name what differs.
    parts: Mapping[str, bytes] = field(repr=False)

    def versions(self) -> dict[str, bytes]:
        """Names and digests of modules and files that a worker may hold, for `Workplaces.take`."""
        return {module.name: module.digest for module in self.modules} | dict(self.read)

    def open(self) -> Opened:
        """In a worker: the functions, new for every task; proved when this worker opens the shipment first."""
        from incoop.code import pickler

        if self.id in _stateful:
            raise _stateful[self.id]
        amend_variables(self.variables)
        if self.folder and Path(self.folder).is_dir():
            os.chdir(self.folder)
        if self.arguments is not None:
            sys.argv[:] = self.arguments
        watch.begin(importing=True)
        try:
            shipped.take(self.modules, self.folders)
            functions, classes, amendments = pickler.loads(self.payload, self.handles)
        finally:
            watch.imported(module.name for module in self.modules)
        _install_classes(classes)
        amend(amendments)
        global _clean, _unsteady
        proves = any(self.expected)
        doubt = partial(self._doubt, functions) if self.steady and proves else None
        if proves and self.id not in (_clean, _unsteady) and (differs := self._differing(functions)) is not None:
            raise CodeDiffers(differs)
        _clean = None  # until this task has shown that it changes nothing
        _unsteady = None if self.steady else self.id
        watched = self.stores and not functions.start_programs
        modules = frozenset(module.name for module in self.modules)
        caching = modules if self.caches else frozenset[str]()
        # A package may have read when another job imported it: who imports it after that reads nothing any more.
        read_by = with_imported(modules) if watch.reads_of_imports() else modules
        return Opened(functions, doubt, watched, read_by, caching)

    def _doubt(self, functions: Functions) -> IncoopError | None:
        """Look whether a task changed the functions."""
        global _clean
        differs = self._differing(functions)
        if differs is not None:
            _stateful[self.id] = KeepsState(self.job, differs)
            return _stateful[self.id]
        _clean = self.id
        return None

    def _differing(self, functions: Functions) -> tuple[str, ...] | None:
        """The parts in which functions are not those of the driver; None if they are."""
        found = prints_of(functions)
        if all(want is None or want == have for want, have in zip(self.expected, found, strict=True)):
            return None
        changes = changed_parts(self.parts, parts_of(functions))
        if not self.steady:
            # Such code may hold what has no fingerprint that lasts; what was pickled is what runs all the same.
            here = {module.name for module in self.modules}
            changes = [change for change in changes if change.kind != "callable" and change.module in {"", *here}]
            return tuple(change.key for change in changes) or None
        if any(change.kind == "module" and change.name == "__main__" for change in changes):
            # Code that may read every name of the program counts with all of them, and gets those that it writes.
            changes = [change for change in changes if not _is_left_behind(change)]
            return tuple(change.key for change in changes) or None
        return tuple(change.key for change in changes) or ("callable",)


#: The shipment that this process ran last and found unchanged: its modules are as they were proved to be.
_clean: bytes | None = None


#: The shipment that this process ran last, if it may keep something: what it changes after it was proved is its own.
#: What others change, or are given, in between is not.
_unsteady: bytes | None = None

#: Shipments that were found to keep state in this process, whose modules are not as they came any more.
_stateful: dict[bytes, KeepsState] = {}


def prints_of(functions: Functions) -> tuple[bytes | None, ...]:
    """The fingerprint of each function; None where there is no function."""
    return tuple(fingerprint(each, role=role) if each is not None else None for role, each in functions.roles())


def parts_of(functions: Functions) -> dict[str, bytes]:
    """What all functions are made of, by name."""
    found: dict[str, bytes] = {}
    for role, each in functions.roles():
        if each is not None:
            found |= parts(each, role=role)
    return found


def pack(
    job: str,
    functions: Functions,
    prove: bool,
    stores: bool = True,
    amended: Iterable[str] = (),
    read: Mapping[str, bytes] | None = None,
    folder: str = "",
    arguments: Iterable[str] | None = None,
    beside_pyspark: bool = False,
) -> Shipment:
    """Pack a job's functions.

    Without `prove` a version stands for them: they may hold what has no fingerprint, and may keep something. `amended`
    are the parts whose values travel, since importing does not give them; `read` is what the functions are known to
    read, `folder` where relative paths are from, `arguments` the program's own. `beside_pyspark`: to workers that get
    what PySpark packs, too, so that classes have to be the same for both.
    """
    from incoop.code import pickler  # cloudpickle, which a run that reuses everything does not wait for

    named, expected, acting, caches = _looked_at(functions, prove)
    amended = set(amended)
    amendments = amendments_of(functions, amended)
    variables = {name: os.environ.get(name) for name in sorted(amended_variables(amended))}
    payload, referred, handles = pickler.dumps((functions, _classes_by_value(named), amendments), beside_pyspark)
    modules = tuple(sources({*referred, *acting, *(_module_of(part) for part in named)}))
    id_ = content_id(b"".join([payload, *(module.digest for module in modules), repr((expected, variables)).encode()]))
    folders = tuple(folder for folder in sys.path if folder and not folder.endswith(".zip"))
    return Shipment(
        *(job, id_, payload, modules, folders, folder, None if arguments is None else tuple(arguments), handles),
        *(expected, stores, prove and stores, caches, variables),
        read=dict(read or {}),
        parts=named,
    )


def _looked_at(functions: Functions, prove: bool) -> tuple[dict[str, bytes], tuple[bytes | None, ...], list[str], bool]:
    """Parts of the functions; fingerprints; modules whose top level counts; whether caches are reached.

    Functions without a fingerprint are an error if they have to be proved, and else are let go as they are.
    """
    given = [each for _, each in functions.roles() if each is not None]
    with one_look():
        try:
            return parts_of(functions), prints_of(functions), modules_needed(*given), reaches_caches(*given)
        except CannotFingerprint:
            if prove:
                raise
            return {}, (None,) * len(list(functions.roles())), [], True


def _module_of(part: str) -> str:
    return part.partition(" ")[2].partition(":")[0]


def _is_left_behind(change: PartChange) -> bool:
    """Whether a part differs because only what is named of `__main__` travels."""
    of_main = change.module == "__main__" or (change.kind == "module" and change.name == "__main__")
    return change.kind == "callable" or (of_main and (change.kind == "module" or change.change == "removed"))


Classes = dict[tuple[str, str], type]


def _classes_by_value(named: Iterable[str]) -> Classes:
    """The classes that the functions reach whose modules do not travel, by module and name."""
    found: Classes = {}
    for part in named:
        kind, _, rest = part.partition(" ")
        home, _, name = rest.partition(":")
        module = sys.modules.get(home)
        if kind == "class" and module is not None and (home == "__main__" or by_value(module)):
            outer = name.partition(".")[0]
            if isinstance(value := vars(module).get(outer), type):
                found[home, outer] = value
    return found


def _install_classes(classes: Classes) -> None:
    """Let values of these classes be pickled: by the name of a module, which may not be there otherwise."""
    for (home, name), kind in classes.items():
        setattr(sys.modules.setdefault(home, ModuleType(home)), name, kind)
