"""Sums of floats that do not depend on the order of adding.

Contract: a sum is kept exactly, as an integer times a power of two, beside how often NaN and the infinities occurred.
Equal sums have equal states, in whatever order and shape they were merged; a value can be taken back out. The result
is rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

#: Odd integer (or zero), exponent of two, NaNs, positive infinities, negative infinities.
Exact = tuple[int, int, int, int, int]
ZERO: Exact = (0, 0, 0, 0, 0)
#: Beyond this many values halves of mantissas no longer add up exactly in a float's 53 bits (27 bits each).
MOST_AT_ONCE = 1 << 26


def scaled(number: int, exponent: int) -> tuple[int, int]:
    """number * 2**exponent with an odd number; zero has one form."""
    if number == 0:
        return 0, 0
    zeros = (number & -number).bit_length() - 1
    return number >> zeros, exponent + zeros


def exact_of(value: float) -> Exact:
    """A float, exactly."""
    if value != value:
        return (0, 0, 1, 0, 0)
    if math.isinf(value):
        return (0, 0, 0, 1, 0) if value > 0 else (0, 0, 0, 0, 1)
    number, denominator = value.as_integer_ratio()
    return (*scaled(number, 1 - denominator.bit_length()), 0, 0, 0)


def exact_square(value: float) -> Exact:
    """A float times itself, exactly."""
    number, exponent, nans, positive, negative = exact_of(value)
    return (number * number, 2 * exponent, nans, positive + negative, 0)


def added(one: Exact, other: Exact) -> Exact:
    """The sum of two.

    Example:
        >>> rounded(added(added(exact_of(0.1), exact_of(1e300)), exact_of(-1e300)))
        0.1
    """
    low = min(one[1], other[1]) if one[0] and other[0] else (one[1] if one[0] else other[1])
    total = (one[0] << max(one[1] - low, 0)) + (other[0] << max(other[1] - low, 0))
    return (*scaled(total, low), one[2] + other[2], one[3] + other[3], one[4] + other[4])


def all_added(several: Sequence[Exact]) -> Exact:
    """The sum of many.

    Example:
        >>> rounded(all_added([exact_of(0.1), exact_of(1e300), ZERO, exact_of(-1e300)]))
        0.1
    """
    low = min((each[1] for each in several if each[0]), default=0)
    total = sum(each[0] << (each[1] - low) for each in several if each[0])
    _, _, nans, positive, negative = zip(*several, strict=True)
    return (*scaled(total, low), sum(nans), sum(positive), sum(negative))


def negated(value: Exact) -> Exact:
    """What takes a sum back out when it is added."""
    return (-value[0], value[1], -value[2], -value[3], -value[4])


def special(value: Exact) -> float | None:
    """What the sum is where NaN or infinities are in it."""
    if value[2] or (value[3] and value[4]):
        return math.nan
    return math.inf if value[3] else -math.inf if value[4] else None


def fraction(value: Exact) -> Fraction:
    number, exponent = value[:2]
    return Fraction(number << exponent) if exponent >= 0 else Fraction(number, 1 << -exponent)


def nearest_float(value: Fraction) -> float:
    """Rounded once; infinite where no float is as large."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rounded(value: Exact) -> float:
    found = special(value)
    return nearest_float(fraction(value)) if found is None else found


def sums_by_group(values: np.ndarray, groups: np.ndarray, count: int) -> list[Exact]:
    """Exact sums of float64 values by group number, without a loop over values.

    (1) Every float is sign * mantissa * 2**exponent. (2) Mantissas are cut into two halves of at most 27 bits: these
    add up exactly as floats, so one bincount a half and (group, exponent) sums them. (3) The few sums of a group are
    put together as integers.
    """
    if len(values) > MOST_AT_ONCE:
        middle = len(values) // 2
        left = sums_by_group(values[:middle], groups[:middle], count)
        right = sums_by_group(values[middle:], groups[middle:], count)
        return [added(one, other) for one, other in zip(left, right, strict=True)]
    # step (1)
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    raised = (bits >> 52) & 0x7FF
    odd_ones = raised == 0x7FF
    specials = [(0, 0, 0)] * count
    if odd_ones.any():
        specials = _specials(values[odd_ones], groups[odd_ones], count)
        plain = ~odd_ones
        bits, raised, groups = bits[plain], raised[plain], groups[plain]
    if not len(bits):
        return [(0, 0, *each) for each in specials]
    mantissa = (bits & ((1 << 52) - 1)) | np.where(raised > 0, 1 << 52, 0)
    np.negative(mantissa, where=bits < 0, out=mantissa)
    raised = np.maximum(raised, 1)
    lowest = int(raised.min())
    width = int(raised.max()) - lowest + 1
    # step (2): an arithmetic shift and a mask split negative mantissas, too
    cells = groups * width + (raised - lowest)
    codes, size = cells, count * width
    if size > 4 * len(cells) + 1024:  # few of the cells are used: number these alone
        used, codes = np.unique(cells, return_inverse=True)
        size = len(used)
    else:
        used = np.arange(size)
    upper = np.bincount(codes, weights=(mantissa >> 27).astype(np.float64), minlength=size)
    lower = np.bincount(codes, weights=(mantissa & ((1 << 27) - 1)).astype(np.float64), minlength=size)
    # step (3)
    totals = [0] * count
    found = np.flatnonzero((upper != 0) | (lower != 0))
    parts = (used[found] // width, used[found] % width, upper[found].astype(np.int64), lower[found].astype(np.int64))
    for group, power, high, low in zip(*(each.tolist() for each in parts), strict=True):
        totals[group] += ((high << 27) + low) << power
    # 1075 is the bias of exponents and the 52 bits behind the point
    return [(*scaled(total, lowest - 1075), *each) for total, each in zip(totals, specials, strict=True)]


def _specials(values: np.ndarray, groups: np.ndarray, count: int) -> list[tuple[int, int, int]]:
    kinds = [
        np.bincount(groups[kind], minlength=count) for kind in (np.isnan(values), values == np.inf, values == -np.inf)
    ]
    return [(int(nan), int(up), int(down)) for nan, up, down in zip(*kinds, strict=True)]
