"""Plans: checked when they are made, with positions and the nearest name; digests of what they compute; how they
print.
"""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.query.errors import (
    AmbiguousField,
    BadPlan,
    Overflowed,
    Position,
    QueryError,
    TypeMismatch,
    UnknownField,
    UnknownFunction,
    UserFunctionFailed,
)
from incoop.query.expressions import build
from incoop.query.expressions.nodes import Constant, Reference, Scalar
from incoop.query.functions import GENERAL
from incoop.query.order import Direction
from incoop.query.partial import Aggregation
from incoop.query.plan.digest import digest
from incoop.query.plan.node import Plan, every_plan
from incoop.query.plan.several import Cogroup, Join, Union
from incoop.query.plan.show import show_plan
from incoop.query.plan.single import AggregateBy, Filter, Limit, Project, Scan, Sort, Store
from incoop.query.schema import Schema
from incoop.query.sources.json_lines import JsonLines
from incoop.query.types import BOOLEAN, DOUBLE, INT, LONG, TEXT, Field

from .plans import TABLES, T, U, plans
from .reference import answer

HERE = Position("script", 3, 14)
K, X = build.field(T.schema, "k"), build.field(T.schema, "x")
UNKNOWN = Scan("v", replace(T.format, schema=Schema()))
TEXTS = Scan("w", replace(T.format, schema=Schema.of(k=INT, y=TEXT)))


def test_an_unknown_field_is_told_with_its_position_and_the_nearest() -> None:
    with pytest.raises(UnknownField) as told:
        build.field(Schema.of(name=TEXT, age=INT), "nmae", HERE)
    assert str(told.value) == "script:3:14: there is no field 'nmae' here. Did you mean name?"


def test_a_field_is_found_by_the_end_of_its_path_unless_several_have_it() -> None:
    schema = Schema.of(id=INT, x=INT).qualified("a") + Schema.of(id=INT).qualified("b")
    assert [schema.find(name) for name in ("a::id", "b::id", "x")] == [0, 2, 1]
    with pytest.raises(AmbiguousField, match="a::id, b::id"):
        schema.find("id", HERE)


MISFITS = {
    "a filter takes a condition": lambda: Filter(T, build.field(T.schema, "k", HERE)),
    "there is no field $7": lambda: Filter(T, Reference(7, BOOLEAN, position=HERE)),
    "keys of one type": lambda: Join(T, U, (build.field(T.schema, "s", HERE),), (Reference(0, INT),)),
    "fields of the same types": lambda: Union((U, TEXTS), position=HERE),
    "as many keys": lambda: Join(T, U, (K,), (), position=HERE),
    "not negative": lambda: Limit(T, -1, position=HERE),
    "two numbers of one type": lambda: build.arithmetic("+", Reference(0, TEXT), Reference(1, TEXT), position=HERE),
    "values of one type": lambda: build.compare("=", Reference(0, TEXT), Reference(1, INT), position=HERE),
    "can be cast so": lambda: build.cast(Reference(0, BOOLEAN), T.schema.as_bag, HERE),
    "takes a text, not double": lambda: build.call(GENERAL, "upper", X, position=HERE),
    "has a direction": lambda: Sort(T, (K,), (), position=HERE),
    "needs to know the fields": lambda: Join(UNKNOWN, U, (K,), (Reference(0, INT),), "full", position=HERE),
}


@pytest.mark.parametrize("said", MISFITS)
def test_what_does_not_fit_is_told_with_its_position_before_anything_runs(said: str) -> None:
    with pytest.raises(QueryError) as told:
        MISFITS[said]()
    assert said in str(told.value)
    assert told.value.position == HERE


ERRORS = (
    UnknownField("a", ("b",), HERE),
    AmbiguousField("a", ("b::a", "c::a"), HERE),
    TypeMismatch("+", ("int",), "two numbers", HERE),
    UnknownFunction("f", ("g",), HERE),
    BadPlan("no.", HERE),
    Overflowed("+", ("1", "2"), "int", HERE),
    UserFunctionFailed("f", "(1,)", "trace", HERE),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_travel(error: QueryError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error)
    assert back.position == HERE


def renamed(plan: Plan) -> Plan:
    """The same plan with other positions and names."""
    new = replace(plan.rebuilt(renamed), position=HERE)
    if isinstance(new, Project | AggregateBy | Cogroup):
        return replace(new, names=tuple(f"other{at}" for at in range(len(new.names))))
    return new


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans())
def test_digests_and_equality_leave_positions_and_names_out(plan: Plan) -> None:
    assert digest(renamed(plan)) == digest(plan)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans(), plans(), TABLES)
def test_equal_digests_are_equal_answers(one: Plan, other: Plan, tables: dict[str, list[tuple[object, ...]]]) -> None:
    if digest(one) == digest(other):
        assert repr(answer(one, tables)) == repr(answer(other, tables))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans(), st.data())
def test_another_constant_or_direction_is_another_digest(plan: Plan, data: st.DataObject) -> None:
    bounds = [build.compare("<", K, Constant(value, INT)) for value in (1, 2)]
    assert digest(Filter(T, bounds[0])) != digest(Filter(T, bounds[1]))
    count = data.draw(st.integers(0, 5))
    assert digest(Limit(plan, count)) != digest(Limit(plan, count + 1))


def test_digests_tell_apart_what_python_takes_for_equal() -> None:
    numbers = [Constant(1, LONG), Constant(1, INT), Constant(0.0, DOUBLE), Constant(-0.0, DOUBLE)]
    constants = [*numbers, Constant(True, BOOLEAN)]
    found = {digest(Project(T, (each,), (None,))) for each in constants}
    assert len(found) == len(set(constants)) == len(constants)
    ways = [Direction(), Direction(True), Direction(False, False), Direction(False, True)]
    assert len({digest(Sort(T, (K,), (way,))) for way in ways}) == len(ways)


def test_names_count_where_a_format_reads_or_writes_by_them() -> None:
    one, other = (Scan("v", JsonLines(Schema.of(**{name: INT}))) for name in ("a", "b"))
    assert digest(one) != digest(other)
    inner = [Schema.of(a=Schema.of(**{name: INT}).as_tuple) for name in ("x", "y")]
    assert digest(Scan("v", JsonLines(inner[0]))) != digest(Scan("v", JsonLines(inner[1])))
    assert digest(Store(T, "o", one.format)) != digest(Store(T, "o", other.format))


def test_the_digest_is_pinned() -> None:
    """Ids of stored results are made of it: another digest for the same plan needs another MEANING_VERSION, on
    purpose.
    """
    total = Aggregation(GENERAL.aggregate("sum", (DOUBLE,))[0], (X,))
    plan = AggregateBy(Filter(T, build.compare(">", X, build.constant(0.5))), (K,), (total,), ("k", "total"))
    assert digest(plan).hex() == "f3ee76847c282edb9b4944af326b1eae"


def test_a_plan_that_uses_one_part_very_often_has_a_digest_soon() -> None:
    plan: Plan = T
    for _ in range(60):
        plan = Union((plan, plan))
    assert len(digest(plan)) == 16
    assert len(list(every_plan(plan))) == 61


def test_a_scalar_is_a_value_of_another_plan() -> None:
    largest = Aggregation(GENERAL.aggregate("max", (DOUBLE,))[0], (X,))
    top = AggregateBy(T, (), (largest,), ("top",), row_of_nothing=True)
    plan = Filter(T, build.compare("=", X, Scalar(top, 0, DOUBLE)))
    rows = [(1, 2.0, "a"), (2, 5.0, "b"), (3, None, "c")]
    assert answer(plan, {"t": rows}) == [(2, 5.0, "b")]
    assert digest(plan) != digest(Filter(T, build.compare("=", X, Scalar(T, 1, DOUBLE))))


def test_a_plan_prints_as_a_tree_and_names_what_is_used_again() -> None:
    kept = Filter(T, build.compare(">", X, build.constant(0.5)))
    plan = Sort(Join(kept, kept, (K,), (K,), "left"), (K,), (Direction(descending=True),))
    assert show_plan(plan).splitlines() == [
        "1 Sort [k] (descending)",
        "2   Join [k] [k] left",
        "3     Filter (x > 0.5)",
        "4       Scan t as DelimitedText(k: int, x: double, s: text)",
        "5     as in 3",
    ]


def test_a_field_prints_with_its_path() -> None:
    assert str(Schema((Field("x", INT, ("a", "b")), Field(None, TEXT)))) == "(a::b::x: int, text)"
