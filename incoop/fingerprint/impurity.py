"""Find calls in a callable's code that can give another result on another run.

Contract: the search covers every function of the user's that the callable reaches. It is by what a name means, not by
how it is spelled: a user's own function `open` is no file, and `from random import choice as pick` is a draw. It warns
and never forbids; it sees loads, not data flow, so an impure function handed in by data is not found.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from types import FunctionType, MethodType, ModuleType
from typing import Any

from incoop.fingerprint.expand import expand
from incoop.fingerprint.functions import process_objects
from incoop.fingerprint.impure_names import (
    ALIASES,
    ENVIRONMENT,
    FILE,
    HEARD,
    IMPURE,
    IMPURE_MODULES,
    PATH_METHODS,
    PURE_IN_MODULES,
    RANDOM,
    REMEDIES,
)
from incoop.fingerprint.instructions import ATTRIBUTE_LOADS, instructions
from incoop.fingerprint.owners import owner
from incoop.fingerprint.references import CAPTURED, GLOBAL, IMPORT, Use, uses
from incoop.fingerprint.walk import Reached, Walk


class ImpurityWarning(UserWarning):
    """A function of a memoized job reads something that is not among its inputs."""


@dataclass(frozen=True, slots=True, order=True)
class ImpureCall:
    """One impure call in one function."""

    #: The function that makes it, as `module.name`.
    function: str
    #: What it calls, under its canonical name, e.g. "random.choice".
    call: str
    #: "random", "clock", "environment", "file", "input", "network" or "process".
    kind: str
    #: Where in the function's file; a hint, so left out of equality.
    line: int | None = field(default=None, compare=False)

    @property
    def followed(self) -> bool:
        """Whether what is read is found out while the function runs, and counts."""
        return self.kind in (FILE, ENVIRONMENT) and self.call.rpartition(".")[2] in HEARD

    def __str__(self) -> str:
        place = f", line {self.line}" if self.line else ""
        return (
            f"{self.function} reads {self.call} ({self.kind}{place}): a reused result may differ from a fresh one. "
            f"To keep reuse, {REMEDIES[self.kind]}; or run the job with memoize=False."
        )


def impurities(obj: Any) -> list[ImpureCall]:
    """Return the impure calls that a callable can reach, sorted, each once.

    Example:
        >>> job = {"__name__": "job"}
        >>> exec("import time\\ndef stamp(x): return x, time.time()", job)
        >>> [(found.function, found.call, found.kind) for found in impurities(job["stamp"])]
        [('job.stamp', 'time.time', 'clock')]
    """
    walk = Walk(expand, lenient=True)
    walk.run(obj, ("callable", getattr(obj, "__qualname__", None) or type(obj).__qualname__))
    found = {call: None for reached in walk.functions for call in _in_function(reached)}
    for node, value in walk.foreign:
        name = _canonical(value)
        kind = IMPURE.get(name, ("", 0))
        if kind[1] > 1:  # handed over as a value: called elsewhere, with arguments unknown
            step = node
            while step.parent is not None and not (step.label or "").startswith("function "):
                step = step.parent
            holder = (step.label or "").partition(" ")[2].replace(":", ".") or _name(obj)
            found.setdefault(ImpureCall(holder, name, kind[0]))
    return sorted(found)


@dataclass
class ReportOnce:
    """Warn of each impure call once in the life of this object.

    Example:
        >>> report = ReportOnce()
        >>> with warnings.catch_warnings(record=True) as seen:
        ...     warnings.simplefilter("always")
        ...     _ = report([ImpureCall("job.stamp", "time.time", "clock")])
        ...     _ = report([ImpureCall("job.stamp", "time.time", "clock")])
        >>> len(seen)
        1
    """

    seen: set[ImpureCall] = field(default_factory=set)

    def __call__(self, calls: Iterable[ImpureCall], stacklevel: int = 2) -> list[ImpureCall]:
        """Warn of the calls that were not reported before, and return them."""
        fresh = [call for call in dict.fromkeys(calls) if call not in self.seen]
        self.seen.update(fresh)
        for call in fresh:
            warnings.warn(str(call), ImpurityWarning, stacklevel=stacklevel)
        return fresh


def _in_function(reached: Reached) -> Iterator[ImpureCall]:
    where = _name(reached.function)
    handles_paths = False
    for use in uses(reached.code):
        start, value = _meaning(reached.function, use)
        handles_paths = handles_paths or isinstance(value, PurePath) or start.startswith("pathlib")
        if isinstance(value, random.Random) and use.attributes and use.scope in (GLOBAL, CAPTURED):
            # A generator that outlives the call: what it draws depends on how often it drew before.
            yield ImpureCall(where, ".".join((use.root, *use.attributes)), RANDOM, use.line)
            continue
        if start:
            yield from _in_chain(where, start, use)
    if handles_paths:
        for step in instructions(reached.code):
            if step.op in ATTRIBUTE_LOADS and step.value in PATH_METHODS:
                yield ImpureCall(where, f"pathlib.Path.{step.value}", FILE, step.line)


def _in_chain(where: str, start: str, use: Use) -> Iterator[ImpureCall]:
    """Look at each prefix of a chain: `os.environ.get` is an access to `os.environ`."""
    name = start
    for position in range(len(use.attributes) + 1):
        if position:
            name = ALIASES.get(f"{name}.{use.attributes[position - 1]}", f"{name}.{use.attributes[position - 1]}")
        last = position == len(use.attributes)
        kind, most = IMPURE.get(name, ("", -1))
        if kind and (most > 1 or (last and use.arguments is not None and use.arguments <= most)):
            yield ImpureCall(where, name, kind, use.line)
            return
        module, _, member = name.rpartition(".")
        if last and use.scope != "loaded" and name in IMPURE_MODULES:
            yield ImpureCall(where, name, IMPURE_MODULES[name], use.line)
        elif module in IMPURE_MODULES and name not in IMPURE and member[:1].islower() and member not in PURE_IN_MODULES:
            yield ImpureCall(where, name, IMPURE_MODULES[module], use.line)
            return


def _meaning(fn: FunctionType, use: Use) -> tuple[str, Any]:
    """Return the canonical foreign name of a use's root (empty for the user's own things) and its value."""
    if use.scope == IMPORT:
        if use.level or owner(use.root).kind == "user":
            return "", None
        return ALIASES.get(use.root, use.root), sys.modules.get(use.root)
    value: Any = None
    if use.scope == GLOBAL:
        value = fn.__globals__.get(use.root, getattr(fn, "__builtins__", {}).get(use.root))
    elif use.scope == CAPTURED and use.root in fn.__code__.co_freevars:
        try:
            value = (fn.__closure__ or ())[fn.__code__.co_freevars.index(use.root)].cell_contents
        except (ValueError, IndexError):
            return "", None
    return _canonical(value), value


def _canonical(value: Any) -> str:
    """Return the name under which the tables know a foreign module, function or class; empty for anything else."""
    for name, known in process_objects():
        if value is known and value is not None:
            return name
    if isinstance(value, ModuleType):
        return "" if owner(value.__name__).kind == "user" else ALIASES.get(value.__name__, value.__name__)
    module: Any = getattr(value, "__module__", None)
    qualname: Any = getattr(value, "__qualname__", None)
    holder = getattr(value, "__self__", None)
    if isinstance(value, MethodType) and isinstance(holder, random.Random):
        # The module's functions are methods of one hidden generator; any other generator is a value.
        return f"random.{value.__name__}" if getattr(random, value.__name__, None) == value else ""
    if isinstance(holder, type):
        module, qualname = holder.__module__, f"{holder.__qualname__}.{getattr(value, '__name__', '')}"
    elif isinstance(holder, ModuleType):
        module = holder.__name__
    elif holder is not None and not isinstance(value, type):
        if type(holder).__module__.startswith("numpy.random"):  # the legacy functions of numpy, likewise
            return f"numpy.random.{getattr(value, '__name__', '')}"
        return ""
    if not isinstance(module, str) or not isinstance(qualname, str) or owner(module).kind == "user":
        return ""
    name = f"{ALIASES.get(module, module)}.{qualname}"
    return ALIASES.get(name, name)


def _name(obj: Any) -> str:
    module = getattr(obj, "__module__", None) or "?"
    return f"{module}.{getattr(obj, '__qualname__', None) or type(obj).__qualname__}"
