"""Keys: a hash that orders them, and whether two are the same.

Contract: keys with the same normal form (normal.py), which are those that a dict calls equal, have one hash and are one
key. The hash is the same on every machine and in every process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from incoop.contraction.columns.column import ANY, INTEGER, NONE, NUMBER, PAIR, RAW, TEXT, Column, Index, equal_rows
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.normal import normal
from incoop.contraction.columns.sorted_sets import distinct_numbers

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


def _mix(word: int) -> int:
    """The finaliser of splitmix64: every input bit reaches every output bit."""
    word = (word ^ word >> 30) * 0xBF58_476D_1CE4_E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D0_49BB_1331_11EB & _WORD
    return word ^ word >> 31


def _mix_array(words: Hashes) -> Hashes:
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    return words ^ words >> np.uint64(31)


#: Keys of these types that a dict tells apart are different keys.
_TOLD_APART = frozenset({str, bytes, int, bool, type(None)})


def distinct(keys: Sequence[Any]) -> bool:
    """Whether no two keys of a dict are the same key; only NaN can be there twice."""
    kinds = set(map(type, keys))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(keys)))
    if kinds <= _TOLD_APART or len(distinct_numbers(hashes_of(keys))) == len(keys):
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


def tells_apart(keys: Column) -> bool:
    """Whether keys that are equal have equal bytes."""
    return keys.kind in (TEXT, RAW, INTEGER, NONE) or (
        keys.children is not None and all(map(tells_apart, keys.children))
    )


def tied_rows(hashes: Hashes) -> Index:
    """Of sorted hashes, the places of those that the next one is equal to."""
    return np.flatnonzero(hashes[1:] == hashes[:-1])


def has_ties(hashes: Hashes) -> bool:
    """Whether two of sorted hashes are alike: different keys may have one, and only their bytes tell them apart."""
    return bool((hashes[1:] == hashes[:-1]).any())
