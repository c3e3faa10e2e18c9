"""Keys: a hash that orders them, and what counts as the same key.

Contract: keys that Python calls equal have the same hash and are the same key (1, 1.0 and True; 0.0 and -0.0; a named
tuple and a tuple; inside tuples too), as they are in a dict. Unlike in a dict, NaN is the same key as NaN. Keys of
classes with an `__eq__` of their own are the same when they pickle to the same bytes. The hash is the same on every
machine and in every process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from contraction.columns import ANY, INTEGER, NUMBER, PAIR, Column, Index, equal_rows
from contraction.encoding import encode

Hashes = npt.NDArray[np.uint64]

#: Bytes of a hash that are kept. Six leave about twenty colliding pairs among a hundred million keys, which are told
#: apart by comparing them, and save two incompressible bytes in every stored entry.
HASH_BYTES = 6
_MASK = (1 << 64) - (1 << 64 - 8 * HASH_BYTES)

_WORD = (1 << 64) - 1
_NAN = 0x7FF8_0000_0000_0001
_NONE = 0x9AE1_6A3B_2F90_404F
_FIRST, _SECOND = 0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F


def hash_of(key: Any) -> int:
    """The hash of one key.

    Example:
        >>> hash_of(1) == hash_of(1.0) == hash_of(True), hash_of("1") == hash_of(1)
        (True, False)
    """
    return _full_hash(key) & _MASK


def hashes_of(keys: Sequence[Any]) -> Hashes:
    """The hashes of many keys; much faster than one by one where all are str or int."""
    return _full_hashes(keys) & np.uint64(_MASK)


def _full_hash(key: Any) -> int:
    kind = type(key)
    if kind is str:
        return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))
    if kind is int or kind is bool:
        return _mix(int(key) & _WORD) if -(1 << 63) <= key < 1 << 63 else xxhash.xxh3_64_intdigest(encode(int(key)))
    if kind is float:
        if math.isnan(key):
            return _mix(_NAN)
        return _full_hash(int(key)) if key.is_integer() else xxhash.xxh3_64_intdigest(encode(key))
    if kind is bytes:
        return xxhash.xxh3_64_intdigest(key)
    if key is None:
        return _NONE
    if kind is tuple and len(key) == 2:
        return _mix((_full_hash(key[0]) * _FIRST + _full_hash(key[1]) * _SECOND) & _WORD)
    plain = normal(key)
    return xxhash.xxh3_64_intdigest(encode(plain)) if type(plain) is kind else _full_hash(plain)


def _full_hashes(keys: Sequence[Any]) -> Hashes:
    kinds = set(map(type, keys))
    if kinds == {str}:
        digest = xxhash.xxh3_64_intdigest
        try:
            return np.fromiter(map(digest, map(str.encode, keys)), np.uint64, len(keys))
        except UnicodeEncodeError:  # lone surrogates, which only the slow way can encode
            pass
    elif kinds == {int}:
        try:
            return _mix_array(np.array(keys, np.int64).view(np.uint64))
        except OverflowError:
            pass
    elif kinds == {tuple} and set(map(len, keys)) == {2}:
        first = _full_hashes([first for first, _ in keys])
        second = _full_hashes([second for _, second in keys])
        return _mix_array(first * np.uint64(_FIRST) + second * np.uint64(_SECOND))
    return np.fromiter(map(_full_hash, keys), np.uint64, len(keys))


def block_numbers(hashes: Hashes, shard_bits: int, bits: int) -> npt.NDArray[np.int64]:
    """The block of its part that each hash belongs to."""
    if bits == 0:
        return np.zeros(len(hashes), np.int64)
    return ((hashes << np.uint64(shard_bits)) >> np.uint64(64 - bits)).astype(np.int64)


def _mix(word: int) -> int:
    """The finaliser of splitmix64: every input bit reaches every output bit."""
    word = (word ^ word >> 30) * 0xBF58_476D_1CE4_E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D0_49BB_1331_11EB & _WORD
    return word ^ word >> 31


def _mix_array(words: Hashes) -> Hashes:
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    return words ^ words >> np.uint64(31)


#: Built-in types that are subclassed for keys, and how the plain value is had. `str(key)` is a name for an Enum.
_BASES: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes,
    tuple: tuple,
    frozenset: frozenset,
}


def normal(key: Any) -> Any:
    """A key in the form that equal keys share: numbers, subclasses of built-in types, and what these contain.

    Example:
        >>> normal((True, 2.0, Decimal("0.5"), 1 + 0j))
        (1, 2, 0.5, 1)
    """
    kind = type(key)
    if kind is str or kind is int or kind is bytes or key is None:
        return key
    if kind is bool:
        return int(key)
    if kind is float:
        if math.isnan(key):
            return math.nan
        return int(key) if key.is_integer() else key
    if kind is tuple or kind is frozenset:
        return kind(map(normal, key))
    if isinstance(key, np.number | np.bool_ | np.str_ | np.bytes_):
        plain = key.item()
        return key if isinstance(plain, np.generic) else normal(plain)
    for base, plain_of in _BASES.items():
        if isinstance(key, base) and kind.__eq__ is base.__eq__:
            return normal(plain_of(key))
    if isinstance(key, complex | Decimal | Fraction):
        return _normal_number(key)
    if kind is datetime and key.tzinfo is not None:
        return key.astimezone(UTC)
    return key


def _normal_number(number: complex | Decimal | Fraction) -> Any:
    if isinstance(number, complex):
        return normal(number.real) if number.imag == 0 else complex(number.real + 0.0, number.imag + 0.0)
    if isinstance(number, Decimal) and not number.is_finite():
        return math.nan if number.is_nan() else float(number)
    exact = Fraction(number)
    if exact.denominator == 1:
        return exact.numerator
    # A denominator that is no power of two has no equal float.
    return float(exact) if exact.denominator & (exact.denominator - 1) == 0 and float(exact) == exact else exact


#: Keys of these types that a dict tells apart are different keys.
_TOLD_APART = frozenset({str, bytes, int, bool, type(None)})


def distinct(keys: Sequence[Any]) -> bool:
    """Whether no two keys of a dict are the same key; only NaN can be there twice."""
    kinds = set(map(type, keys))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(keys)))
    if kinds <= _TOLD_APART or len(np.unique(hashes_of(keys))) == len(keys):
        return True
    return len({encode(normal(key)) for key in keys}) == len(keys)


def same_keys(keys: Column, here: Index, there: Index) -> npt.NDArray[np.bool_]:
    """For each pair of rows, whether they hold the same key."""
    if keys.kind in (INTEGER, NUMBER):
        assert keys.numbers is not None
        one, other = keys.numbers[here], keys.numbers[there]
        same: npt.NDArray[np.bool_] = (one == other) | ((one != one) & (other != other))
        return same
    if keys.kind == PAIR:
        assert keys.children is not None
        return same_keys(keys.children[0], here, there) & same_keys(keys.children[1], here, there)
    same = equal_rows(keys, here, there)
    if keys.kind == ANY:
        for at in np.flatnonzero(~same):
            first, second = keys.take(np.array([here[at], there[at]])).to_list()
            same[at] = encode(normal(first)) == encode(normal(second))
    return same
