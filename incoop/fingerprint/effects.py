"""Add what the user's modules do at their top level to the fingerprint of code that reaches them.

Contract: a function depends on the effects of its home module, of every module of the user's that its code goes
through, and of those that these import at their top level, with the packages that hold them. Never of `__main__`, whose
top level does not run in workers. The statements count with all code and values that they reach; what has no content
there (a lock, a connection) counts by its type, since they ran already. A part is called `effects <module>`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType

from incoop.fingerprint.graph import Node, digests
from incoop.fingerprint.owners import owner
from incoop.fingerprint.tokens import reference
from incoop.fingerprint.top_level import top_level
from incoop.fingerprint.walk import Walk


def attach(walk: Walk) -> bool:
    """Add the effects of the modules that the walk reached, once each; say whether any was added."""
    added = False
    pending = sorted(walk.homes - walk.homes_read)
    while pending:
        name = pending.pop()
        module = sys.modules.get(name)
        if name in walk.homes_read:
            continue
        walk.homes_read.add(name)
        if name == "__main__" or not isinstance(module, ModuleType) or owner(name).kind != "user":
            continue
        found = top_level(module)
        pending += [above for above in _with_packages([name, *found.imports]) if above not in walk.homes_read]
        if found.effects is not None:
            node = Node(walk.root, ("effects of module", name))
            node.tag = b"effects"
            walk.label(node, f"effects {name}")
            function = FunctionType(found.effects, vars(module), "effects")
            node.tokens = [reference(_digest(walk, function))]
            walk.add_around(node)
            added = True
            pending += sorted(walk.homes - walk.homes_read)
    walk.homes |= walk.homes_read
    return added


def _with_packages(names: Iterable[str]) -> list[str]:
    """Return the names and those of the packages that hold them, whose top level runs first."""
    found: dict[str, None] = {}
    for name in names:
        parts = name.split(".")
        found.update(dict.fromkeys(".".join(parts[:length]) for length in range(1, len(parts) + 1)))
    return list(found)


def _digest(walk: Walk, function: FunctionType) -> bytes:
    """Return the digest of what the statements do, by a walk of its own that stops at nothing."""
    readable = walk.readable
    while True:
        inner = walk.lenient_copy(readable)
        root = inner.run(function, ("effects", None))
        walk.homes |= inner.homes
        walk.modules |= inner.modules
        walk.packages |= inner.packages
        if inner.found_readable <= readable:
            return digests([root])[root]
        readable = readable | inner.found_readable
