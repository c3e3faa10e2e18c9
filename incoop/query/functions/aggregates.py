"""The aggregates: counts, sums, means, spreads, extremes, bags.

Contract: that of `Aggregate`. Nulls are left out by all but CountRows, First, Largest and Collect, which see whole
rows; of no values but nulls, counts are 0, bags are empty and all else is null. Results of floats are rounded once,
from the exact sum.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from incoop.query.functions import exact
from incoop.query.functions.aggregate import Aggregate, State
from incoop.query.numbers import DECIMALS, canonical_decimal, fits, wrapped
from incoop.query.order import Direction, bag_key, canonical, encoded, encoded_keys
from incoop.query.types import (
    BYTES,
    DECIMAL,
    DOUBLE,
    FLOATS,
    INTEGERS,
    LONG,
    NULL,
    BagType,
    Field,
    Type,
    Value,
)
from incoop.query.warnings import NoValue


@dataclass(frozen=True, slots=True)
class CountRows(Aggregate):
    """How many rows."""

    @property
    def type(self) -> Type:
        return LONG

    def initial(self) -> State:
        return 0

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        return state + 1

    def merge(self, one: State, other: State) -> State:
        return one + other

    def finish(self, state: State) -> Value:
        return state

    @property
    def invertible(self) -> bool:
        return True

    def negate(self, state: State) -> State:
        return -state


@dataclass(frozen=True, slots=True)
class Count(CountRows):
    """How many rows whose first argument is not null."""

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        return state if values[0] is None else state + 1


@dataclass(frozen=True, slots=True)
class _Summed(Aggregate):
    """A sum and how many values are in it: (count, total), which is an integer, an exact sum, or a decimal's ratio."""

    of: Type

    def initial(self) -> State:
        return (0, 0 if self.of in INTEGERS else exact.ZERO if self.of in FLOATS else (0, 0))

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        return state if values[0] is None else self.merge(state, (1, self._one(values[0])))

    def _one(self, value: Value) -> State:
        if self.of in INTEGERS:
            return value
        return exact.exact_of(value) if self.of in FLOATS else _tenths(value)

    def merge(self, one: State, other: State) -> State:
        if self.of in INTEGERS:
            return (one[0] + other[0], one[1] + other[1])
        add = exact.added if self.of in FLOATS else _added_tenths
        return (one[0] + other[0], add(one[1], other[1]))

    def merge_all(self, states: Sequence[State]) -> State:
        if self.of not in FLOATS:
            return Aggregate.merge_all(self, states)
        return (sum(count for count, _ in states), exact.all_added([total for _, total in states]))

    @property
    def invertible(self) -> bool:
        return True

    def negate(self, state: State) -> State:
        count, total = state
        if self.of in INTEGERS:
            return (-count, -total)
        return (-count, exact.negated(total) if self.of in FLOATS else (-total[0], total[1]))


def _tenths(value: Decimal) -> tuple[int, int]:
    """A decimal as an integer times a power of ten; zero has one form."""
    sign, digits, power = value.as_tuple()
    assert isinstance(power, int)
    number = int("".join(map(str, digits)))
    return _fewest(-number if sign else number, power)


def _fewest(number: int, power: int) -> tuple[int, int]:
    if number == 0:
        return (0, 0)
    while number % 10 == 0:
        number, power = number // 10, power + 1
    return (number, power)


def _added_tenths(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    low = min(one[1], other[1]) if one[0] and other[0] else (one[1] if one[0] else other[1])
    return _fewest(one[0] * 10 ** max(one[1] - low, 0) + other[0] * 10 ** max(other[1] - low, 0), low)


@dataclass(frozen=True, slots=True)
class Sum(_Summed):
    """The sum: of integers a long that wraps around (or null, where `checked` and it does not fit), of floats a
    double.
    """

    checked: bool = False

    @property
    def type(self) -> Type:
        return LONG if self.of in INTEGERS else DOUBLE if self.of in FLOATS else DECIMAL

    def finish(self, state: State) -> Value:
        count, total = state
        if count == 0:
            return None
        if self.of in INTEGERS:
            return None if self.checked and not fits(total, LONG) else wrapped(total, LONG)
        if self.of in FLOATS:
            return exact.rounded(total)
        return _decimal_or_null(Decimal(total[0]).scaleb(total[1], DECIMALS) if total[0] else Decimal(0))


def _decimal_or_null(value: Decimal) -> Decimal | None:
    try:
        return canonical_decimal(value)
    except NoValue:
        return None


@dataclass(frozen=True, slots=True)
class Mean(_Summed):
    """The mean: a double, of decimals a decimal."""

    @property
    def type(self) -> Type:
        return DECIMAL if self.of == DECIMAL else DOUBLE

    def finish(self, state: State) -> Value:
        count, total = state
        if count == 0:
            return None
        if self.of in INTEGERS:
            return exact.nearest_float(Fraction(total, count))
        if self.of in FLOATS:
            found = exact.special(total)
            return exact.nearest_float(exact.fraction(total) / count) if found is None else found
        return _decimal_or_null(DECIMALS.divide(Decimal(total[0]).scaleb(total[1], DECIMALS), Decimal(count)))


@dataclass(frozen=True, slots=True)
class Spread(Aggregate):
    """The variance, or its root: of a population, or of a sample. State: count, sum, sum of squares, all exact."""

    root: bool
    of_sample: bool

    @property
    def type(self) -> Type:
        return DOUBLE

    def initial(self) -> State:
        return (0, exact.ZERO, exact.ZERO)

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        value = values[0]
        if value is None:
            return state
        return self.merge(state, (1, exact.exact_of(value), exact.exact_square(value)))

    def merge(self, one: State, other: State) -> State:
        return (one[0] + other[0], exact.added(one[1], other[1]), exact.added(one[2], other[2]))

    def finish(self, state: State) -> Value:
        count, total, squares = state
        if count <= self.of_sample:
            return None
        if exact.special(squares) is not None:
            return math.nan
        spread = (exact.fraction(squares) - exact.fraction(total) ** 2 / count) / (count - self.of_sample)
        found = exact.nearest_float(spread)
        return math.sqrt(found) if self.root else found

    @property
    def invertible(self) -> bool:
        return True

    def negate(self, state: State) -> State:
        return (-state[0], exact.negated(state[1]), exact.negated(state[2]))


@dataclass(frozen=True, slots=True)
class Extreme(Aggregate):
    """The smallest or the largest value in the order of values. State: () or (value,)."""

    of: Type
    largest: bool

    @property
    def type(self) -> Type:
        return self.of

    def initial(self) -> State:
        return ()

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        return state if values[0] is None else self.merge(state, (canonical(values[0]),))

    def merge(self, one: State, other: State) -> State:
        if not one or not other:
            return one or other
        return (max if self.largest else min)(one, other, key=lambda state: encoded(state[0]))

    def finish(self, state: State) -> Value:
        return state[0] if state else None


@dataclass(frozen=True, slots=True)
class CountDistinct(Aggregate):
    """How many different values. State: their encodings, sorted. A plan that can go through a distinct had better."""

    @property
    def type(self) -> Type:
        return LONG

    def initial(self) -> State:
        return ()

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        return state if None in values else self.merge(state, (encoded(values),))

    def merge(self, one: State, other: State) -> State:
        # Two sorted runs are merged in one pass; of equal neighbours the first stays.
        return tuple(dict.fromkeys(sorted(one + other))) if one and other else one or other

    def finish(self, state: State) -> Value:
        return len(state)


@dataclass(frozen=True, slots=True)
class Largest(Aggregate):
    """The first `count` rows in an order, as a bag in that order. Arguments: the keys of the order, then the row's
    fields.
    """

    count: int
    directions: tuple[Direction, ...]
    fields: tuple[Field, ...] | None

    @property
    def type(self) -> Type:
        return BagType(self.fields)

    def initial(self) -> State:
        return ()

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        keys = len(self.directions)
        return self.merge(state, ((encoded_keys(values[:keys], self.directions), values[keys:]),))

    def merge(self, one: State, other: State) -> State:
        return tuple(heapq.nsmallest(self.count, (*one, *other), key=lambda each: (each[0], bag_key(each[1]))))

    def finish(self, state: State) -> Value:
        return [row for _, row in state]


@dataclass(frozen=True, slots=True)
class First(Aggregate):
    """The value of the first row in an order; of several such rows, the smallest. Arguments: the keys, then the
    value.
    """

    of: Type
    directions: tuple[Direction, ...]

    @property
    def type(self) -> Type:
        return self.of

    def initial(self) -> State:
        return ()

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        return self.merge(state, (encoded_keys(values[:-1], self.directions), values[-1]))

    def merge(self, one: State, other: State) -> State:
        if not one or not other:
            return one or other
        return min(one, other, key=lambda state: (state[0], bag_key(state[1:])))

    def finish(self, state: State) -> Value:
        return state[1] if state else None


@dataclass(frozen=True, slots=True)
class Collect(Aggregate):
    """All rows, as a bag. State: the rows in canonical order. Arguments: the row's fields."""

    fields: tuple[Field, ...] | None

    @property
    def type(self) -> Type:
        return BagType(self.fields)

    def initial(self) -> State:
        return ()

    def add(self, state: State, values: tuple[Value, ...]) -> State:
        return self.merge(state, (values,))

    def merge(self, one: State, other: State) -> State:
        return tuple(heapq.merge(one, other, key=bag_key)) if one and other else one or other

    def finish(self, state: State) -> Value:
        return list(state)


def _sum_of(types: tuple[Type, ...]) -> tuple[Aggregate, tuple[Type, ...]] | None:
    kind = _number(types)
    return None if kind is None else (Sum(kind), (kind,))


def _mean_of(types: tuple[Type, ...]) -> tuple[Aggregate, tuple[Type, ...]] | None:
    kind = _number(types)
    return None if kind is None else (Mean(kind), (kind,))


def _number(types: tuple[Type, ...]) -> Type | None:
    """What is summed up as what: bytes are read as doubles."""
    if len(types) != 1:
        return None
    if types[0] in (BYTES, NULL):
        return DOUBLE
    return types[0] if types[0] in (*INTEGERS, *FLOATS, DECIMAL) else None


def _spread(root: bool, of_sample: bool, types: tuple[Type, ...]) -> tuple[Aggregate, tuple[Type, ...]] | None:
    return None if _number(types) is None else (Spread(root, of_sample), (DOUBLE,))


def _extreme(largest: bool, types: tuple[Type, ...]) -> tuple[Aggregate, tuple[Type, ...]] | None:
    return (Extreme(types[0], largest), types) if len(types) == 1 else None


def _count(types: tuple[Type, ...]) -> tuple[Aggregate, tuple[Type, ...]] | None:
    return (Count(), types) if len(types) == 1 else None


#: By name, as queries call them.
AGGREGATES = {
    "count_rows": lambda types: (CountRows(), types),
    "count": _count,
    "count_distinct": lambda types: (CountDistinct(), types) if types else None,
    "sum": _sum_of,
    "avg": _mean_of,
    "min": lambda types: _extreme(False, types),
    "max": lambda types: _extreme(True, types),
    "any": lambda types: _extreme(False, types),
    "var_pop": lambda types: _spread(False, False, types),
    "var_samp": lambda types: _spread(False, True, types),
    "stddev_pop": lambda types: _spread(True, False, types),
    "stddev_samp": lambda types: _spread(True, True, types),
    "first": lambda types: (First(types[-1], (Direction(),) * (len(types) - 1)), types) if len(types) > 1 else None,
    "last": lambda types: (First(types[-1], (Direction(True),) * (len(types) - 1)), types) if len(types) > 1 else None,
    "collect": lambda types: (Collect(tuple(Field(None, each) for each in types)), types) if types else None,
}
