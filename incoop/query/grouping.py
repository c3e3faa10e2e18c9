"""Rows of columns numbered by group, and aggregates of a column by these numbers.

Contract: that of partial.py. Counts, sums, means and extremes of plain types are computed without a loop over rows;
all else is added row by row, with the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from incoop.query.arrays import numbers_of, scalar
from incoop.query.expressions.batches import ColumnValues, to_values
from incoop.query.functions.aggregate import Aggregate
from incoop.query.functions.aggregates import Count, CountDistinct, CountRows, Extreme, Mean, Sum
from incoop.query.functions.exact import sums_by_group
from incoop.query.order import canonical, encoded
from incoop.query.types import DOUBLE, FLOATS, INTEGERS, TEXT, Type, Value

Typed = tuple[ColumnValues, Type]


def group_numbers(columns: Sequence[Typed], length: int) -> tuple[np.ndarray, list[tuple[Value, ...]]]:
    """A group's number for each row, and the key of each number."""
    numbers, values, count = group_columns(columns, length)
    return numbers, list(zip(*values, strict=True)) if values else [()] * count


def group_columns(columns: Sequence[Typed], length: int) -> tuple[np.ndarray, list[list[Value]], int]:
    """A group's number for each row; the values that keys are of, by column, and how many keys there are."""
    if not columns:
        return np.zeros(length, dtype=np.int64), [], 1
    numbers, first = _codes(*columns[0])
    keys, count = [first], len(first)
    for column, kind in columns[1:]:
        codes, values = _codes(column, kind)
        together = numbers * len(values) + codes
        used, numbers = renumbered(together, count * len(values))
        before, own = (used // max(len(values), 1)).tolist(), (used % max(len(values), 1)).tolist()
        keys = [[each[at] for at in before] for each in keys] + [[values[at] for at in own]]
        count = len(used)
    return numbers, keys, count


def renumbered(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers below `size` that occur, ascending; and for each number, which of them it is."""
    if size > 4 * len(numbers) + 1024:
        used, places = np.unique(numbers, return_inverse=True)
        return used, places
    used = np.flatnonzero(np.bincount(numbers, minlength=size))
    place_of = np.zeros(size, dtype=np.int64)
    place_of[used] = np.arange(len(used))
    return used, place_of[numbers]


def _codes(column: ColumnValues, kind: Type) -> tuple[np.ndarray, list[Value]]:
    """A number for each row, equal for values that are one, and the value of each number."""
    if isinstance(column, list):
        return _codes_of_values(column)
    if kind in FLOATS:
        # Zeros and NaNs look different and are one.
        zero, nan = scalar(0.0, column.type), scalar(float("nan"), column.type)
        column = pc.if_else(pc.equal(column, zero), zero, column)
        column = pc.if_else(pc.is_nan(column), nan, column)
    found = pc.dictionary_encode(column, null_encoding="encode")
    codes = numbers_of(found.indices).astype(np.int64)
    values = to_values(found.dictionary, kind)
    return codes, [canonical(value) for value in values] if kind in FLOATS else values


def _codes_of_values(column: list[Value]) -> tuple[np.ndarray, list[Value]]:
    places: dict[bytes, int] = {}
    values: list[Value] = []
    codes = np.empty(len(column), dtype=np.int64)
    for at, value in enumerate(column):
        name = encoded(value)
        place = places.get(name)
        if place is None:
            place = places[name] = len(values)
            values.append(canonical(value))
        codes[at] = place
    return codes, values


def states_by_group(aggregate: Aggregate, columns: Sequence[Typed], numbers: np.ndarray, count: int) -> list[Any]:
    """The state of each group."""
    if type(aggregate) is CountRows:
        counts: list[int] = np.bincount(numbers, minlength=count).tolist()
        return counts
    if len(columns) == 1 and not isinstance(columns[0][0], list):
        column, kind = columns[0]
        if type(aggregate) is CountDistinct:
            return _different(column, kind, numbers, count)
        if type(aggregate) is Count:
            return list(_counts(column, numbers, count).tolist())
        if isinstance(aggregate, Sum | Mean) and kind == aggregate.of and kind in (*INTEGERS, *FLOATS):
            return _sums(column, kind, numbers, count)
        if type(aggregate) is Extreme and (kind in (*INTEGERS, DOUBLE, TEXT)):
            return _extremes(column, kind, aggregate.largest, numbers, count)
    return _row_by_row(aggregate, columns, numbers, count)


def _there(column: Any, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
    """The values that are not null, and their groups."""
    if column.null_count == 0:
        return column, numbers
    return column.drop_null(), numbers[numbers_of(pc.is_valid(column))]


def _counts(column: Any, numbers: np.ndarray, count: int) -> Any:
    return np.bincount(_there(column, numbers)[1], minlength=count)


def _sums(column: Any, kind: Type, numbers: np.ndarray, count: int) -> list[Any]:
    values, groups = _there(column, numbers)
    array = numbers_of(values)
    counts = np.bincount(groups, minlength=count).tolist()
    if kind in FLOATS:
        return list(zip(counts, sums_by_group(array.astype(np.float64), groups, count), strict=True))
    return list(zip(counts, _whole_sums(array.astype(np.int64), groups, count), strict=True))


def _whole_sums(values: np.ndarray, groups: np.ndarray, count: int) -> list[int]:
    """Exact sums of integers: three parts of at most 22 bits add up exactly as floats, whatever there are up to 2**31
    rows.
    """
    largest = int(np.abs(values).max()) if len(values) else 0
    if 0 <= largest * len(values) < 2**53:
        sums: list[int] = np.bincount(groups, weights=values.astype(np.float64), minlength=count).astype(int).tolist()
        return sums
    parts = (values & 0x3FFFFF, (values >> 22) & 0x3FFFFF, values >> 44)
    added = [np.bincount(groups, weights=part.astype(np.float64), minlength=count) for part in parts]
    return [int(low) + (int(middle) << 22) + (int(high) << 44) for low, middle, high in zip(*added, strict=True)]


def _extremes(column: Any, kind: Type, largest: bool, numbers: np.ndarray, count: int) -> list[Any]:
    """Of texts by their rank. NaN is the largest float to us and none at all to numpy: it is looked at apart."""
    values, groups = _there(column, numbers)
    found: list[Value] = []
    odd: set[int] = set()
    if kind == TEXT:
        codes, found = _codes(values, kind)
        order = sorted(range(len(found)), key=found.__getitem__)
        ranks = np.empty(len(found), np.int64)
        ranks[order] = np.arange(len(found))
        array, found = ranks[codes], [found[at] for at in order]
    else:
        array = numbers_of(values)
    if kind == DOUBLE:
        nans = np.isnan(array)
        odd = set(np.unique(groups[nans]).tolist())
        array, groups = array[~nans], groups[~nans]
    lowest, highest = (-np.inf, np.inf) if kind == DOUBLE else (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    extremes = np.full(count, lowest if largest else highest, array.dtype)
    (np.maximum if largest else np.minimum).at(extremes, groups, array)
    there = np.bincount(groups, minlength=count) > 0
    states: list[Any] = [()] * count
    for group, value in zip(np.flatnonzero(there).tolist(), extremes[there].tolist(), strict=True):
        states[group] = (found[value] if kind == TEXT else canonical(value),)
    for group in odd:
        if largest or not there[group]:
            states[group] = (canonical(float("nan")),)
    return states


def _different(column: Any, kind: Type, numbers: np.ndarray, count: int) -> list[Any]:
    """Each value is encoded once, and is in a group's state once."""
    codes, values = _codes(column, kind)
    names = [None if value is None else encoded((value,)) for value in values]
    found: list[set[bytes]] = [set() for _ in range(count)]
    for pair in np.unique(numbers * len(values) + codes).tolist():
        group, code = divmod(pair, len(values))
        name = names[code]
        if name is not None:
            found[group].add(name)
    return [tuple(sorted(each)) for each in found]


def _row_by_row(aggregate: Aggregate, columns: Sequence[Typed], numbers: np.ndarray, count: int) -> list[Any]:
    states = [aggregate.initial() for _ in range(count)]
    lists = [to_values(column, kind) for column, kind in columns]
    rows = zip(*lists, strict=True) if lists else [()] * len(numbers)
    for group, values in zip(numbers.tolist(), rows, strict=True):
        states[group] = aggregate.add(states[group], values)
    return states
