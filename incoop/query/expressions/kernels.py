"""Single operations on arrays of pyarrow, where kernels mean what rows mean, or are made to.

Contract: each gives the column that the row operation gives, value by value, and counts as many warnings; or None,
where only rows can tell. Arguments are arrays, or scalars that stand for a column of equal values; at least one is an
array.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incoop.query.arrays import of_values, scalar
from incoop.query.expressions.batches import arrow_type
from incoop.query.numbers import INT_MAX, INT_MIN
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    DOUBLE,
    FLOAT,
    FLOATS,
    INT,
    INTEGERS,
    NUMBERS,
    TEXT,
    Type,
)
from incoop.query.warnings import DIVISION, Warnings

_CALCULATED = {"+": "add", "-": "subtract", "*": "multiply"}
_COMPARED = {
    "=": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
#: In text of numbers: hexadecimal digits, NaN and infinity, which pyarrow reads by rules of its own.
_NO_DIGITS = re.compile(rb"[xXnNiI]")


def arithmetic(sign: str, left: Any, right: Any, kind: Type, checked: bool, warnings: Warnings) -> Any:
    """Sums, differences, products, quotients, remainders of two columns of one type."""
    if kind not in (*INTEGERS, *FLOATS):
        return None
    if sign in _CALCULATED:
        if checked and kind in INTEGERS:
            try:
                return getattr(pc, f"{_CALCULATED[sign]}_checked")(left, right)
            except pa.ArrowInvalid:
                return None  # rows say which
        return getattr(pc, _CALCULATED[sign])(left, right)
    if sign == "%" and kind in FLOATS:
        return None
    if checked and kind in INTEGERS:
        return None
    nothing = pc.equal(right, scalar(0 if kind in INTEGERS else 0.0, right.type))
    troubles = pc.sum(pc.and_(nothing, pc.is_valid(left))).as_py()
    if troubles:
        warnings.count(DIVISION, troubles)
        right = pc.if_else(nothing, scalar(None, right.type), right)
    if kind in FLOATS:
        return pc.divide(left, right)
    quotient = _whole_quotient(left, right)
    return quotient if sign == "/" else pc.subtract(left, pc.multiply(quotient, right))


def _whole_quotient(left: Any, right: Any) -> Any:
    """The smallest integer by minus one wraps around to itself; pyarrow has zero for it."""
    minus = scalar(-1, right.type)
    opposite = pc.equal(right, minus)
    if not pc.any(opposite).as_py():
        return pc.divide(left, right)
    return pc.if_else(opposite, pc.negate(left), pc.divide(left, pc.if_else(opposite, scalar(1, right.type), right)))


def negation(column: Any, kind: Type, checked: bool) -> Any:
    if kind not in (*INTEGERS, *FLOATS):
        return None
    if checked and kind in INTEGERS:
        try:
            return pc.negate_checked(column)
        except pa.ArrowInvalid:
            return None
    return pc.negate(column)


def comparison(sign: str, left: Any, right: Any, kind: Type) -> Any:
    """By the order of values: NaN equals itself, and is the largest."""
    if kind in FLOATS and (_any_nan(left) or _any_nan(right)):
        return _with_nan(sign, left, right)
    return getattr(pc, _COMPARED[sign])(left, right)


def _any_nan(column: Any) -> bool:
    return pc.any(pc.is_nan(column)).as_py() is True


def _with_nan(sign: str, left: Any, right: Any) -> Any:
    if sign in ("=", "!="):
        both = pc.and_kleene(pc.is_nan(left), pc.is_nan(right))
        same = pc.or_kleene(pc.equal(left, right), both)
        return same if sign == "=" else pc.invert(same)
    if sign in ("<", ">="):
        less = _less(left, right)
        return less if sign == "<" else pc.invert(less)
    more = _less(right, left)
    return more if sign == ">" else pc.invert(more)


def _less(left: Any, right: Any) -> Any:
    return pc.or_kleene(pc.less(left, right), pc.and_kleene(pc.invert(pc.is_nan(left)), pc.is_nan(right)))


def is_in(column: Any, options: list[Any], kind: Type) -> Any:
    """Options are Python values."""
    arrow = arrow_type(kind)
    if arrow is None or kind in FLOATS:
        return None
    there = [option for option in options if option is not None]
    found = pc.is_in(column, value_set=of_values(there, arrow))
    missing = scalar(None, pa.bool_())
    if len(there) < len(options):
        found = pc.if_else(found, found, missing)
    return pc.if_else(pc.is_valid(column), found, missing)


def cast(column: Any, source: Type, target: Type) -> Any:
    """The casts that cannot fail, and those of text where all of it is well formed."""
    arrow = arrow_type(target)
    if arrow is None or arrow_type(source) is None:
        return None
    if source == target:
        return column
    if source in (TEXT, BYTES):
        return _from_text(column, source, target, arrow)
    if source in NUMBERS and target == BOOLEAN:
        return pc.not_equal(column, scalar(0 if source in INTEGERS else 0.0, column.type))
    if source in FLOATS:
        if target in FLOATS:
            return pc.cast(column, arrow, safe=False)
        return _cut_off(column, target, arrow) if target in INTEGERS else None
    if source in (*INTEGERS, BOOLEAN):
        if source == BOOLEAN and target in (FLOAT, DOUBLE):
            return pc.cast(pc.cast(column, pa.int32()), arrow)
        if target in NUMBERS:
            return pc.cast(column, arrow, safe=False)
        if target in (TEXT, BYTES):
            return pc.cast(pc.cast(column, pa.string()), arrow)
    return None


def _cut_off(column: Any, target: Type, arrow: Any) -> Any:
    wide = pc.cast(column, pa.float64())
    if target == INT:
        inside = _between(wide, INT_MIN - 1.0, INT_MAX + 1.0, pc.greater)
    else:
        inside = _between(wide, -(2.0**63), 2.0**63, pc.greater_equal)
    # NaN compares as false: it is outside, too
    return None if pc.all(inside).as_py() is False else pc.cast(column, arrow, safe=False)


def _between(column: Any, low: float, high: float, above: Any) -> Any:
    kind = pa.float64()
    return pc.and_(above(column, scalar(low, kind)), pc.less(column, scalar(high, kind)))


def _from_text(column: Any, source: Type, target: Type, arrow: Any) -> Any:
    if target in (TEXT, BYTES) or target in (*INTEGERS, *FLOATS):
        if target not in (TEXT, BYTES) and _NO_DIGITS.search(_data_of(column)):
            return None
        try:
            text = column if source == TEXT else pc.cast(column, pa.string())
            return pc.cast(text, arrow)
        except pa.ArrowInvalid:
            return None
    return None


def _data_of(column: Any) -> memoryview:
    """All bytes of an array of text or bytes."""
    if isinstance(column, pa.Scalar):
        return memoryview(column.as_buffer() if column.is_valid else b"")
    _, offsets, data = column.buffers()
    if data is None or not len(column):
        return memoryview(b"")
    places = memoryview(offsets).cast("i")
    return memoryview(data)[places[column.offset] : places[column.offset + len(column)]]
