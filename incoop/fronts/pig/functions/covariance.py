"""COV and COR: of every pair of bags of numbers, how they go together."""

from __future__ import annotations

import math
from fractions import Fraction

from incoop.fronts.pig.functions.aggregates import bag_of
from incoop.fronts.pig.functions.request import Request
from incoop.query.expressions.nodes import Call, Expression
from incoop.query.functions.exact import nearest_float
from incoop.query.functions.function import Function, Signature
from incoop.query.numbers import read_double
from incoop.query.types import BYTES, DOUBLE, NUMBERS, TEXT, BagType, Field, Value
from incoop.query.utf8 import decoded
from incoop.query.warnings import RANGE, NoValue

_RESULT = BagType((Field("var1", TEXT), Field("var2", TEXT), Field("value", DOUBLE)))


def covariance(request: Request) -> Expression:
    """A row for each two bags: their names and their covariance (COV) or correlation (COR)."""
    if len(request.arguments) < 2:
        raise request.mismatch("two bags of numbers, or more")
    # Bags are not cast: that would sort each by itself, and rows of several belong together by their places.
    bags = tuple(bag_of(request, at) for at in range(len(request.arguments)))
    if not all(isinstance(each.type, BagType) and _of_numbers(each.type) for each in bags):
        raise request.mismatch("bags of numbers")
    given = (*request.constructor, *(f"var{at}" for at in range(len(request.constructor), len(bags))))
    compute = _correlated if request.name == "COR" else _together

    def row(*columns: list[tuple[Value, ...]]) -> Value:
        numbers = [[_number(each) for each in column] for column in columns]
        if len({len(each) for each in numbers}) > 1:
            raise NoValue(RANGE)
        pairs = [(one, other) for one in range(len(numbers)) for other in range(one + 1, len(numbers))]
        return [(given[one], given[other], compute(numbers[one], numbers[other])) for one, other in pairs]

    name = f"{request.name} {','.join(given[: len(bags)])!r}"
    function = Function(name, lambda types: Signature(types, _RESULT), row, "bags of numbers", may_fail=True)
    return Call(function, bags, position=request.position)


def _of_numbers(kind: BagType) -> bool:
    return kind.fields is None or (len(kind.fields) == 1 and kind.fields[0].type in (*NUMBERS[:4], BYTES))


def _number(row: tuple[Value, ...]) -> float | None:
    """The only field; bytes are read as a double."""
    value = row[0] if row else None
    try:
        return read_double(decoded(value)) if isinstance(value, bytes) else None if value is None else float(value)
    except NoValue:
        return None


def _sums(one: list[float | None], other: list[float | None]) -> tuple[Fraction, Fraction]:
    """Of the products of what lies beside the means, and how many there are; exact, so that no order matters."""
    rows = [(Fraction(x), Fraction(y)) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    if not rows:
        raise NoValue(RANGE)
    size = Fraction(len(rows))
    own, others = sum((x for x, _ in rows), Fraction(0)), sum((y for _, y in rows), Fraction(0))
    return sum((x * y for x, y in rows), Fraction(0)) - own * others / size, size


def _together(one: list[float | None], other: list[float | None]) -> float:
    if not all(each is None or math.isfinite(each) for each in (*one, *other)):
        return math.nan
    total, size = _sums(one, other)
    return nearest_float(total / size)


def _correlated(one: list[float | None], other: list[float | None]) -> float:
    if not all(each is None or math.isfinite(each) for each in (*one, *other)):
        return math.nan
    total, own, others = _sums(one, other)[0], _sums(one, one)[0], _sums(other, other)[0]
    return nearest_float(total) / math.sqrt(nearest_float(own * others)) if own and others else math.nan
