"""Turn plain values into bytes that are equal exactly when the values are.

Contract: a token depends on content and type alone: never on identity, the order of a set, or the hash seed. The order
of a dict counts, since code can see it. `1`, `1.0` and `True` differ, so do `0.0` and `-0.0`, `"a"` and `b"a"`. Tokens
delimit themselves, so a concatenation of tokens is unambiguous. This file is the hot loop of a fingerprint: a captured
list of a million numbers passes through it.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from incoop.base.content_ids import content_id

Token = bytes

# Longer texts enter by their digest, so that a parent's bytes stay small and a large text is copied once at most.
INLINE_BYTES = 4096

# `plain_token` recurses this deep and no deeper: it keeps no record of what it has seen, so a self-referential or
# heavily shared structure must leave for the general walk early. Rows of records nest two or three deep.
PLAIN_DEPTH = 4

# Containers of more entries than this are remembered by identity; smaller ones are cheaper to hash again.
REMEMBERED_LENGTH = 8

# From this many entries on, a container's token is looked up by its content: hashing takes ten times as long.
LARGE_LENGTH = 1024
_LARGE_KEPT = 64

#: How the tokens of a container combine: in order, as a set, as key-value pairs in any order, or as pairs in order.
ORDERED, UNORDERED, PAIRS, ITEMS = 0, 1, 2, 3

_double = struct.Struct(">d").pack


class NotPlain(Exception):
    """The value needs the general walk: an object, a function, or a structure nested too deep."""


def digest(data: bytes) -> bytes:
    """Return the 16-byte hash that every part of a fingerprint uses."""
    return content_id(data)


def bytes_token(value: bytes | bytearray | memoryview, mark: bytes = b"b") -> Token:
    """Return the token of a run of bytes; `mark` tells texts, bytes and other kinds apart."""
    size = len(value)
    if size > INLINE_BYTES:
        return mark.upper() + b"%d:" % size + content_id(value)
    return mark + b"%d:" % size + value


def str_token(value: str) -> Token:
    """Return the token of a text; lone surrogates are allowed, as Python allows them.

    Example:
        >>> str_token("ash")
        b's3:ash'
    """
    raw = value.encode("utf-8", "surrogatepass")
    size = len(raw)
    if size > INLINE_BYTES:
        return b"S%d:" % size + content_id(raw)
    return b"s%d:" % size + raw


def _int_token(value: int) -> Token:
    return b"i%x;" % value  # hexadecimal: decimal conversion is quadratic and limited to 4,300 digits


def _float_token(value: float) -> Token:
    return b"f" + _double(value)


def _complex_token(value: complex) -> Token:
    return b"c" + _double(value.real) + _double(value.imag)


#: The token of a value of exactly this type; subclasses carry more than their base value and are walked as objects.
LEAF: dict[type, Callable[[Any], Token]] = {
    int: _int_token,
    str: str_token,
    float: _float_token,
    bool: lambda value: b"t" if value else b"u",
    type(None): lambda _: b"0",
    bytes: bytes_token,
    complex: _complex_token,
    type(Ellipsis): lambda _: b"e",
    type(NotImplemented): lambda _: b"!",
    bytearray: lambda value: bytes_token(value, b"y"),
}

#: Containers whose content is all they are, with the mark of their kind and how their entries combine.
PLAIN: dict[type, tuple[bytes, int]] = {
    list: (b"list", ORDERED),
    tuple: (b"tuple", ORDERED),
    dict: (b"dict", ITEMS),
    set: (b"set", UNORDERED),
    frozenset: (b"frozenset", UNORDERED),
}


def combine(tag: bytes, mode: int, tokens: Sequence[Token]) -> bytes:
    """Return the digest of a container from its kind and the tokens of its entries.

    Example:
        >>> combine(b"set", UNORDERED, [b"i1;", b"i2;"]) == combine(b"set", UNORDERED, [b"i2;", b"i1;"])
        True
    """
    if mode == UNORDERED:
        tokens = sorted(tokens)
    elif mode == PAIRS:
        tokens = sorted(map(bytes.__add__, tokens[::2], tokens[1::2]))
    return content_id(b"%d:%s%d:" % (len(tag), tag, len(tokens)) + b"".join(tokens))


def reference(digest_of_child: bytes) -> Token:
    """Return the token that stands for a container inside its parent."""
    return b"n" + digest_of_child


class _ContentPickler(pickle.Pickler):
    """Writes plain values: equal bytes mean equal values of equal types. Others are left to the walk."""

    def reducer_override(self, obj: Any) -> Any:
        raise NotPlain


def _content_key(value: Any) -> bytes:
    """A digest of a large container that takes a tenth of the time of its token; or raise `NotPlain`."""
    file = io.BytesIO()
    pickler = _ContentPickler(file, 5)
    pickler.fast = True  # no memo: what is shared is written again, as it counts
    try:
        pickler.dump(value)
    except (ValueError, RecursionError) as error:
        raise NotPlain from error
    return content_id(file.getbuffer())


#: Tokens of large containers by their content keys, the least used first: a worker asks before and after every task.
_large: OrderedDict[bytes, Token] = OrderedDict()


def large_token(value: Any, seen: dict[int, Token]) -> Token:
    """The same as `plain_token`, remembered for containers that take long.

    Example:
        >>> table = {str(number): number for number in range(LARGE_LENGTH)}
        >>> large_token(table, {}) == large_token(dict(table), {}) == plain_token(table, {})
        True
    """
    if len(value) < LARGE_LENGTH or id(value) in seen:
        return plain_token(value, seen)
    try:
        key = _content_key(value)
    except NotPlain:  # or a plain value that pickle has no short form for
        return plain_token(value, seen)
    token = _large.get(key)
    if token is None:
        token = _large[key] = plain_token(value, seen)
        if len(_large) > _LARGE_KEPT:
            _large.popitem(last=False)
    else:
        _large.move_to_end(key)
    seen[id(value)] = token
    return token


def plain_token(value: Any, seen: dict[int, Token], depth: int = PLAIN_DEPTH) -> Token:
    """Return the token of a container of plain values, or raise `NotPlain`.

    `seen` maps the identity of larger containers to their tokens; its owner keeps those containers alive.

    Example:
        >>> plain_token({"a": 1, "b": 2}, {}) == plain_token({"b": 2, "a": 1}, {})
        False
        >>> plain_token([1], {}) == plain_token([True], {})
        False
    """
    known = seen.get(id(value))
    if known is not None:
        return known
    kind = PLAIN.get(type(value))
    if kind is None or depth == 0:
        raise NotPlain
    tag, mode = kind
    tokens: list[Token] = []
    append = tokens.append
    leaf = LEAF.get
    for entry in value:
        encode = leaf(type(entry))
        append(encode(entry) if encode is not None else plain_token(entry, seen, depth - 1))
        if mode == ITEMS:
            entry = value[entry]
            encode = leaf(type(entry))
            append(encode(entry) if encode is not None else plain_token(entry, seen, depth - 1))
    token = b"n" + combine(tag, mode, tokens)
    if len(value) > REMEMBERED_LENGTH:
        seen[id(value)] = token
    return token
