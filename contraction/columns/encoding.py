"""One value as canonical bytes, and back.

Contract: `decode(encode(v))` gives a value equal to `v` and of the same type; equal values of the same types give equal
bytes, in every process. `pickle` does not promise that: its bytes depend on which objects are shared.
Values of types that are not built in are pickled without sharing; equal ones may differ in bytes, which costs reuse,
never correctness. Bytes are decoded only after their checksum was verified (see `incoop.memo`).
"""

from __future__ import annotations

import io
import math
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.base.errors import IncoopError
from incoop.contraction.columns.plain import TAG, plain_bytes, plain_value

#: Part of every task id: blocks of another encoding are not read.
ENCODING_VERSION = 12

#: Containers nested deeper than this are pickled, which does not recurse when it reads them back.
DEEPEST = 64

#: Types of array elements whose bytes are all value; a long double has some that are none.
_PLAIN_NUMBERS = "?bBhHiIlLqQefdFD"

_FLOAT = struct.Struct("<d")
_COMPLEX = struct.Struct("<dd")


@dataclass(frozen=True, slots=True)
class Canonical:
    """The normal form of keys that no plain value equals (normal.py). It is hashed, never stored."""

    parts: tuple[Any, ...]


class CannotStore(IncoopError):
    """A user's function emitted something that does not pickle."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason

    def __str__(self) -> str:
        return (
            f"a key or value of type {self.kind} was emitted that cannot be stored ({self.reason}). Emit plain values, "
            "or objects of classes that pickle and that can be imported from a module."
        )


class UnfitKey(IncoopError):
    """A key was emitted of which it cannot be told which keys it equals."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason

    def __str__(self) -> str:
        return (
            f"a key of type {self.kind} was emitted, {self.reason}, so that equal keys of other tasks cannot be found. "
            "Emit a plain value that stands for it (text, a number, a tuple), make its class a frozen dataclass or a "
            "NamedTuple, or give it a method __incoop_key__ that returns such a value: the same for equal keys only."
        )


def unfit(kind: type, reason: str) -> UnfitKey:
    """The error for a key of a type."""
    return UnfitKey(f"{kind.__module__}.{kind.__qualname__}", reason)


def encode(value: Any) -> bytes:
    """Encode any picklable value.

    Example:
        >>> encode(("a", 1)) == encode(("a", 1))
        True
        >>> encode(1) == encode(True), encode(0.0) == encode(-0.0)
        (False, False)
    """
    out = bytearray()
    _encode(value, out, 0)
    return bytes(out)


def decode(data: bytes) -> Any:
    """The value that `encode` was given."""
    return _decode(data, 0)[0]


def _size(out: bytearray, number: int) -> None:
    """A length: seven bits a byte, the highest bit says that more follow."""
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _read_size(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


Encoder = Callable[[Any, bytearray, int], None]


def _encode(value: Any, out: bytearray, depth: int) -> None:
    encoder = _ENCODERS.get(type(value))
    if encoder is None or depth > DEEPEST:
        _sized(b"P", _pickle(value), out)
    else:
        encoder(value, out, depth)


def _sized(tag: bytes, payload: bytes, out: bytearray) -> None:
    out += tag
    _size(out, len(payload))
    out += payload


def _pickle(value: Any) -> bytes:
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=4)
    pickler.fast = True  # no memo: shared parts are written out, so equal values give equal bytes
    try:
        try:
            pickler.dump(value)
        except (RecursionError, ValueError):  # a value that contains itself needs the memo
            return pickle.dumps(value, protocol=4)
    except Exception as error:
        raise CannotStore(f"{type(value).__module__}.{type(value).__qualname__}", f"{error}") from error
    return buffer.getvalue()


def _int(value: int, out: bytearray, depth: int) -> None:
    _sized(b"i", value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True), out)


def _str(value: str, out: bytearray, depth: int) -> None:
    _sized(b"s", value.encode("utf-8", "surrogatepass"), out)


def _container(encoder: Encoder) -> Encoder:
    """Of containers that are mostly plain (plain.py)."""

    def try_plain(value: Any, out: bytearray, depth: int) -> None:
        plain = plain_bytes(value)
        if plain is not None:
            _sized(TAG, plain, out)
        else:
            encoder(value, out, depth)

    return try_plain


def _tuple(value: tuple[Any, ...], out: bytearray, depth: int) -> None:
    # Pairs are stored in two columns, so that their bytes have to follow from those of their parts (encoded_rows.py).
    (_two if len(value) == 2 else _tuples)(value, out, depth)


def _sequence(tag: bytes) -> Encoder:
    def encoder(value: Any, out: bytearray, depth: int) -> None:
        out += tag
        _size(out, len(value))
        for item in value:
            _encode(item, out, depth + 1)

    return encoder


def _dict(value: dict[Any, Any], out: bytearray, depth: int) -> None:
    # In insertion order, which a program can observe.
    out += b"d"
    _size(out, len(value))
    for key, item in value.items():
        _encode(key, out, depth + 1)
        _encode(item, out, depth + 1)


def _unordered(tag: bytes) -> Encoder:
    def encoder(value: Any, out: bytearray, depth: int) -> None:
        out += tag
        _size(out, len(value))
        items = []
        for item in value:
            items.append(bytearray())
            _encode(item, items[-1], depth + 1)
        for encoded in sorted(items):
            out += encoded

    return encoder


def _array(value: Any, out: bytearray, depth: int) -> None:
    """An array of plain numbers by its bytes, a tenth of what pickling takes; others are pickled."""
    if not value.flags.c_contiguous or not value.dtype.isnative or value.dtype.char not in _PLAIN_NUMBERS:
        _sized(b"P", _pickle(value), out)
        return
    shape = value.shape
    out += b"a"
    out += value.dtype.char.encode()
    _size(out, len(shape))
    for length in shape:
        _size(out, length)
    out += value.tobytes()


_two = _sequence(b"t")
_tuples = _container(_two)

_ENCODERS: dict[type, Encoder] = {
    type(None): lambda value, out, depth: out.extend(b"N"),
    bool: lambda value, out, depth: out.extend(b"T" if value else b"F"),
    int: _int,
    float: lambda value, out, depth: out.extend(b"f" + _FLOAT.pack(value)),
    complex: lambda value, out, depth: out.extend(b"c" + _COMPLEX.pack(value.real, value.imag)),
    str: _str,
    bytes: lambda value, out, depth: _sized(b"b", value, out),
    tuple: _tuple,
    list: _container(_sequence(b"l")),
    dict: _container(_dict),
    set: _unordered(b"e"),
    frozenset: _unordered(b"z"),
    np.ndarray: _array,
    Canonical: lambda value, out, depth: _sequence(b"k")(value.parts, out, depth),
}


def _decode(data: bytes, at: int) -> tuple[Any, int]:
    tag = data[at : at + 1]
    return _DECODERS[tag](data, at + 1)


def _payload(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = _read_size(data, at)
    return data[at : at + size], at + size


def _decode_int(data: bytes, at: int) -> tuple[int, int]:
    payload, at = _payload(data, at)
    return int.from_bytes(payload, "little", signed=True), at


def _decode_str(data: bytes, at: int) -> tuple[str, int]:
    payload, at = _payload(data, at)
    return payload.decode("utf-8", "surrogatepass"), at


def _decode_items(data: bytes, at: int) -> tuple[list[Any], int]:
    count, at = _read_size(data, at)
    items = []
    for _ in range(count):
        item, at = _decode(data, at)
        items.append(item)
    return items, at


def _decode_as(build: Callable[[list[Any]], Any]) -> Callable[[bytes, int], tuple[Any, int]]:
    def decoder(data: bytes, at: int) -> tuple[Any, int]:
        items, at = _decode_items(data, at)
        return build(items), at

    return decoder


def _decode_dict(data: bytes, at: int) -> tuple[dict[Any, Any], int]:
    count, at = _read_size(data, at)
    found = {}
    for _ in range(count):
        key, at = _decode(data, at)
        found[key], at = _decode(data, at)
    return found, at


def _decode_pickle(data: bytes, at: int) -> tuple[Any, int]:
    payload, at = _payload(data, at)
    return pickle.loads(payload), at


def _decode_plain(data: bytes, at: int) -> tuple[Any, int]:
    payload, at = _payload(data, at)
    return plain_value(payload), at


def _decode_array(data: bytes, at: int) -> tuple[Any, int]:
    kind = np.dtype(chr(data[at]))
    dimensions, at = _read_size(data, at + 1)
    shape = []
    for _ in range(dimensions):
        length, at = _read_size(data, at)
        shape.append(length)
    count = math.prod(shape)
    array = np.frombuffer(data, kind, count, at) if count else np.empty(0, kind)
    return array.reshape(shape).copy(), at + count * kind.itemsize  # a copy, which may be written to


_DECODERS: dict[bytes, Callable[[bytes, int], tuple[Any, int]]] = {
    b"N": lambda data, at: (None, at),
    b"T": lambda data, at: (True, at),
    b"F": lambda data, at: (False, at),
    b"i": _decode_int,
    b"f": lambda data, at: (_FLOAT.unpack_from(data, at)[0], at + 8),
    b"c": lambda data, at: (complex(*_COMPLEX.unpack_from(data, at)), at + 16),
    b"s": _decode_str,
    b"b": _payload,
    b"t": _decode_as(tuple),
    b"l": _decode_as(list),
    b"d": _decode_dict,
    b"e": _decode_as(set),
    b"z": _decode_as(frozenset),
    TAG: _decode_plain,
    b"P": _decode_pickle,
    b"a": _decode_array,
}
