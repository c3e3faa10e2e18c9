"""Numbers as Java has them: integers of 32 and 64 bits that wrap, single precision, how they are read and printed.

Contract: pure functions. Text that is no number raises NoValue(CAST). Every reading is rounded once.
"""

from __future__ import annotations

import math
import re
from ctypes import c_float
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, Overflow
from fractions import Fraction

import numpy as np

from incoop.query.types import INT, PlainType, Type
from incoop.query.warnings import CAST, RANGE, NoValue

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
#: As many digits as SQL's decimals have; exponents as those of IEEE's decimal128, so that no value prints as megabytes.
DECIMALS = Context(prec=38, rounding=ROUND_HALF_EVEN, Emin=-6143, Emax=6144, traps=[InvalidOperation, Overflow])

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
#: Java trims what is not above a space.
_BLANK = "".join(map(chr, range(0x21)))
#: A text longer than this is no number that anybody wrote; Python itself refuses to read longer integers.
_LONGEST = 4000


def wrapped(value: int, kind: Type) -> int:
    """An integer in the bits of its type.

    Example:
        >>> wrapped(2**31, INT)
        -2147483648
    """
    half = 2**31 if kind == INT else 2**63
    return value if -half <= value < half else (value + half) % (2 * half) - half


def fits(value: int, kind: Type) -> bool:
    return INT_MIN <= value <= INT_MAX if kind == INT else LONG_MIN <= value <= LONG_MAX


def single(value: float) -> float:
    """The nearest number of single precision."""
    return c_float(value).value


def single_of_int(value: int) -> float:
    """The same for an integer of 64 bits, rounded once."""
    return float(np.float32(np.int64(value)))


def saturated(value: float, kind: PlainType | Type) -> int:
    """A float cut off to an integer as Java casts: the nearest that fits, and zero for NaN."""
    if value != value:
        return 0
    low, high = (INT_MIN, INT_MAX) if kind == INT else (LONG_MIN, LONG_MAX)
    return low if value <= low else high if value >= high else int(value)


def canonical_decimal(value: Decimal) -> Decimal:
    """A decimal rounded to what decimals hold, without trailing zeros, so that equal ones are the same."""
    try:
        rounded = DECIMALS.plus(value)
    except (InvalidOperation, Overflow):
        raise NoValue(RANGE) from None
    if not rounded.is_finite():
        raise NoValue(RANGE)
    return DECIMALS.normalize(rounded) if rounded else Decimal(0)


def read_integer(text: str, kind: Type) -> int:
    """An integer from text; what stands behind a point is cut off, and an `L` may end it.

    Example:
        >>> read_integer("641L", INT), read_integer(" -2.9", INT), read_integer("1e3", INT)
        (641, -2, 1000)
    """
    text = text.strip(_BLANK)
    whole = text[:-1] if text[-1:] in ("l", "L") else text
    if len(text) <= _LONGEST and _INTEGER.fullmatch(whole):
        found = int(whole)
    else:
        number = read_double(text)
        if not math.isfinite(number):
            raise NoValue(CAST)
        found = int(number)
    if not fits(found, kind):
        raise NoValue(CAST)
    return found


def _number_text(text: str) -> str:
    """The part of a text that says a number; an `f` or a `d` may end it."""
    text = text.strip(_BLANK)
    bare = text[:-1] if text[-1:] in ("f", "F", "d", "D") else text
    if len(text) <= _LONGEST and _NUMBER.fullmatch(bare):
        return bare
    if _SPECIAL.fullmatch(text):
        return text
    raise NoValue(CAST)


def read_double(text: str) -> float:
    """A float from text; too large ones are infinite.

    Example:
        >>> read_double("1.76f"), read_double("1e999")
        (1.76, inf)
    """
    return float(_number_text(text))


def read_single(text: str) -> float:
    """The number of single precision nearest to what a text says, rounded once."""
    bare = _number_text(text)
    double = float(bare)
    near = single(double)
    if near == double or not math.isfinite(double):
        return near
    # Rounded twice only where the double lies in the middle of two singles: the text says on which side it is.
    if math.isinf(near):
        low, high = float(np.finfo(np.float32).max), 2.0**128
        if abs(double) != (low + high) / 2:
            return near
        return math.copysign(low if abs(Fraction(bare)) < abs(Fraction(double)) else math.inf, double)
    with np.errstate(over="ignore"):  # behind the largest one comes infinity
        other = float(np.nextafter(np.float32(near), np.float32(math.copysign(math.inf, double - near))))
    if abs(double - near) != abs(other - double):
        return near
    exact, middle = Fraction(bare), Fraction(double)
    return near if exact == middle else max(near, other) if exact > middle else min(near, other)


def read_decimal(text: str) -> Decimal:
    bare = _number_text(text)
    if _SPECIAL.fullmatch(bare):
        raise NoValue(CAST)
    try:
        return canonical_decimal(Decimal(bare))
    except (InvalidOperation, NoValue):
        raise NoValue(CAST) from None


def double_text(value: float) -> str:
    """A double as Java prints it: the fewest digits that read as the same.

    Example:
        >>> double_text(1.0), double_text(12345678.0), double_text(1e-5), double_text(float("inf"))
        ('1.0', '1.2345678E7', '1.0E-5', 'Infinity')
    """
    digits = repr(value)
    # Here Python writes the same digits in the same way, and they need no looking at.
    return digits if 1e-3 <= abs(value) < 1e7 else _java_text(value, digits)


def single_text(value: float) -> str:
    """A number of single precision, likewise."""
    if not math.isfinite(value):
        return _java_text(value, "")
    for digits in range(6, 10):  # six digits always survive, nine always suffice
        text = f"{value:.{digits}g}"
        if single(float(text)) == value:
            break
    return _java_text(value, text)


def _java_text(value: float, digits: str) -> str:
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign, figures, exponent = Decimal(digits).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, figures)).rstrip("0")
    minus = "-" if sign else ""
    if not text:
        return f"{minus}0.0"
    power = len(figures) + exponent - 1
    if not -3 <= power < 7:
        return f"{minus}{text[0]}.{text[1:] or '0'}E{power}"
    if power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{text}"
    text = text.ljust(power + 1, "0")
    return f"{minus}{text[: power + 1]}.{text[power + 1 :] or '0'}"


def decimal_text(value: Decimal) -> str:
    return f"{value:f}"
