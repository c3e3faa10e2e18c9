"""Aggregates: merged in any shape they give one state; columns give the states of rows; results are those of exact
arithmetic.
"""

from __future__ import annotations

import math
import random
import statistics
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.query.errors import TypeMismatch, UnknownFunction
from incoop.query.expressions.batches import ColumnBatch
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Reference
from incoop.query.functions import GENERAL
from incoop.query.functions.aggregate import Aggregate
from incoop.query.functions.aggregates import Collect, First, Largest, Sum
from incoop.query.functions.exact import exact_of, rounded, sums_by_group
from incoop.query.order import Direction, encoded
from incoop.query.partial import Aggregation, finished, merged, of_columns, of_rows
from incoop.query.types import BYTES, DECIMAL, DOUBLE, FLOAT, INT, LONG, TEXT, Field, Type, fields_of

from .strategies import DOUBLES, LONGS, types, values_of
from .test_columns_mean_what_rows_mean import looks

SETTINGS = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
NUMERIC = ("sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp")
OF_ONE = ("count", "count_rows", "count_distinct", "min", "max", "any", "collect")


@st.composite
def aggregates(draw: st.DrawFn) -> tuple[Aggregate, tuple[Type, ...]]:
    way = draw(st.sampled_from(["number", "one", "first", "top"]))
    if way == "number":
        kind = draw(st.sampled_from([INT, LONG, FLOAT, DOUBLE, DECIMAL]))
        return GENERAL.aggregate(draw(st.sampled_from(NUMERIC)), (kind,))
    if way == "one":
        return GENERAL.aggregate(draw(st.sampled_from(OF_ONE)), (draw(types()),))
    key, value = draw(types()), draw(types())
    direction = Direction(draw(st.booleans()), draw(st.sampled_from([None, True, False])))
    if way == "first":
        return First(value, (direction,)), (key, value)
    return Largest(draw(st.integers(1, 3)), (direction,), (Field("x", value),)), (key, value)


def folded(aggregate: Aggregate, rows: list[tuple[Any, ...]]) -> Any:
    state = aggregate.initial()
    for row in rows:
        state = aggregate.add(state, row)
    return state


@SETTINGS
@given(st.data())
def test_states_merge_in_any_order_and_shape_to_the_same(data: st.DataObject) -> None:
    aggregate, kinds = data.draw(aggregates())
    kinds = (
        tuple(DOUBLE if kind == FLOAT else kind for kind in kinds) if type(aggregate).__name__ == "Spread" else kinds
    )
    rows = data.draw(st.lists(st.tuples(*map(values_of, kinds)), max_size=8))
    expected = folded(aggregate, rows)
    states = [folded(aggregate, [row]) for row in data.draw(st.permutations(rows))] + [aggregate.initial()]
    assert looks(aggregate.merge_all(states)) == looks(expected)
    while len(states) > 1:
        one = states.pop(data.draw(st.integers(0, len(states) - 1)))
        other = states.pop(data.draw(st.integers(0, len(states) - 1)))
        states.append(aggregate.merge(one, other))
    assert looks(states[0]) == looks(expected)
    if aggregate.invertible and rows:
        without = aggregate.merge(expected, aggregate.negate(folded(aggregate, rows[:1])))
        assert looks(without) == looks(folded(aggregate, rows[1:]))


@SETTINGS
@given(st.data())
def test_columns_give_the_states_of_rows(data: st.DataObject) -> None:
    key_kinds = data.draw(st.lists(types(), max_size=2))
    chosen = data.draw(st.lists(aggregates(), max_size=3))
    kinds = [*key_kinds, *(kind for _, takes in chosen for kind in takes)]
    few = [st.sampled_from(data.draw(st.lists(values_of(kind), min_size=1, max_size=3))) for kind in key_kinds]
    rows = data.draw(st.lists(st.tuples(*few, *map(values_of, kinds[len(key_kinds) :])), max_size=8))
    keys = [Reference(at, kind) for at, kind in enumerate(key_kinds)]
    aggregations, at = [], len(keys)
    for aggregate, takes in chosen:
        aggregations.append(
            Aggregation(aggregate, tuple(Reference(at + place, kind) for place, kind in enumerate(takes)))
        )
        at += len(takes)
    expected = of_rows(rows, keys, aggregations, Evaluation())
    found = of_columns(ColumnBatch.from_rows(rows, kinds), keys, aggregations, Evaluation())
    assert [looks(group) for group in found] == [looks(group) for group in expected]


@SETTINGS
@given(st.lists(DOUBLES, max_size=30), st.integers(1, 3))
def test_sums_of_floats_are_exact(values: list[float], count: int) -> None:
    finite = [value for value in values if math.isfinite(value)]
    state = folded(Sum(DOUBLE), [(value,) for value in finite])
    total = sum(map(Fraction, finite))
    try:
        expected = float(total)
    except OverflowError:
        expected = math.inf if total > 0 else -math.inf
    if finite:
        assert Sum(DOUBLE).finish(state) == expected
    groups = [at % count for at in range(len(values))]
    found = sums_by_group(np.array(values, dtype=np.float64), np.array(groups, dtype=np.int64), count)
    for group in range(count):
        mine = [(value,) for value, its in zip(values, groups, strict=True) if its == group]
        assert found[group] == folded(Sum(DOUBLE), mine)[1]


def test_many_exponents_and_many_groups_are_summed_exactly() -> None:
    rng = random.Random(5)
    values = [rng.uniform(-1, 1) * 2.0 ** rng.randint(-1000, 1000) for _ in range(2000)]
    groups = [rng.randrange(500) for _ in values]
    found = sums_by_group(np.array(values), np.array(groups), 500)
    for group in range(500):
        assert rounded(found[group]) == math.fsum(v for v, g in zip(values, groups, strict=True) if g == group)
    assert rounded(exact_of(5e-324)) == 5e-324


@SETTINGS
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_spreads_are_those_of_exact_arithmetic(values: list[float]) -> None:
    for name, expected in [("var_pop", statistics.pvariance), ("var_samp", statistics.variance)]:
        aggregate, _ = GENERAL.aggregate(name, (DOUBLE,))
        exact = expected(list(map(Fraction, values)))
        assert aggregate.finish(folded(aggregate, [(value,) for value in values])) == float(exact)


@settings(SETTINGS, max_examples=25)
@given(st.lists(st.tuples(st.sampled_from([1, 2, None]), st.none() | LONGS.map(lambda n: n % 10**12)), max_size=12))
def test_sums_counts_and_extremes_are_duckdbs(rows: list[tuple[Any, Any]]) -> None:
    names = ("count_rows", "count", "sum", "min", "max", "avg", "count_distinct")
    aggregations = [
        Aggregation(GENERAL.aggregate(name, (LONG,))[0], () if name == "count_rows" else (Reference(1, LONG),))
        for name in names
    ]
    half = len(rows) // 2
    states: dict[bytes, Any] = {}
    for part in (rows[:half], rows[half:]):
        for key, each in of_columns(
            ColumnBatch.from_rows(part, (INT, LONG)), [Reference(0, INT)], aggregations, Evaluation()
        ):
            known = states.get(encoded(key))
            states[encoded(key)] = (key, each if known is None else merged(aggregations, known[1], each))
    found = sorted(((*key, *finished(aggregations, each)) for key, each in states.values()), key=encoded)
    with duckdb.connect() as engine:
        engine.execute("create table t (k int, v bigint)")
        if rows:
            engine.executemany("insert into t values (?, ?)", rows)
        asked = "select k, count(*), count(v), sum(v), min(v), max(v), avg(v), count(distinct v) from t group by k"
        expected = [
            (*row[:3], None if row[3] is None else int(row[3]), *row[4:]) for row in engine.execute(asked).fetchall()
        ]
    for mine, theirs in zip(found, sorted(expected, key=encoded), strict=True):
        assert mine[:6] + mine[7:] == theirs[:6] + theirs[7:]
        assert mine[6] == theirs[6] or math.isclose(mine[6], theirs[6])


def test_what_is_asked_of_no_values() -> None:
    nothing = {name: GENERAL.aggregate(name, (LONG,))[0] for name in (*NUMERIC, *OF_ONE)}
    found = {name: aggregate.finish(aggregate.initial()) for name, aggregate in nothing.items()}
    assert found == {**dict.fromkeys(nothing), "count": 0, "count_rows": 0, "count_distinct": 0, "collect": []}


def test_sums_of_longs_wrap_or_are_null_where_checked() -> None:
    rows = [(2**63 - 1,), (1,)]
    assert Sum(LONG).finish(folded(Sum(LONG), rows)) == -(2**63)
    assert Sum(LONG, checked=True).finish(folded(Sum(LONG, checked=True), rows)) is None


def test_keys_that_python_confuses_stay_apart() -> None:
    rows = [(value,) for value in (1, 1.0, True, 0.0, -0.0, math.nan, -math.nan, None)]
    groups = of_rows(rows, [Reference(0, BYTES)], [Aggregation(GENERAL.aggregate("count_rows", ())[0])], Evaluation())
    assert [(looks(key[0]), states[0]) for key, states in groups] == [
        (looks(None), 1),
        (looks(True), 1),
        (looks(1), 1),
        (looks(0.0), 2),
        (looks(1.0), 1),
        (looks(math.nan), 2),
    ]


def test_zeros_and_nans_of_a_column_are_one_key_each() -> None:
    rows = [(value,) for value in (0.0, -0.0, math.nan, -math.nan, 1.0)]
    counts = [Aggregation(GENERAL.aggregate("count_rows", ())[0])]
    for kind in (DOUBLE, FLOAT):
        found = of_columns(ColumnBatch.from_rows(rows, (kind,)), [Reference(0, kind)], counts, Evaluation())
        assert looks(found) == looks(of_rows(rows, [Reference(0, kind)], counts, Evaluation()))
        assert [states for _, states in found] == [(2,), (1,), (2,)]


def test_an_unknown_aggregate_is_told_with_the_nearest_and_a_wrong_type_with_its_name() -> None:
    with pytest.raises(UnknownFunction, match="Did you mean count_rows"):
        GENERAL.aggregate("cuont_rows", ())
    with pytest.raises(TypeMismatch, match="not text"):
        GENERAL.aggregate("sum", (TEXT,))


def test_a_bag_is_in_one_order_whatever_order_rows_come_in() -> None:
    rows = [(0.0,), (-0.0,), (None,), (math.inf,), ("a",), (1,)]
    collect = Collect(fields_of(BYTES))
    one, other = folded(collect, rows), folded(collect, rows[::-1])
    assert looks(one) == looks(other)
