"""Filters and projections behind a stage by key are done by its reducer: the same rows and warnings, and nothing is
mapped again where one of them changed."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.query.execution import Query
from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import BagAggregate
from incoop.query.expressions.nodes import Constant, Expression, Reference, Scalar
from incoop.query.functions import GENERAL
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cogroup, Join
from incoop.query.plan.single import AggregateBy, Filter, Generate, Project
from incoop.query.types import DOUBLE, INT, LONG
from incoop.query.warnings import DIVISION
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace

from .carried_out import check, edited
from .plans import TABLES, T, U
from .reference import Tables

__all__ = ["base"]

NUMBERS = count()
K, X = build.field(T.schema, "k"), build.field(T.schema, "x")
Y = build.field(U.schema, "y")


@pytest.fixture(scope="module")
def place(base: Path) -> Iterator[OwnPlace]:
    with contextlib.closing(OwnPlace(base)) as own:
        yield own


def totals() -> Plan:
    found = (
        Aggregation(GENERAL.aggregate("sum", (LONG,))[0], (Y,)),
        Aggregation(GENERAL.aggregate("count_rows", ())[0]),
    )
    return AggregateBy(U, (build.field(U.schema, "k"),), found, ("k", "total", "rows"))


def both() -> Plan:
    return Cogroup((T, U), ((K,), (build.field(U.schema, "k"),)), ("k", "t", "u"), (False, False), True)


def joined(kind: Any = "inner") -> Plan:
    return Join(T, U, (K,), (build.field(U.schema, "k"),), kind)


def stages_by_key() -> st.SearchStrategy[Plan]:
    return st.one_of(st.builds(totals), st.builds(both), st.builds(joined, st.sampled_from(["inner", "left", "full"])))


def behind(plan: Plan, how: str) -> Plan:
    """Something that stands on a stage by key."""
    if how == "filter":
        return Filter(plan, build.compare(">", Reference(0, INT), build.constant(0)))
    if how == "one field":
        return Project(plan, (Reference(0, INT),), ("k",))
    if how == "computed":
        return Project(
            plan, (Reference(0, INT), build.arithmetic("/", Constant(6, INT), Reference(0, INT))), ("k", "n")
        )
    bags = [at for at, each in enumerate(plan.schema.types or ()) if hasattr(each, "fields")]
    if not bags:
        return plan
    results: tuple[Expression, ...] = tuple(Reference(at, (plan.schema.types or ())[at]) for at in (0, *bags))
    return Generate(plan, results, ("no", *("outer" for _ in bags)), tuple(() for _ in results))  # type: ignore[arg-type]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(stages_by_key(), st.lists(st.sampled_from(["filter", "one field", "computed", "bags"]), max_size=3), st.data())
def test_what_is_done_by_reducers_is_what_plans_mean_after_every_edit(
    place: OwnPlace, keyed: Plan, chain: list[str], data: st.DataObject
) -> None:
    plan = keyed
    for each in chain:
        plan = behind(plan, each)
    tables, fresh = data.draw(TABLES), data.draw(TABLES)
    rng = random.Random(data.draw(st.integers(0, 99)))
    query = Query(f"finished {next(NUMBERS)}", (plan,))
    for _ in range(3):
        result = check(place, query, (plan,), tables)
        again = check(place, Query(f"finished {next(NUMBERS)}", (plan,)), (plan,), tables)
        assert result.warnings == again.warnings
        tables = edited(tables, fresh, rng)


ROWS: Tables = {
    "t": [(number % 7, float(number), "s") for number in range(60)],
    "u": [(number % 5, number) for number in range(40)],
}


def test_a_statement_that_changed_behind_a_group_reduces_again_and_maps_nothing(place: OwnPlace) -> None:
    size = BagAggregate(Reference(1, T.schema.as_bag), GENERAL.aggregate("count_rows", ())[0], ())
    for keyed, looked_at in ((totals(), Reference(1, LONG)), (both(), size)):
        name, ran = f"changed {next(NUMBERS)}", []
        for least in (0, 1, 1):
            plan = Filter(keyed, build.compare(">", looked_at, build.cast(build.constant(least), looked_at.type)))
            (stage,) = check(place, Query(name, (plan,)), (plan,), ROWS).report.stages
            ran.append((stage.run.map.executed > 0, stage.run.keys_reduced > 0))
        assert ran == [(True, True), (False, True), (False, False)]


def test_warnings_of_what_reducers_do_are_those_of_the_keys_that_are_there(place: OwnPlace) -> None:
    plan = Project(totals(), (build.arithmetic("/", Constant(6, INT), Reference(0, INT)),), ("n",))
    query = Query(f"warned {next(NUMBERS)}", (plan,))
    assert check(place, query, (plan,), ROWS).warnings == {DIVISION: 1}
    changed = ROWS | {"u": [*ROWS["u"], (1, 1)]}
    assert check(place, query, (plan,), changed).warnings == {DIVISION: 1}
    without = ROWS | {"u": [row for row in ROWS["u"] if row[0] != 0]}
    assert check(place, query, (plan,), without).warnings == {}


def test_a_stage_that_two_ask_for_gives_all_of_its_rows(place: OwnPlace) -> None:
    keyed = both()
    bag = Reference(1, T.schema.as_bag)
    size = BagAggregate(bag, GENERAL.aggregate("count_rows", ())[0], ())
    outputs = (Project(keyed, (Reference(0, INT), size, bag), ("k", "n", "t")), Filter(keyed, build.constant(True)))
    check(place, Query(f"shared {next(NUMBERS)}", outputs), outputs, ROWS)


def test_a_new_value_of_another_plan_reduces_no_key_again(place: OwnPlace) -> None:
    most = AggregateBy(T, (), (Aggregation(GENERAL.aggregate("max", (DOUBLE,))[0], (X,)),), ("most",))
    total = build.cast(Reference(1, LONG), DOUBLE)
    plan = Filter(totals(), build.compare("<", total, Scalar(most, 0, DOUBLE)))
    query = Query(f"scalar {next(NUMBERS)}", (plan, most))
    check(place, query, (plan, most), ROWS)
    found = check(place, query, (plan, most), ROWS | {"t": [*ROWS["t"], (1, 150.0, "s")]})
    totals_stage, most_stage = sorted(found.report.stages, key=lambda stage: stage.run.keys_total)[::-1][:2]
    assert (totals_stage.run.keys_reduced, most_stage.run.keys_reduced) == (0, 1)
