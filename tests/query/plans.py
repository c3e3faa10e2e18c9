"""Random plans over two small tables, and rows for these."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import BagAggregate, BagColumns, BagDistinct, BagFilter, BagSort
from incoop.query.expressions.nodes import Expression, Reference
from incoop.query.functions import GENERAL
from incoop.query.order import Direction
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
    TopK,
    WindowOver,
)
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.types import BOOLEAN, DOUBLE, INT, LONG, TEXT, BagType, PlainType

from .strategies import expressions

T = Scan("t", DelimitedText(Schema.of(k=INT, x=DOUBLE, s=TEXT)))
U = Scan("u", DelimitedText(Schema.of(k=INT, y=LONG)))
KEYS = st.sampled_from([None, 0, 1, 2])
TABLES = st.fixed_dictionaries(
    {
        "t": st.lists(
            st.tuples(
                KEYS, st.sampled_from([None, 0.0, -0.0, 1.5, float("nan"), 1e300]), st.sampled_from([None, "a", "b"])
            ),
            max_size=5,
        ),
        "u": st.lists(st.tuples(KEYS, st.sampled_from([None, -1, 1, 2**62])), max_size=4),
    }
)
KINDS = [
    "filter",
    "filter",
    "project",
    "project",
    "generate",
    "aggregate",
    "group",
    "distinct",
    "join",
    "join",
    "cogroup",
    "union",
    "intersect",
    "except",
    "sort",
    "limit",
    "topk",
    "rank",
    "cross",
    "window",
    "expand",
]


@st.composite
def plans(draw: st.DrawFn, depth: int = 4) -> Plan:
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from([T, U]))
    lower = draw(plans(depth - 1))
    fields = lower.schema.fields or ()
    types = tuple(field.type for field in fields)
    plain = [at for at, kind in enumerate(types) if isinstance(kind, PlainType)]
    if not plain or len(fields) > 9:
        return lower
    kind = draw(st.sampled_from(KINDS))

    def expression(wanted: Any, deep: int = 2) -> Expression:
        return draw(expressions(types, wanted, deep))

    def some_fields(least: int = 1, most: int = 3) -> list[Reference]:
        chosen = draw(st.lists(st.sampled_from(plain), min_size=least, max_size=most))
        return [build.field(lower.schema, at) for at in chosen]

    def aggregations(most: int = 3) -> tuple[Aggregation, ...]:
        found = []
        for at in draw(st.lists(st.sampled_from(plain), max_size=most)):
            numeric = types[at] in (INT, LONG, DOUBLE)
            names = ["count", "min", "max", "count_distinct", "collect"] + (["sum", "avg"] * 3 if numeric else [])
            found.append(
                Aggregation(
                    GENERAL.aggregate(draw(st.sampled_from(names)), (types[at],))[0], (Reference(at, types[at]),)
                )
            )
        return tuple(found)

    def order(most: int = 2) -> tuple[tuple[Expression, ...], tuple[Direction, ...]]:
        keys = tuple(some_fields(1, most))
        ways = st.builds(Direction, st.booleans(), st.sampled_from([None, True, False]))
        return keys, tuple(draw(ways) for _ in keys)

    if kind == "filter":
        return Filter(lower, expression(BOOLEAN, 3))
    if kind == "project":
        results = (*some_fields(), expression(draw(st.sampled_from([INT, DOUBLE, TEXT]))))
        return Project(lower, results, (None,) * len(results))
    if kind == "generate":
        bags = [at for at, each in enumerate(types) if isinstance(each, BagType)]
        results = (*some_fields(), *(Reference(at, types[at]) for at in bags[:2]))
        ways = [
            "no" if isinstance(each.type, PlainType) else draw(st.sampled_from(["yes", "outer"])) for each in results
        ]
        return Generate(lower, results, tuple(ways), ((),) * len(results))  # type: ignore[arg-type]
    if kind == "aggregate":
        keys, found = tuple(some_fields(0, 2)), aggregations()
        return AggregateBy(lower, keys, found, (None,) * (len(keys) + len(found)), draw(st.booleans()))
    if kind == "group":
        return _group(draw, lower, tuple(some_fields(1, 2)), aggregations())
    if kind == "distinct":
        return DistinctRows(lower)
    if kind in ("join", "cogroup", "cross"):
        return _two_inputs(draw, kind, lower, draw(plans(depth - 2 if depth > 1 else 0)))
    if kind == "union":
        return Union((lower, Filter(lower, expression(BOOLEAN))))
    if kind in ("intersect", "except"):
        return (Intersect if kind == "intersect" else Except)(
            lower, Filter(lower, expression(BOOLEAN)), draw(st.booleans())
        )
    if kind == "sort":
        return Sort(lower, *order())
    if kind == "topk":
        return TopK(lower, *order(), draw(st.integers(0, 3)))
    if kind == "limit":
        whole = draw(st.sampled_from(["as it is", "sorted"]))
        return Limit(
            Sort(lower, *order()) if whole == "sorted" else lower,
            draw(st.integers(0, 3)),
            draw(st.sampled_from([0, 0, 1])),
        )
    if kind == "rank":
        return Rank(lower, *order(), draw(st.booleans()))
    if kind == "window":
        found = aggregations()
        return WindowOver(lower, tuple(some_fields(0, 1)), *order(), found, (None,) * len(found), draw(st.booleans()))
    results = tuple(some_fields(1, 2))
    nulls = tuple(build.cast(build.constant(None), each.type) for each in results)
    return Expand(lower, (results, nulls), (None,) * len(results))


def _group(draw: st.DrawFn, lower: Plan, keys: tuple[Expression, ...], found: tuple[Aggregation, ...]) -> Plan:
    """A group, and often a projection that aggregates its bag."""
    group = Cogroup((lower,), (keys,), (None,) * (len(keys) + 1), (True,))
    if draw(st.booleans()):
        return group
    bag = Reference(len(keys), lower.schema.as_bag)
    results: list[Expression] = [Reference(at, key.type) for at, key in enumerate(keys)]
    for each in found:
        (argument,) = each.arguments
        assert isinstance(argument, Reference)
        rows = _rows_of(draw, bag)
        if draw(st.booleans()):
            results.append(BagAggregate(rows, each.aggregate, each.arguments))
        else:
            column: Expression = BagColumns(rows, (argument.index,))
            column = BagDistinct(column) if draw(st.booleans()) else column
            results.append(BagAggregate(column, each.aggregate, (Reference(0, argument.type),)))
    if draw(st.integers(0, 4)) == 0:
        results.append(bag)
    below: Plan = group
    if draw(st.integers(0, 3)) == 0:
        counted = BagAggregate(_rows_of(draw, bag), GENERAL.aggregate("count_rows", ())[0], ())
        below = Filter(group, build.compare(">", counted, build.constant(draw(st.integers(0, 2)))))
    return Project(below, tuple(results), (None,) * len(results))


def _rows_of(draw: st.DrawFn, bag: Expression) -> Expression:
    """A bag, or those of its rows for which something is true, or these in an order."""
    assert isinstance(bag.type, BagType) and bag.type.fields is not None
    types = tuple(field.type for field in bag.type.fields)
    if draw(st.integers(0, 2)) == 0:
        bag = BagFilter(bag, draw(expressions(types, BOOLEAN, 2)))
    plain = [at for at, kind in enumerate(types) if isinstance(kind, PlainType)]
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.sampled_from(plain))
        bag = BagSort(bag, (Reference(at, types[at]),), (Direction(draw(st.booleans())),))
    return bag


def _two_inputs(draw: st.DrawFn, kind: str, left: Plan, right: Plan) -> Plan:
    if kind == "cross":
        return Cross(left, right)
    pairs = [
        (Reference(one, mine.type), Reference(other, its.type))
        for one, mine in enumerate(left.schema.fields or ())
        for other, its in enumerate(right.schema.fields or ())
        if mine.type == its.type and isinstance(mine.type, PlainType)
    ]
    if not pairs:
        return Cross(left, right)
    one, other = draw(st.sampled_from(pairs))
    if kind == "join":
        how = draw(st.sampled_from(["inner", "left", "right", "full", "semi", "anti"]))
        hint = draw(st.sampled_from([None, None, "skewed", "small and stable"]))
        return Join(left, right, (one,), (other,), how, draw(st.booleans()), hint)  # type: ignore[arg-type]
    required = (draw(st.booleans()), draw(st.booleans()))
    return Cogroup((left, right), ((one,), (other,)), (None,) * 3, required, draw(st.booleans()))
