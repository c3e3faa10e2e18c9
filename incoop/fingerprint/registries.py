"""Read what is registered elsewhere under a name or for a class: codecs, error handlers, virtual subclasses, reducers.

Contract: a codec or an error handler of the user's counts for code that has its name among its constants and handles
encodings; Python keeps no list of them, so each name is looked up. A class counts with the classes that were registered
as its subclasses, with the abstract classes of the standard library that it was registered with, and with its reducer.
"""

from __future__ import annotations

import abc
import codecs
import collections.abc
import copyreg
import numbers
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

from incoop.fingerprint.graph import Node
from incoop.fingerprint.instructions import all_names, cached_by_identity, nested_codes
from incoop.fingerprint.owners import owner
from incoop.fingerprint.tokens import UNORDERED, str_token
from incoop.fingerprint.walk import Walk

# With one of these in sight, a text constant may be the name of an encoding or of an error handler.
ENCODERS = frozenset(
    {"encode", "decode", "iterencode", "iterdecode", "open", "read_text", "write_text", "TextIOWrapper", "EncodedFile"}
    | {"codecs", "lookup", "lookup_error", "getencoder", "getdecoder", "getreader", "getwriter"}
    | {"getincrementalencoder", "getincrementaldecoder"}
)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_:-]{0,39}")

_CODEC_PARTS = ("encode", "decode", "incrementalencoder", "incrementaldecoder", "streamreader", "streamwriter")

_ABSTRACT = tuple(
    kind for module in (collections.abc, numbers) for kind in vars(module).values() if isinstance(kind, abc.ABCMeta)
)

#: The token of the last registration, and the names of the abstract classes that a class is registered with.
_registered: tuple[object, dict[type, list[str]]] = (None, {})


def codec_tokens(walk: Walk, node: Node, code: CodeType) -> list[Node]:
    """Return the nodes of the codecs and error handlers of the user's that a function's constants name."""
    found = []
    for name in _encoding_names(code):
        for kind, functions in (("codec", _codec(name)), ("error handler", _handler(name))):
            if not any(_is_users(function) for function in functions):
                continue
            known, new = walk.named_node((kind, name), node, (kind, name))
            if new:
                known.tag = kind.encode()
                known.tokens = [str_token(name), *(walk.token(function, known, None) for function in functions)]
                walk.label(known, f"ambient {kind} {name}")
            found.append(known)
    return found


@cached_by_identity
def _encoding_names(code: CodeType) -> tuple[str, ...]:
    if not all_names(code) & ENCODERS:
        return ()
    return tuple(sorted({text for text in _texts(code) if _NAME.fullmatch(text)}))


def _texts(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        # The names of keyword arguments stand in tuples, and so may a call's constant arguments.
        for text in constant if isinstance(constant, tuple) else (constant,):
            if isinstance(text, str):
                yield text
    for inner in nested_codes(code):
        yield from _texts(inner)


def _codec(name: str) -> list[Any]:
    try:
        found = codecs.lookup(name)
    except Exception:  # not a codec; or a search function failed, as it will when the code runs
        return []
    return [getattr(found, part, None) for part in _CODEC_PARTS]


def _handler(name: str) -> list[Any]:
    try:
        return [codecs.lookup_error(name)]
    except LookupError:
        return []


def _is_users(function: Any) -> bool:
    inner = getattr(function, "__func__", function)
    module = getattr(inner, "__globals__", {}).get("__name__") or getattr(inner, "__module__", None)
    return isinstance(module, str) and owner(module).kind == "user"


def class_tokens(walk: Walk, node: Node, cls: type) -> list[Any]:
    """Return what is registered for a class of the user's."""
    tokens: list[Any] = []
    if isinstance(cls, abc.ABCMeta):
        below = [kind for reference in _registry(cls) if (kind := reference()) is not None]
        if below:
            virtual = Node(node)
            virtual.tag, virtual.mode = b"registered", UNORDERED
            virtual.tokens = [walk.token(kind, node, ("registered class", kind.__qualname__)) for kind in below]
            tokens.append(virtual)
    tokens += [str_token(name) for name in _registered_with(cls)]
    reducer = copyreg.dispatch_table.get(cls)
    if reducer is not None:
        tokens += [b"reducer", walk.token(reducer, node, ("reducer", None))]
    return tokens


def _registry(cls: abc.ABCMeta) -> set[Any]:
    dump: Any = abc._get_dump  # type: ignore[attr-defined]
    registry: set[Any] = dump(cls)[0]
    return registry


def _registered_with(cls: type) -> list[str]:
    global _registered
    token = abc.get_cache_token()
    if _registered[0] != token:
        found: dict[type, list[str]] = {}
        for kind in _ABSTRACT:
            for reference in _registry(kind):
                found.setdefault(reference(), []).append(kind.__qualname__)
        _registered = (token, {below: sorted(names) for below, names in found.items()})
    return _registered[1].get(cls, [])
