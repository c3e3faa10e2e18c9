"""The entry points: one hash for a callable, and the named parts it is made of.

Contract: equal fingerprints mean that the code, all it reaches and all it captured are equal in content, on any
machine, in any process, at any path. Each call looks at the world anew: nothing is remembered between calls, unless
they share `one_look`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from incoop.fingerprint import ambient, effects, patches
from incoop.fingerprint.expand import expand
from incoop.fingerprint.files import PathLike, dependency_digests
from incoop.fingerprint.graph import Node, digests
from incoop.fingerprint.instructions import all_names
from incoop.fingerprint.namespaces import IMPORTERS
from incoop.fingerprint.owners import owner
from incoop.fingerprint.tokens import combine, digest, reference, str_token
from incoop.fingerprint.walk import Walk

# Part of every fingerprint. Raise it with any change to what is hashed or how: old memo entries are then not found.
FORMAT_VERSION = 3

# Modules of Python's library that keep what they read of files for who asks again.
CACHING = frozenset({"linecache", "gettext", "zoneinfo"})


def fingerprint(
    obj: Any,
    *,
    version: str | None = None,
    depends_on: PathLike | Iterable[PathLike] = (),
    role: str = "callable",
) -> bytes:
    """Return 16 bytes that are equal exactly when the callable does the same with the same captured values.

    `version` replaces code and captured values by a statement of the user's; `depends_on` adds the content of files and
    folders; `role` ("mapper", "reducer") opens the path in error messages.

    Example:
        >>> def scale(x, factor=2): return x * factor
        >>> before = fingerprint(scale)
        >>> def scale(x, factor=2):
        ...     "Multiply."
        ...     return x * factor  # faster than adding
        >>> before == fingerprint(scale)
        True
        >>> def scale(x, factor=3): return x * factor
        >>> before == fingerprint(scale)
        False
    """
    if version is not None:
        body = combine(b"version", 0, [str_token(version), str_token(_place(obj))])
    else:
        root = walked(obj, role).root
        body = digests([root])[root]
    files = [reference(content) for _, content in dependency_digests(depends_on)]
    return combine(b"fingerprint", 0, [b"%d;" % FORMAT_VERSION, str_token(_python()), reference(body), *files])


def parts(
    obj: Any,
    *,
    version: str | None = None,
    depends_on: PathLike | Iterable[PathLike] = (),
    role: str = "callable",
) -> dict[str, bytes]:
    """Return the named parts of a fingerprint, each with the digest of itself without the parts it leads to.

    Keep the result with a run, and `changed_parts` tells later which function was edited. Keys are `kind module:name`.

    Example:
        >>> textutil = {"__name__": "textutil", "STOP": {"the", "a"}}
        >>> exec("def keep(word): return word not in STOP", textutil)
        >>> list(parts(textutil["keep"]))
        ['function textutil:keep', 'global textutil:STOP', 'python']
    """
    result = {"python": digest(_python().encode())}
    for path, content in dependency_digests(depends_on):
        result[f"file {path}"] = content
    if version is not None:
        result[f"version {_place(obj)}"] = digest(version.encode())
        return dict(sorted(result.items()))
    walk = walked(obj, role)
    names = _unique_names(walk.labelled)
    own = digests([walk.root, *names], cut=lambda node: str_token(names[node]) if node in names else None)
    result.update((name, own[node]) for node, name in names.items())
    if walk.root.tokens and not (isinstance(walk.root.tokens[0], Node) and walk.root.tokens[0].label):
        result[f"callable {_place(obj)}"] = own[walk.root]
    return dict(sorted(result.items()))


def classes_digest(*objects: Any) -> bytes:
    """Return one hash of all classes of the user's that these callables reach, and of what counts around them.

    A reducer can be handed objects that a mapper made, and call methods of classes that its own code never names; with
    decimals, it depends on the decimal context without naming it. Give this hash of the earlier stages' callables to
    the later stages' task ids.

    Example:
        >>> classes_digest(len) == classes_digest(sorted)
        True
    """
    found: set[bytes] = set()
    for obj in objects:
        walk = walked(obj)
        found.update(digests([*walk.classes, *walk.around]).values())
    return digest(str_token(_python()) + b"".join(sorted(found)))


def imports_by_name(*objects: Any) -> bool:
    """Say whether code that these callables reach may take modules by names that it computes.

    Example:
        >>> job = {"__name__": "job"}
        >>> exec("def plugin(name): return __import__('plugins.' + name)", job)
        >>> imports_by_name(job["plugin"]), imports_by_name(len)
        (True, False)
    """
    return any(all_names(reached.code) & IMPORTERS for obj in objects for reached in walked(obj).functions)


def reaches_caches(*objects: Any) -> bool:
    """Say whether code that these callables reach keeps what it gave, so that it may not run when it is called.

    Example:
        >>> from functools import cache
        >>> reaches_caches(cache(len)), reaches_caches(len)
        (True, False)
    """
    walks = [walked(obj) for obj in objects]
    return any(walk.caches or not walk.modules.isdisjoint(CACHING) for walk in walks)


def ambient_reached(*objects: Any) -> dict[str, ambient.State]:
    """Return the state that a worker must have to run these callables as this process would.

    It holds the lines that count for them, and those that cost nothing to set; a line that is not there is as Python
    starts. Values are plain, but for functions that a user put in (a format for pandas' numbers).

    Example:
        >>> import decimal
        >>> with decimal.localcontext(prec=50):
        ...     ambient_reached(decimal.Decimal)["decimal"]
        {'prec': 50}
    """
    found: dict[str, ambient.State] = {}
    for obj in objects:
        found |= walked(obj).ambient
    found |= {line.name: line.read() for line in ambient.TABLE if line.always_restored and line.name not in found}
    return {name: state for name, state in found.items() if state}


def modules_needed(*objects: Any) -> list[str]:
    """Return the modules of the user's whose top level counts for these callables: a worker must have imported them.

    Example:
        >>> modules_needed(len)
        []
    """
    names = {name for obj in objects for name in walked(obj).homes_read}
    return sorted(name for name in names if name != "__main__" and name in sys.modules and owner(name).kind == "user")


@contextmanager
def one_look() -> Iterator[None]:
    """Inside, each object is walked once, whatever is asked of it: a captured table of a million rows takes long."""
    token = _looked.set({})
    try:
        yield
    finally:
        _looked.reset(token)


#: Walks of this look by the identity of their objects, which the walks keep alive.
_looked: ContextVar[dict[int, Walk] | None] = ContextVar("looked", default=None)


def walked(obj: Any, role: str = "callable") -> Walk:
    """Walk until the walk is told all that reached code can read (docstrings, annotations, places)."""
    known = _looked.get()
    if known is not None and id(obj) in known:
        return known[id(obj)]
    readable: frozenset[str] = frozenset()
    while True:
        walk = Walk(expand, readable, surround=_surround)
        walk.run(obj, (role, getattr(obj, "__qualname__", None) or type(obj).__qualname__))
        if walk.found_readable <= readable:
            break
        readable = readable | walk.found_readable
    if known is not None:
        walk.keep(obj)
        known[id(obj)] = walk
    return walk


def _surround(walk: Walk) -> bool:
    # No short cut: each may add what the others have to look at.
    return any([effects.attach(walk), patches.attach(walk), ambient.attach(walk)])


def _unique_names(labelled: list[Node]) -> dict[Node, str]:
    """Return a name for each labelled node; equal labels (two lambdas) are numbered in the order of their digests."""
    groups: defaultdict[str, list[Node]] = defaultdict(list)
    for node in labelled:
        groups[str(node.label)].append(node)
    names: dict[Node, str] = {}
    full = digests(node for nodes in groups.values() if len(nodes) > 1 for node in nodes)
    for label, nodes in groups.items():
        ordered = sorted(nodes, key=lambda node: full.get(node, b""))
        names.update((node, label if not number else f"{label}#{number + 1}") for number, node in enumerate(ordered))
    return names


def _place(obj: Any) -> str:
    name = getattr(obj, "__qualname__", None) or type(obj).__qualname__
    return f"{getattr(obj, '__module__', None) or '?'}:{name}"


def _python() -> str:
    return f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
