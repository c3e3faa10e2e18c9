"""Read objects written in C that say nothing of their content through `__reduce_ex__`, and those that say too much.

Contract: an object counts by what code can get out of it: a compiled struct by its format, a hash by its digest so far,
a weak reference by what it refers to, a context variable by its value now. What has no such content (a lock, a socket,
a writer) has no line here and is refused by `expand_object`.
"""

from __future__ import annotations

import _csv
import contextvars
import decimal
import functools
import gc
import itertools
import json.scanner
import re
import struct
import types
import unicodedata
import warnings
import weakref
from collections.abc import Callable
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any

from incoop.fingerprint.functions import compiled_token, foreign_by_name
from incoop.fingerprint.graph import Node
from incoop.fingerprint.owners import module_of, owner
from incoop.fingerprint.tokens import bytes_token, str_token
from incoop.fingerprint.values import expand_object
from incoop.fingerprint.walk import SIGNALS, Walk

Rule = Callable[[Walk, Node, Any], None]

_UNSET = b"unset"

# Where hashes are implemented; `hashlib` picks one of them for each algorithm.
HASH_MODULES = frozenset({"_hashlib", "_blake2", "_md5", "_sha1", "_sha2", "_sha256", "_sha512", "_sha3"})

# Algorithms without a length of their own are told apart by this many bytes.
SHAKE_BYTES = 32


def content(*names: str) -> Rule:
    """Return a reader for objects that these attributes describe."""

    def expand(walk: Walk, node: Node, obj: Any) -> None:
        node.tag = b"content"
        node.tokens = [walk.token(type(obj), node, None)]
        for name in names:
            value = getattr(obj, name)
            walk.keep(value)
            node.tokens.append(walk.token(value, node, ("attribute", name)))

    return expand


def _path(walk: Walk, node: Node, obj: PurePath) -> None:
    """Read a path as it is written; Python 3.13 also keeps the pieces that it was made of."""
    node.tag = b"path"
    node.tokens = [walk.token(type(obj), node, None), str_token(str(obj))]


def _listed(walk: Walk, node: Node, obj: Any) -> None:
    """Read a view of a dict, or a collection of weak references, by its entries in order."""
    _as_list(walk, node, obj, list(obj))


def _listed_items(walk: Walk, node: Node, obj: Any) -> None:
    _as_list(walk, node, obj, list(obj.items()))


def _as_list(walk: Walk, node: Node, obj: Any, entries: list[Any]) -> None:
    walk.keep(entries)
    node.tag = b"listed"
    node.tokens = [walk.token(type(obj), node, None), walk.token(entries, node, None)]


def _weak_set(walk: Walk, node: Node, obj: Any) -> None:
    _as_list(walk, node, obj, [set(obj)])


def _reference(walk: Walk, node: Node, obj: Any) -> None:
    """Read a weak reference by what it refers to, as long as that lives."""
    target = obj()
    node.tag = b"reference"
    node.tokens = [_UNSET if target is None else walk.token(target, node, ("referent", None))]


def _context_variable(walk: Walk, node: Node, obj: contextvars.ContextVar[Any]) -> None:
    """Read a context variable by its name and its value here and now."""
    node.tag = b"contextvar"
    try:
        value = walk.token(obj.get(), node, ("value", None))
    except LookupError:
        value = _UNSET
    node.tokens = [str_token(obj.name), value]


def _decimal_context(walk: Walk, node: Node, obj: decimal.Context) -> None:
    """Read a decimal context by its settings; what it has signalled so far counts where code may look at that."""
    content("prec", "rounding", "Emin", "Emax", "capitals", "clamp")(walk, node, obj)
    for name in ("traps", "flags") if SIGNALS in walk.readable else ("traps",):
        signals = sorted(signal.__name__ for signal, is_set in getattr(obj, name).items() if is_set)
        node.tokens.append(str_token(f"{name} {' '.join(signals)}"))


def _key_of_comparison(walk: Walk, node: Node, obj: Any) -> None:
    """Read what `functools.cmp_to_key` gives: the comparison, and the object, if it has one by now."""
    held = [value for value in gc.get_referents(obj) if value is not type(obj)]
    _as_list(walk, node, obj, held)


def _iterator(walk: Walk, node: Node, obj: Any) -> None:
    """Read an iterator of `itertools` by its state, of whose reading Python 3.12 and 3.13 warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        expand_object(walk, node, obj)


def expand_hash(walk: Walk, node: Node, obj: Any) -> None:
    """Read a hash by its algorithm and what it gives for the bytes it was fed."""
    node.tag = b"hash"
    digest = obj.digest() if obj.digest_size else obj.digest(SHAKE_BYTES)
    node.tokens = [str_token(obj.name), bytes_token(digest)]


def is_hash(obj: Any) -> bool:
    """Say whether `obj` is what `hashlib` gives."""
    return module_of(type(obj)) in HASH_MODULES and hasattr(obj, "digest_size")


def expand_compiled_function(walk: Walk, node: Node, obj: Any) -> None:
    """Read a function that Cython compiled: by name, as one written in C; the user's by its file."""
    module = str(obj.__module__)
    if owner(module).kind != "user":
        foreign_by_name(walk, node, obj, module, obj.__qualname__)
        return
    node.tag = b"compiled"
    node.tokens = [str_token(obj.__qualname__), compiled_token(walk, node, obj, module)]


def is_compiled_function(obj: Any) -> bool:
    """Say whether `obj` is a function of Cython's, whose type is made anew in every compiled module."""
    return type(obj).__name__ == "cython_function_or_method"


_MATCH = content("re", "string", "pos", "endpos", "regs")
_DIALECT = ("delimiter", "doublequote", "escapechar", "lineterminator", "quotechar", "quoting", "skipinitialspace")
_SCANNER = ("strict", "object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant")

RULES: dict[type, Rule] = {
    struct.Struct: content("format"),
    decimal.Context: _decimal_context,
    **dict.fromkeys((PurePosixPath, PureWindowsPath, PosixPath, WindowsPath), _path),
    re.Match: _MATCH,
    _csv.Dialect: content(*_DIALECT, "strict"),
    type(unicodedata.ucd_3_2_0): content("unidata_version"),
    type({}.values()): _listed,
    type({}.items()): _listed,
    weakref.ReferenceType: _reference,
    weakref.WeakMethod: _reference,
    weakref.KeyedRef: _reference,
    weakref.WeakSet: _weak_set,
    weakref.WeakKeyDictionary: _listed_items,
    weakref.WeakValueDictionary: _listed_items,
    contextvars.ContextVar: _context_variable,
    type(functools.cmp_to_key(max)): _key_of_comparison,
    **{kind: _iterator for kind in vars(itertools).values() if isinstance(kind, type)},
}
_make_scanner = getattr(json.scanner, "c_make_scanner", None)  # what a JSONDecoder holds
if _make_scanner is not None:
    RULES[_make_scanner] = content(*_SCANNER)

#: What may look like content and is none: the same object means something else in each thread or task.
REFUSED: dict[type, str] = {
    contextvars.Context: "the values of all context variables at one moment",
    types.TracebackType: "the place of an error in code that stopped",
    weakref.ProxyType: "a weak proxy, which cannot travel; capture the object",
    weakref.CallableProxyType: "a weak proxy, which cannot travel; capture the object",
}
