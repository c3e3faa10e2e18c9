"""Find what a user put in the place of a thing of the standard library or of an installed package.

Contract: where code reaches a foreign module (`json.dumps(x)`), every function and class of the user's that stands
among the module's names counts, under the name of what it replaced, and so does every method that was replaced in the
classes of the standard library's modules, or in a class that the code itself names. A part is called `patched <name>`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from incoop.fingerprint.owners import module_of, owner
from incoop.fingerprint.walk import Walk

# Set for classes made by `class`, not for those written in C, which cannot be changed (Py_TPFLAGS_HEAPTYPE).
HEAP_TYPE = 1 << 9


def attach(walk: Walk) -> bool:
    """Add what was replaced in the foreign modules and classes that the walk reached; say whether any was added."""
    added = False
    while walk.unpatched:
        place = walk.unpatched.pop()
        for name, value in _replaced(place):
            key = f"patched {name}"
            node, new = walk.named_node(key, walk.root, ("patched", name))
            if new:
                node.tag = b"patched"
                walk.label(node, key)
                node.tokens = [key.encode() + b";", walk.token(value, node, None)]
                walk.add_around(node)
                added = True
    return added


def _replaced(place: str | type) -> Iterator[tuple[str, Any]]:
    if isinstance(place, type):
        yield from _in_class(place)
        return
    module = sys.modules.get(place)
    if not isinstance(module, ModuleType) or place == "builtins":  # who uses a builtin finds what stands for it
        return
    namespace = vars(module)
    top = place.partition(".")[0]
    in_python = owner(place).kind == "python"
    for name, value in list(namespace.items()):
        if type(value) is FunctionType:
            if value.__globals__ is not namespace and _is_users(value.__globals__.get("__name__"), top):
                yield f"{place}.{name}", value
        elif isinstance(value, type):
            if _is_users(module_of(value), top):
                yield f"{place}.{name}", value
            elif in_python and value.__flags__ & HEAP_TYPE:
                yield from _in_class(value)


def _in_class(cls: type) -> Iterator[tuple[str, Any]]:
    home = module_of(cls)
    top = home.partition(".")[0]
    for name, value in list(vars(cls).items()):
        kind = type(value)
        inner = value.__func__ if kind is staticmethod or kind is classmethod else value
        if type(inner) is FunctionType and _is_users(inner.__globals__.get("__name__"), top):
            yield f"{home}.{cls.__qualname__}.{name}", inner


def _is_users(module: Any, top: str) -> bool:
    """Say whether a module is the user's; most are of the package that is looked at, which is told by the name."""
    if not isinstance(module, str) or module.partition(".")[0] == top:
        return False
    # A named tuple's functions have a name in the place of a module's.
    return (module == "__main__" or module in sys.modules) and owner(module).kind == "user"
