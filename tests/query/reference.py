"""What a plan means, as plainly as it can be said: lists of rows, loops, no sharing, no columns, no partial states.

The oracle for everything that carries plans out. It shares the meaning of single expressions (rows.py) and the order
of values (order.py) with the product, which have tests of their own; how relations are made of relations is written
anew here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from itertools import product
from typing import Any

from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Expression
from incoop.query.expressions.rows import compile_row
from incoop.query.expressions.walk import scalars
from incoop.query.functions.aggregates import Collect, Count, CountDistinct, CountRows, Extreme, Mean, Sum
from incoop.query.order import bag_key, canonical, encoded, sort_key
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cogroup, Cross, Except, Intersect, Join, Union
from incoop.query.plan.single import (
    AggregateBy,
    DistinctRows,
    Expand,
    Filter,
    Generate,
    Limit,
    Project,
    Rank,
    Scan,
    Sort,
    Store,
    TopK,
    WindowOver,
)
from incoop.query.types import DOUBLE, FLOAT, INT, LONG, BagType, MapType, TupleType

Row = tuple[Any, ...]
Tables = Mapping[str, list[Row]]


def answer(plan: Plan, tables: Tables) -> list[Row]:
    """The rows of a plan: in its order, where it has one, else in the canonical order of rows."""
    rows = rows_of(plan, tables)
    return rows if plan.ordered else sorted(rows, key=bag_key)


#: Rows of a random plan at the most. This evaluator compares rows with each other: a join of joins keeps it busy for
#: minutes. Where every row looks at the others, fewer.
MOST_ROWS, MOST_LOOKED_AT = 3000, 400


class TooLarge(Exception):
    """A random plan has more rows than this evaluator is for."""


_limited: ContextVar[bool] = ContextVar("limited", default=False)


@contextmanager
def random_plans() -> Iterator[None]:
    """Plans inside raise TooLarge where they have too many rows; those that a test writes may have any number."""
    before = _limited.set(True)
    try:
        yield
    finally:
        _limited.reset(before)


def _demand(rows: int, most: int = MOST_ROWS) -> None:
    if rows > most and _limited.get():
        raise TooLarge


def rows_of(plan: Plan, tables: Tables) -> list[Row]:
    rows = _rows_of(plan, tables)
    _demand(len(rows))
    return rows


def _rows_of(plan: Plan, tables: Tables) -> list[Row]:
    value = _evaluator(plan, tables)
    match plan:
        case Scan():
            rows = tables[plan.name]
            return rows if plan.wanted is None else [tuple(row[at] for at in plan.wanted) for row in rows]
        case Filter():
            return [row for row in rows_of(plan.input, tables) if value(plan.condition, row) is True]
        case Project():
            return [tuple(value(each, row) for each in plan.results) for row in rows_of(plan.input, tables)]
        case Generate():
            return [new for row in rows_of(plan.input, tables) for new in _generated(plan, row, value)]
        case AggregateBy():
            groups = _groups(rows_of(plan.input, tables), plan.keys, value)
            if not groups and not plan.keys and plan.row_of_nothing:
                groups = [((), [])]
            return [(*key, *(_aggregated(each, rows, value) for each in plan.aggregations)) for key, rows in groups]
        case DistinctRows():
            found: list[Row] = []
            for row in rows_of(plan.input, tables):
                _demand(len(found), MOST_LOOKED_AT)
                if not any(sort_key(row) == sort_key(other) for other in found):
                    found.append(canonical(row))
            return found
        case TopK():
            return _sorted(plan, tables, value)[: plan.count]
        case Sort():
            return _sorted(plan, tables, value)
        case Limit():
            rows = answer(plan.input, tables)
            return rows[plan.offset : plan.offset + plan.count]
        case Rank():
            return _ranked(plan, tables, value)
        case WindowOver():
            return _windowed(plan, tables, value)
        case Expand():
            rows = rows_of(plan.input, tables)
            return [tuple(value(each, row) for each in results) for row in rows for results in plan.projections]
        case Store():
            return rows_of(plan.input, tables)
        case Join():
            return _joined(plan, tables, value)
        case Cogroup():
            return _cogrouped(plan, tables, value)
        case Union():
            return [row for each in plan.inputs for row in rows_of(each, tables)]
        case Intersect() | Except():
            return _of_two(plan, tables)
        case Cross():
            left, right = rows_of(plan.left, tables), rows_of(plan.right, tables)
            _demand(len(left) * len(right))
            pairs = product(left, right)
            return [one + other for one, other in pairs]
    raise NotImplementedError(type(plan).__name__)


Evaluate = Callable[[Expression, Row], Any]


def _evaluator(plan: Plan, tables: Tables) -> Evaluate:
    known = {}
    for expression in plan.expressions():
        for each in scalars(expression):
            rows = rows_of(each.plan, tables)
            assert len(rows) <= 1
            known[(each.plan, each.index)] = rows[0][each.index] if rows else None
    evaluation = Evaluation(scalars=known)
    return lambda expression, row: compile_row(expression)(row, evaluation)


def _generated(plan: Generate, row: Row, value: Evaluate) -> list[Row]:
    rows: list[Row] = [()]
    for result, how in zip(plan.results, plan.flatten, strict=True):
        found, kind = value(result, row), result.type
        if how == "no":
            pieces: list[Row] = [(found,)]
        elif isinstance(kind, TupleType):
            pieces = [found if found is not None else (None,) * len(kind.fields or (None,))]
        elif isinstance(kind, BagType | MapType):
            pieces = list(found.items() if isinstance(found, dict) else found or [])
            if not pieces and how == "outer":
                pieces = [(None, None) if isinstance(kind, MapType) else (None,) * len(kind.fields or (None,))]
        else:
            pieces = [(found,)]
        rows = [one + tuple(piece) for one in rows for piece in pieces]
    return rows


def _groups(rows: list[Row], keys: tuple[Expression, ...], value: Evaluate) -> list[tuple[Row, list[Row]]]:
    groups: list[tuple[Row, list[Row]]] = []
    for row in rows:
        key = tuple(canonical(value(each, row)) for each in keys)
        for known, members in groups:
            if sort_key(known) == sort_key(key):
                members.append(row)
                break
        else:
            groups.append((key, [row]))
    return groups


def _aggregated(aggregation: Aggregation, rows: list[Row], value: Evaluate) -> Any:
    aggregate = aggregation.aggregate
    inputs = [tuple(value(each, row) for each in aggregation.arguments) for row in rows]
    there = [each[0] for each in inputs if each and each[0] is not None]
    if type(aggregate) is CountRows:
        return len(rows)
    if type(aggregate) is Count:
        return len(there)
    if isinstance(aggregate, CountDistinct):
        return len({encoded(each) for each in inputs if None not in each})
    if isinstance(aggregate, Collect):
        return sorted(inputs, key=bag_key)
    if isinstance(aggregate, Extreme):
        ranked = sorted(there, key=sort_key)
        return canonical(ranked[-1 if aggregate.largest else 0]) if ranked else None
    if isinstance(aggregate, Sum | Mean) and aggregate.of in (INT, LONG, FLOAT, DOUBLE):
        return _total(aggregate, there)
    state = aggregate.initial()
    for each in inputs:
        state = aggregate.add(state, each)
    return aggregate.finish(state)


def _total(aggregate: Sum | Mean, there: list[Any]) -> Any:
    if not there:
        return None
    odd = [each for each in there if isinstance(each, float) and (each != each or abs(each) == float("inf"))]
    if odd:
        return sum(odd)
    total = sum(map(Fraction, there))
    if isinstance(aggregate, Sum) and aggregate.of in (INT, LONG):
        return (int(total) + 2**63) % 2**64 - 2**63
    try:
        return float(total / len(there) if isinstance(aggregate, Mean) else total)
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


def _sorted(plan: Sort | TopK, tables: Tables, value: Evaluate) -> list[Row]:
    rows = sorted(rows_of(plan.input, tables), key=bag_key)
    # The last key first: each sort keeps what later keys said.
    for key, direction in reversed(list(zip(plan.keys, plan.directions, strict=True))):
        nulls = [row for row in rows if value(key, row) is None]
        others = [row for row in rows if value(key, row) is not None]
        others.sort(key=lambda row: sort_key(value(key, row)), reverse=direction.descending)
        first = not direction.descending if direction.nulls_first is None else direction.nulls_first
        rows = nulls + others if first else others + nulls
    return rows


def _ranked(plan: Rank, tables: Tables, value: Evaluate) -> list[Row]:
    if not plan.keys:
        return [(at, *row) for at, row in enumerate(answer(plan.input, tables), 1)]
    rows = _sorted(Sort(plan.input, plan.keys, plan.directions), tables, value)
    ranked: list[Row] = []
    last, rank = None, 0
    for at, row in enumerate(rows, 1):
        key = sort_key(tuple(value(each, row) for each in plan.keys))
        if key != last:
            rank = rank + 1 if plan.dense else at
        ranked.append((rank, *row))
        last = key
    return ranked


def _windowed(plan: WindowOver, tables: Tables, value: Evaluate) -> list[Row]:
    rows = _sorted(Sort(plan.input, plan.keys, plan.directions), tables, value)
    _demand(len(rows), MOST_LOOKED_AT)
    found = []
    for _, members in _groups(rows, plan.partition, value):
        for at, row in enumerate(members):
            seen = members[: at + 1] if plan.running else members
            found.append((*row, *(_aggregated(each, seen, value) for each in plan.aggregations)))
    return found


def _joined(plan: Join, tables: Tables, value: Evaluate) -> list[Row]:
    left, right = rows_of(plan.left, tables), rows_of(plan.right, tables)
    keys_of_right = [tuple(value(each, row) for each in plan.right_keys) for row in right]
    names_of_right = [sort_key(its) for its in keys_of_right]
    nothing_left, nothing_right = (None,) * (plan.left.schema.width or 0), (None,) * (plan.right.schema.width or 0)
    found: list[Row] = []
    used = [False] * len(right)
    for one in left:
        key = tuple(value(each, one) for each in plan.left_keys)
        partners = []
        name = sort_key(key)
        _demand(len(found))
        for at, its in enumerate(names_of_right):
            if name == its and (plan.nulls_match or None not in key):
                partners.append(right[at])
                used[at] = True
        if plan.kind == "semi":
            found += [one] if partners else []
        elif plan.kind == "anti":
            found += [] if partners else [one]
        elif partners:
            found += [one + other for other in partners]
        elif plan.kind in ("left", "full"):
            found.append(one + nothing_right)
    if plan.kind in ("right", "full"):
        found += [nothing_left + other for other, was_used in zip(right, used, strict=True) if not was_used]
    return found


def _cogrouped(plan: Cogroup, tables: Tables, value: Evaluate) -> list[Row]:
    """Keys with a null, where they stay apart, are told apart by the number of their input."""
    groups: dict[Any, tuple[Row, list[list[Row]]]] = {}
    for at, (each, keys) in enumerate(zip(plan.inputs, plan.keys, strict=True)):
        for key, rows in _groups(rows_of(each, tables), keys, value):
            apart = at if plan.nulls_apart and None in key else None
            name = (encoded(key), apart)
            groups.setdefault(name, (key, [[] for _ in plan.inputs]))[1][at].extend(rows)
    return [
        (*key, *(sorted(bag, key=bag_key) for bag in bags))
        for key, bags in groups.values()
        if all(bag or not needed for bag, needed in zip(bags, plan.required, strict=True))
    ]


def _of_two(plan: Intersect | Except, tables: Tables) -> list[Row]:
    left = [canonical(row) for row in rows_of(plan.left, tables)]
    right = [encoded(row) for row in rows_of(plan.right, tables)]
    found: list[Row] = []
    seen: set[bytes] = set()
    for row in left:
        name = encoded(row)
        if not plan.all and name in seen:
            continue
        seen.add(name)
        there = name in right
        if there and plan.all:
            right.remove(name)
        if there == isinstance(plan, Intersect):
            found.append(row)
    return found
