"""The law of queries: after any edits, random plans give what they mean, and what a run that knows nothing gives."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.query.execution import Query, QueryResult
from incoop.query.expressions.nodes import Reference
from incoop.query.functions import GENERAL
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Join
from incoop.query.plan.single import AggregateBy, Filter, Project
from incoop.query.types import BOOLEAN, DOUBLE, INT, PlainType
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace

from .carried_out import check, edited, shown
from .carried_out import given as given_
from .plans import TABLES, T, U, plans
from .strategies import expressions

__all__ = ["base"]

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def place(base: Path) -> Iterator[OwnPlace]:
    with contextlib.closing(OwnPlace(base)) as place:
        yield place


@st.composite
def joined_and_aggregated(draw: st.DrawFn) -> Plan:
    """A plan whose joined rows nobody but an aggregation asks for, perhaps some of them only."""
    join = draw(plans(2))
    if not isinstance(join, Join):
        how = draw(st.sampled_from(["inner", "left", "right", "full", "semi", "anti"]))
        join = Join(T, U, (Reference(0, T.schema.types[0]),), (Reference(0, U.schema.types[0]),), how)
    node: Plan = join
    for _ in range(draw(st.integers(0, 2))):
        types = tuple(each.type for each in node.schema.fields or ())
        if draw(st.booleans()):
            node = Filter(node, draw(expressions(types, BOOLEAN, 2)))
        else:
            plain = [at for at, kind in enumerate(types) if isinstance(kind, PlainType)]
            kept = [Reference(at, types[at]) for at in draw(st.lists(st.sampled_from(plain), min_size=1, max_size=4))]
            results = (*kept, draw(expressions(types, INT, 2)))
            node = Project(node, results, (None,) * len(results))
    types = tuple(each.type for each in node.schema.fields or ())
    plain = [at for at, kind in enumerate(types) if isinstance(kind, PlainType)]
    keys = tuple(Reference(at, types[at]) for at in draw(st.lists(st.sampled_from(plain), max_size=2)))
    found = [Aggregation(GENERAL.aggregate("count_rows", ())[0])]
    for at in draw(st.lists(st.sampled_from(plain), max_size=2)):
        name = draw(st.sampled_from(["min", "max", "count"] + (["sum", "avg"] if types[at] in (INT, DOUBLE) else [])))
        found.append(Aggregation(GENERAL.aggregate(name, (types[at],))[0], (Reference(at, types[at]),)))
    return AggregateBy(node, keys, tuple(found), (None,) * (len(keys) + len(found)), draw(st.booleans()))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_query_gives_what_its_plans_mean_after_every_edit(place: OwnPlace, data: st.DataObject) -> None:
    """... and what a run on an empty store gives, by the root of each stage."""
    some = st.one_of(plans(3), plans(4), joined_and_aggregated())
    outputs = tuple(data.draw(st.lists(some, min_size=1, max_size=2)))
    tables = {name: rows * data.draw(st.sampled_from([1, 1, 12, 40])) for name, rows in data.draw(TABLES).items()}
    rng = random.Random(data.draw(st.integers(0, 1000)))
    query = Query(f"law {next(NUMBERS)}", outputs)
    for _ in range(4):
        result = check(place, query, outputs, tables)
        tables = edited(tables, data.draw(TABLES), rng)
    result = check(place, query, outputs, tables)
    with place.scratch() as empty:
        again = query.run(empty, given_(place, query, tables))
        for at, plan in enumerate(outputs):
            assert shown(list(result.rows(at)), plan) == shown(list(again.rows(at)), plan)
        assert result.warnings == again.warnings
        assert roots(result) == roots(again)


def roots(result: QueryResult) -> list[tuple[str, str, bytes]]:
    """What the root of each stage holds."""
    return [(type(each.node).__name__, each.role, each.result.root) for each in result.stages]  # type: ignore[attr-defined]
