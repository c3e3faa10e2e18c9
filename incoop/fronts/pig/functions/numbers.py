"""Pig's functions of numbers: the builtins.

Contract: an int stays an int where Pig has a function for ints (ABS, ROUND); ROUND of a float is an int, of a double
a long. What Java cannot compute is NaN or infinite, as there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Context,
    Decimal,
)

from incoop.fronts.pig.functions.request import Maker, Request
from incoop.query.expressions.nodes import Expression
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Function, fixed
from incoop.query.numbers import saturated, single, wrapped
from incoop.query.types import BYTES, DOUBLE, FLOAT, INT, INTEGERS, NULL, NUMBERS, Type, Value
from incoop.query.warnings import RANGE, NoValue

#: By Java's numbers for its ways to round.
_MODES = (ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN)
#: Digits of the longest double, so that nothing is rounded twice.
_WIDE = Context(prec=1100)
#: GENERAL's functions of one double that mean the same.
_SAME = {
    "CEIL": "ceil", "FLOOR": "floor", "SQRT": "sqrt", "CBRT": "cbrt", "EXP": "exp", "LOG": "log", "LOG10": "log10",
    "SIN": "sin", "COS": "cos", "TAN": "tan", "ASIN": "asin", "ACOS": "acos", "ATAN": "atan", "SINH": "sinh",
    "COSH": "cosh", "TANH": "tanh",
}  # fmt: skip


def same_as(name: str, general: str) -> Function:
    """A function of GENERAL under another name."""
    return replace(GENERAL.functions[general], name=name)


def _number(types: tuple[Type, ...]) -> Type | None:
    if len(types) != 1:
        return None
    kind = DOUBLE if types[0] in (BYTES, NULL) else types[0]
    return kind if kind in NUMBERS else None


def _as_it_is(name: str, kind: Type, result: Type, row: Callable[[Value], Value]) -> Function:
    """A function of one number of one type."""
    return Function(f"{name} {kind}", fixed(kind, result=result), row, "a number")


def _absolute(request: Request) -> Expression:
    """Of the number's own type; the smallest integer has no opposite, and stays as it is."""
    kind = _number(request.types)
    if kind not in INTEGERS:
        return request.of(_BY_NAME["ABS"])
    return request.of(_as_it_is("ABS", kind, kind, lambda value: wrapped(abs(value), kind)))


def _rounded(request: Request) -> Expression:
    """Halves up; an integer stays as it is, a float becomes an int."""
    kind = _number(request.types)
    if kind in INTEGERS:
        return request.of(_as_it_is("ROUND", kind, kind, lambda value: value))
    if kind == FLOAT:
        return request.of(_as_it_is("ROUND", FLOAT, INT, lambda value: saturated(float(_round(value)), INT)))
    return request.of(_BY_NAME["ROUND"])


_round = GENERAL.functions["round"].row


def _rounded_to(request: Request) -> Expression:
    if request.types[:1] != (FLOAT,):
        return request.of(_BY_NAME["ROUND_TO"])
    rule = fixed(FLOAT, INT, INT, result=FLOAT, optional=1)
    row = lambda *values: single(round_to(*values))  # noqa: E731
    return request.of(Function("ROUND_TO float", rule, row, _BY_NAME["ROUND_TO"].takes, may_fail=True))


def round_to(value: float, places: int, mode: int = 6) -> float:
    """To so many places behind the point, of the digits that the number prints as; halves to the even digit unless a
    number of Java's RoundingMode says otherwise.

    Example:
        >>> round_to(2.25, 1), round_to(2.25, 1, 4), round_to(1250.0, -2)
        (2.2, 2.3, 1200.0)
    """
    if not math.isfinite(value) or not 0 <= mode < len(_MODES):
        raise NoValue(RANGE)
    digits = Decimal(repr(value))
    exponent = digits.as_tuple().exponent
    assert isinstance(exponent, int)
    if places >= -exponent:
        return value
    # No double has more than some three hundred digits before its point.
    return float(digits.quantize(Decimal(1).scaleb(min(-places, 400)), _MODES[mode], _WIDE))


FUNCTIONS = (
    *(same_as(name, general) for name, general in _SAME.items()),
    same_as("ROUND", "round"),
    Function(
        "ROUND_TO",
        fixed(DOUBLE, INT, INT, result=DOUBLE, optional=1),
        round_to,
        "a number, how many places, and how halves are rounded",
        may_fail=True,
    ),
    same_as("ABS", "abs"),
)
_BY_NAME = {each.name: each for each in FUNCTIONS}
MAKERS: dict[str, Maker] = {"ABS": _absolute, "ROUND": _rounded, "ROUND_TO": _rounded_to}
