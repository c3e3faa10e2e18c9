"""Every rewrite rule, and all of them together, keep what a plan gives: on random plans and rows, by the reference."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import BagAggregate
from incoop.query.expressions.nodes import Expression, Not, Reference, UserCall
from incoop.query.functions import GENERAL
from incoop.query.order import Direction
from incoop.query.plan.node import Plan, every_plan
from incoop.query.plan.several import Cogroup, Join
from incoop.query.plan.single import AggregateBy, DistinctRows, Filter, Generate, Limit, Project, Scan, Sort, TopK
from incoop.query.rules import RULES, rewritten
from incoop.query.rules.apply import Rule
from incoop.query.types import BOOLEAN, DOUBLE, INT, LONG

from .plans import TABLES, T, U, _rows_of, plans
from .reference import Tables, answer
from .test_columns_mean_what_rows_mean import looks

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def check(rule: Rule, given_plans: tuple[Plan, ...], tables: Tables) -> None:
    found = rule(given_plans)
    for before, after in zip(given_plans, found, strict=True):
        assert [field.type for field in after.schema.fields or ()] == [
            field.type for field in before.schema.fields or ()
        ]
        assert after.ordered == before.ordered
        assert [looks(row) for row in answer(after, tables)] == [looks(row) for row in answer(before, tables)]


@pytest.mark.parametrize("rule", dict.fromkeys(RULES), ids=lambda rule: rule.__module__.split(".")[-1])
@SETTINGS
@given(st.data())
def test_a_rule_keeps_what_plans_give(rule: Rule, data: st.DataObject) -> None:
    check(rule, (data.draw(plans()),), data.draw(TABLES))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_all_rules_together_keep_what_plans_give(data: st.DataObject) -> None:
    chosen = tuple(data.draw(st.lists(plans(), min_size=1, max_size=2)))
    check(rewritten, chosen, data.draw(TABLES))


K, X = build.field(T.schema, "k"), build.field(T.schema, "x")
POSITIVE = build.compare(">", X, build.constant(0.0))


def kinds(plan: Plan) -> list[str]:
    return [type(node).__name__ for node in every_plan(plan)]


def test_a_filter_goes_below_a_join_to_its_side() -> None:
    join = Join(T, U, (K,), (build.field(U.schema, "k"),))
    right = build.compare("=", Reference(4, LONG), build.constant(1))
    (found,) = rewritten((Filter(Filter(join, POSITIVE), right),))
    assert kinds(found) == ["Scan", "Filter", "Scan", "Filter", "Join"]


def test_a_filter_stays_above_the_side_of_an_outer_join_that_may_be_null() -> None:
    join = Join(U, T, (build.field(U.schema, "k"),), (K,), "left")
    (found,) = rewritten((Filter(join, build.compare(">", Reference(3, DOUBLE), build.constant(0.0))),))
    assert isinstance(found, Filter)


def test_a_users_condition_is_not_asked_about_more_rows() -> None:
    mine = UserCall("mine", bool, b"1", (X,), BOOLEAN)
    join = Join(T, U, (K,), (build.field(U.schema, "k"),))
    (found,) = rewritten((Filter(join, mine),))
    assert isinstance(found, Filter)


def test_only_fields_that_are_used_are_read() -> None:
    (found,) = rewritten((Project(Filter(T, POSITIVE), (K,), ("k",)),))
    assert [node.wanted for node in every_plan(found) if isinstance(node, Scan)] == [(0, 1)]
    (found,) = rewritten((Project(DistinctRows(T), (K,), ("k",)),))
    assert [node.wanted for node in every_plan(found) if isinstance(node, Scan)] == [None]


def test_keys_of_a_join_follow_the_fields_that_are_left() -> None:
    semi = Join(T, U, (K,), (build.field(U.schema, "k"),), "semi")
    (found,) = rewritten((Project(semi, (K,), ("k",)),))
    assert [node.wanted for node in every_plan(found) if isinstance(node, Scan)] == [(0,), (0,)]
    by_y = Join(U, U, (build.field(U.schema, "y"),), (build.field(U.schema, "y"),), "semi")
    (found,) = rewritten((Project(by_y, (build.field(U.schema, "y"),), ("y",)),))
    assert answer(found, {"u": [(1, 5), (2, None)]}) == [(5,)]


def test_the_first_rows_of_a_sort_are_a_top_k_also_behind_a_projection() -> None:
    ordered = Sort(T, (X,), (Direction(descending=True),))
    (found,) = rewritten((Limit(Project(ordered, (K,), ("k",)), 3),))
    assert kinds(found) == ["Scan", "TopK", "Project"]
    assert isinstance(found.children[0], TopK)


def test_a_limit_that_leaves_rows_out_is_no_top_k() -> None:
    plan = Limit(Sort(T, (X,), (Direction(),)), 1, offset=1)
    (found,) = rewritten((plan,))
    assert answer(found, {"t": [(1, 2.0, "a"), (2, 1.0, "b")]}) == [(1, 2.0, "a")]


def test_projections_of_projections_are_one_unless_something_would_be_computed_twice() -> None:
    lower = Project(T, (build.arithmetic("+", X, X),), ("y",))
    y = Reference(0, DOUBLE)
    once = Project(lower, (build.arithmetic("*", y, build.constant(2.0)),), (None,))
    twice = Project(lower, (build.arithmetic("*", y, y),), (None,))
    assert kinds(rewritten((once,))[0]) == ["Scan", "Project"]
    assert kinds(rewritten((twice,))[0]) == ["Scan", "Project", "Project"]


def test_equal_parts_of_two_outputs_are_one_object() -> None:
    one = AggregateBy(Filter(T, POSITIVE), (K,), (), ("a",))
    other = DistinctRows(AggregateBy(Filter(T, POSITIVE), (K,), (), ("another name",)))
    first, second = rewritten((one, other))
    assert second.children[0] is first


def test_aggregates_of_a_groups_bag_need_no_bag() -> None:
    group = Cogroup((T,), ((K,),), ("group", "t"), (True,))
    bag = Reference(1, T.schema.as_bag)
    total = BagAggregate(bag, GENERAL.aggregate("sum", (DOUBLE,))[0], (X,))
    (found,) = rewritten((Project(group, (Reference(0, INT), total), ("k", "total")),))
    assert kinds(found) == ["Scan", "AggregateBy"]
    (found,) = rewritten((Project(group, (total, bag), ("total", "t")),))
    assert "Cogroup" in kinds(found)


@SETTINGS
@given(TABLES, st.booleans(), st.booleans(), st.sampled_from(["empty", "not empty", "inner"]), st.booleans())
def test_rows_whose_key_the_other_input_has_or_has_not_need_no_bags(
    tables: Tables, apart: bool, second: bool, how: str, with_key: bool
) -> None:
    group = Cogroup((T, U), ((K,), (build.field(U.schema, "k"),)), ("k", "t", "u"), (False, how == "inner"), apart)
    bags = [Reference(1, T.schema.as_bag), Reference(2, U.schema.as_bag)]
    if second:
        group = Cogroup((U, T), ((build.field(U.schema, "k"),), (K,)), ("k", "u", "t"), (how == "inner", False), apart)
        bags = [Reference(2, T.schema.as_bag), Reference(1, U.schema.as_bag)]
    empty = build.call(GENERAL, "is_empty", bags[1])
    below: Plan = group if how == "inner" else Filter(group, empty if how == "empty" else Not(empty))
    results = (bags[0], Reference(0, INT)) if with_key else (bags[0],)
    plan = Generate(below, results, ("yes", "no")[: len(results)], ((),) * len(results))
    (found,) = rewritten((plan,))
    (join,) = [node for node in every_plan(found) if isinstance(node, Join)]
    assert join.kind == ("anti" if how == "empty" else "semi")
    assert not any(isinstance(node, Cogroup) for node in every_plan(found))
    check(rewritten, (plan,), tables)


def test_a_group_is_no_join_where_more_is_asked_of_the_other_bag() -> None:
    group = Cogroup((T, U), ((K,), (build.field(U.schema, "k"),)), ("k", "t", "u"), (False, True), True)
    mine, other = Reference(1, T.schema.as_bag), Reference(2, U.schema.as_bag)
    for plan in (
        Generate(Filter(group, build.call(GENERAL, "is_empty", other)), (mine,), ("yes",), ((),)),
        Generate(group, (mine, other), ("yes", "no"), ((), ())),
        Generate(group, (mine, other), ("yes", "yes"), ((), ())),
        Generate(group, (mine,), ("outer",), ((),)),
    ):
        assert "Cogroup" in kinds(rewritten((plan,))[0])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(TABLES, st.booleans(), st.tuples(st.booleans(), st.booleans()), st.data())
def test_aggregates_of_the_bags_of_several_inputs_need_no_bags(
    tables: Tables, apart: bool, required: tuple[bool, bool], data: st.DataObject
) -> None:
    group = Cogroup((T, U), ((K,), (build.field(U.schema, "k"),)), ("k", "t", "u"), required, apart)
    bags = [Reference(1, T.schema.as_bag), Reference(2, U.schema.as_bag)]
    sides = (X, build.field(U.schema, "y"))
    results: list[Expression] = [Reference(0, INT)]
    for side in data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=4)):
        name = data.draw(
            st.sampled_from(["sum", "avg", "count", "count_rows", "min", "max", "count_distinct", "empty"])
        )
        rows = _rows_of(data.draw, bags[side])
        arguments = () if name == "count_rows" else (sides[side],)
        if name == "empty":
            results.append(build.call(GENERAL, "is_empty", bags[side]))
        else:
            aggregate = GENERAL.aggregate(name, tuple(each.type for each in arguments))[0]
            results.append(BagAggregate(rows, aggregate, arguments))
    below: Plan = group
    if data.draw(st.booleans()):
        below = Filter(group, build.call(GENERAL, "is_empty", bags[data.draw(st.integers(0, 1))]))
    plan = Project(below, tuple(results), (None,) * len(results))
    assert "Cogroup" not in kinds(rewritten((plan,))[0])
    check(rewritten, (plan,), tables)


def test_a_group_of_several_inputs_stays_where_rows_of_a_bag_are_asked_for() -> None:
    group = Cogroup((T, U), ((K,), (build.field(U.schema, "k"),)), ("k", "t", "u"), (False, False), True)
    counted = BagAggregate(Reference(1, T.schema.as_bag), GENERAL.aggregate("count_rows", ())[0], ())
    plan = Project(group, (Reference(0, INT), counted, Reference(2, U.schema.as_bag)), ("k", "n", "u"))
    assert "Cogroup" in kinds(rewritten((plan,))[0])
