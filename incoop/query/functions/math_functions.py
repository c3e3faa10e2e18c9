"""Functions of numbers. What has no real result is NaN, what is too large infinite, as in Java."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from incoop.query.functions.function import Function, Signature, fixed
from incoop.query.numbers import DECIMALS, canonical_decimal, saturated, single, wrapped
from incoop.query.types import BYTES, DECIMAL, DOUBLE, FLOAT, INT, LONG, NULL, NUMBERS, Type


def _same_number(types: tuple[Type, ...]) -> Signature | None:
    if len(types) != 1:
        return None
    # An int is widened: the smallest one has no opposite in 32 bits.
    kind = DOUBLE if types[0] in (BYTES, NULL) else LONG if types[0] == INT else types[0]
    return Signature((kind,), kind) if kind in NUMBERS else None


def _absolute(value: Any) -> Any:
    """The smallest long has no opposite, and stays as it is."""
    return wrapped(abs(value), LONG) if isinstance(value, int) else abs(value)


def _real(function: Callable[..., float]) -> Callable[..., float]:
    def computed(*values: float) -> float:
        try:
            return function(*values)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return computed


def _log(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: -math.inf if value == 0 else math.nan if value < 0 else function(value)


def _power(base: float, exponent: float) -> float:
    if abs(base) == 1 and math.isinf(exponent):
        return math.nan
    if base == 1:
        return math.nan if exponent != exponent else 1.0
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.inf if base == 0 and exponent < 0 else math.nan
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _cube_root(value: float) -> float:
    return math.cbrt(value)


def _floor(value: float) -> float:
    return value if not math.isfinite(value) or value == 0 else math.copysign(float(math.floor(value)), value)


def _ceiling(value: float) -> float:
    return value if not math.isfinite(value) or value == 0 else math.copysign(float(math.ceil(value)), value)


def _round(value: float) -> int:
    """To the nearest integer, halves up, as Java's: a long, the nearest one that there is."""
    if not math.isfinite(value):
        return saturated(value, LONG)
    down = math.floor(value)
    return saturated(float(down), LONG) if abs(value) >= 2.0**52 else down + (value - down >= 0.5)


def _round_to(value: float, places: int) -> float:
    """To so many places behind the point, halves away from zero, by the digits that the number prints as."""
    if not math.isfinite(value):
        return value
    if places > 330:
        return value
    if places < -310:
        return math.copysign(0.0, value)
    try:
        step = Decimal(1).scaleb(-places)
        return float(Decimal(repr(value)).quantize(step, ROUND_HALF_UP, context=_WIDE))
    except ArithmeticError:
        return value


_WIDE = DECIMALS.copy()
_WIDE.prec = 700  # digits of the longest double, so that no rounding happens twice


def _one(name: str, row: Callable[..., Any], kernel: Any = None) -> Function:
    return Function(name, fixed(DOUBLE, result=DOUBLE), row, "a number", kernel=kernel)


def _sign(value: float) -> float:
    return value if value != value or value == 0 else math.copysign(1.0, value)


FUNCTIONS = (
    Function("abs", _same_number, _absolute, "a number"),
    _one("ceil", _ceiling),
    _one("floor", _floor),
    Function("round", fixed(DOUBLE, result=LONG), _round, "a number"),
    Function("round_to", fixed(DOUBLE, INT, result=DOUBLE), _round_to, "a number and how many places"),
    _one("sqrt", lambda value: math.sqrt(value) if value >= 0 else math.nan, lambda pc, column: pc.sqrt(column)),
    _one("cbrt", _cube_root),
    _one("exp", _real(math.exp)),
    _one("log", _log(math.log)),
    _one("log10", _log(math.log10)),
    _one("log2", _log(math.log2)),
    *(_one(name, _real(getattr(math, name))) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "cosh", "tanh")),
    _one("sinh", lambda value: math.copysign(math.inf, value) if abs(value) > 711 else math.sinh(value)),
    _one("sign", _sign),
    Function("power", fixed(DOUBLE, DOUBLE, result=DOUBLE), _power, "two numbers"),
    Function("atan2", fixed(DOUBLE, DOUBLE, result=DOUBLE), math.atan2, "two numbers"),
    Function("to_single", fixed(DOUBLE, result=FLOAT), single, "a number"),
    Function(
        "rounded_decimal",
        fixed(DECIMAL, INT, result=DECIMAL),
        lambda value, places: _quantized(value, places),
        "a decimal and how many places",
        may_fail=True,
    ),
)


def _quantized(value: Decimal, places: int) -> Decimal:
    if -value.as_tuple().exponent <= places:  # type: ignore[operator]
        return value
    return canonical_decimal(value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, context=_WIDE))
