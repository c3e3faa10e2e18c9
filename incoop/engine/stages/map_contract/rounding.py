"""Whether two results are the same but for rounding, and how much rounding their inputs allow.

Contract: what is not a float, or a Decimal, or text that shows one, has to be equal. Floats may differ by the noise of
what they were made from: adding n numbers in another order moves their sum by up to n * eps * sum(|x|), however near to
0 it is. Nothing is compared by a `==` that cannot answer: arrays are compared by their elements, objects by their
attributes, and the rest by its stored form.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np

from incoop.contraction.columns.encoding import encode

#: Sums that are far from 0 may differ by this share: a thousand times what rounding does to the sum of 1000 numbers.
_SHARE = 1e-9

_FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Noise:
    """How far two ways to compute a result may lie apart, absolutely."""

    floats: float = 0.0
    decimals: Decimal = Decimal(0)


EXACT = Noise()


def noise_of(values: Iterable[Any]) -> Noise:
    """The noise of what is made by adding these values up.

    Example:
        >>> noise_of([1, 2, 3]) == EXACT, 0 < noise_of([1e6, -1e6, 0.1]).floats < 1e-8
        (True, True)
    """
    leaves = [number for value in values for number in _numbers(value)]
    exact = not any(isinstance(number, float | complex | np.inexact) for number, _ in leaves)
    floats = 0.0 if exact else len(leaves) * sum(abs(number) * eps for number, eps in leaves if eps)
    decimals = [abs(number) for number, eps in leaves if not eps]
    return Noise(
        float(floats) if math.isfinite(floats) else 0.0,
        len(decimals) * sum(decimals, Decimal(0)).scaleb(1 - getcontext().prec) if decimals else Decimal(0),
    )


def _eps_of(kind: Any) -> float:
    return float(np.finfo(kind).eps)


def _numbers(value: Any) -> Iterator[tuple[Any, float]]:
    """The finite numbers in a value with their precision; 0 for that of a Decimal, which its context holds."""
    if isinstance(value, bool | Fraction):
        return
    if isinstance(value, int | float):
        if math.isfinite(value):
            yield value if abs(value) < 1 << 1000 else 0, _EPS
    elif isinstance(value, complex):
        yield abs(value), _EPS
        yield 0j, _EPS
    elif isinstance(value, Decimal):
        if value.is_finite():
            yield value, 0.0
    elif isinstance(value, np.ndarray | np.number):
        if value.dtype.kind in "iufc":
            eps = _eps_of(value.dtype) if value.dtype.kind in "fc" else _EPS
            for number in np.abs(np.asarray(value, np.complex128 if value.dtype.kind == "c" else np.float64)).ravel():
                if np.isfinite(number):
                    yield (float(number) if value.dtype.kind in "fc" else int(number)), eps
    elif isinstance(value, str | bytes):
        text = value if isinstance(value, str) else value.decode("latin-1")
        if "." in text:
            yield from ((float(number), _EPS) for number in _NUMBER.findall(text))
    elif isinstance(value, dict):
        for each in value.values():
            yield from _numbers(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _numbers(each)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from _numbers(vars(value))


def alike(one: Any, other: Any, noise: Noise = EXACT) -> bool:
    """Equal, but for the rounding of floats.

    Example:
        >>> alike([("k", 0.1 + 0.2)], [("k", 0.3)]), alike([("k", 1)], [("k", 2)])
        (True, False)
        >>> alike("mean 0.30000000000000004", "mean 0.3"), alike(b"10.5", b"1.05")
        (True, False)
        >>> alike(1e-17, 0.0), alike(1e-17, 0.0, Noise(1e-16))
        (False, True)
    """
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _alike_arrays(one, other, noise)
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return _alike_decimals(one, other, noise)
    if isinstance(one, float | complex | np.inexact) or isinstance(other, float | complex | np.inexact):
        return _alike_numbers(one, other, noise)
    if isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
        return all(alike(*pair, noise) for pair in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key], noise) for key in one)
    if isinstance(one, set | frozenset) and isinstance(other, set | frozenset):
        return one == other or _alike_sets(one, other, noise)
    if isinstance(one, bytes) and isinstance(other, bytes):
        one, other = one.decode("latin-1"), other.decode("latin-1")
    if isinstance(one, str) and isinstance(other, str):
        if one == other:
            return True
        # Text that a program outside Python, or a protocol, wrote: floats in it round, too.
        same = _FLOAT.split(one) == _FLOAT.split(other)
        numbers = zip(map(float, _FLOAT.findall(one)), map(float, _FLOAT.findall(other)), strict=False)
        return same and all(alike(*pair, noise) for pair in numbers)
    return _alike_objects(one, other, noise)


def _alike_numbers(one: Any, other: Any, noise: Noise) -> bool:
    numbers = (int, float, complex, np.number)
    if not isinstance(one, numbers) or not isinstance(other, numbers):
        return bool(one == other)
    if one == other or (one != one and other != other):
        return True
    try:
        distance, size = abs(complex(one) - complex(other)), max(abs(complex(one)), abs(complex(other)))
    except OverflowError:  # an int beyond all floats
        return False
    # What has seven digits is not asked for nine.
    coarse = [64 * _eps_of(each.dtype) for each in (one, other) if isinstance(each, np.inexact)]
    return math.isfinite(size) and distance <= max(size * max(_SHARE, *coarse, 0.0), noise.floats)


def _alike_decimals(one: Decimal, other: Decimal, noise: Noise) -> bool:
    if not one.is_finite() or not other.is_finite():
        return (one.is_nan() and other.is_nan()) or str(one) == str(other)
    return one == other or abs(one - other) <= noise.decimals


def _alike_arrays(one: Any, other: Any, noise: Noise) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind not in "fc":
        return alike(one.tolist(), other.tolist(), noise)
    share = max(_SHARE, 64 * _eps_of(one.dtype))
    return bool(np.allclose(one, other, rtol=share, atol=noise.floats, equal_nan=True))


def _alike_sets(one: Iterable[Any], other: Iterable[Any], noise: Noise) -> bool:
    """Sets whose members can be put in order, of which some are floats."""
    try:
        return alike(sorted(one), sorted(other), noise)
    except TypeError:
        return False


def _alike_objects(one: Any, other: Any, noise: Noise) -> bool:
    """By their own equality; objects that have none, or whose parts round, by what they hold."""
    try:
        if bool(one == other):
            return True
    except Exception:  # an equality that cannot answer
        pass
    if type(one) is not type(other):
        return False
    if hasattr(one, "__dict__") and not isinstance(one, type):
        return vars(one).keys() == vars(other).keys() and alike(vars(one), vars(other), noise)
    try:
        return encode(one) == encode(other)
    except Exception:
        return False


def shaken(value: Any, rng: random.Random, share: float) -> Any:
    """A value whose floats moved by a share of theirs, up or down: what rounding may have made of it."""
    if type(value) is float:
        return value * (1 + rng.choice((-share, share)))
    if type(value) is complex:
        return value * (1 + rng.choice((-share, share)))
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        signs = np.array([rng.choice((-1, 1)) for _ in range(value.size)]).reshape(value.shape)
        eps = _eps_of(value.dtype) / _EPS
        return (value * (1 + signs * share * eps)).astype(value.dtype)
    if type(value) in (list, tuple):
        return type(value)(shaken(each, rng, share) for each in value)
    if type(value) is dict:
        return {key: shaken(each, rng, share) for key, each in value.items()}
    return value
