"""What scripts become: aggregates by key without bags, filters where they cost least."""

from __future__ import annotations

import pytest

from incoop.fronts.pig.running.batches import plan_of
from incoop.fronts.pig.running.prepare import Preparation
from incoop.fronts.pig.running.steps import DumpStep
from incoop.fronts.pig.syntax.script import parse_script
from incoop.query.plan.node import every_plan
from incoop.query.rules import rewritten

LOAD = "a = LOAD 'in' AS (k: chararray, l: int, n: int, x: double);\n"


def nodes(script: str) -> list[str]:
    """Names of the nodes of what a script dumps, after all rules."""
    steps = Preparation().script(parse_script(LOAD + script))
    (plan,) = rewritten(tuple(plan_of(step) for step in steps if isinstance(step, DumpStep)))
    return [type(node).__name__ for node in every_plan(plan)]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("r = FOREACH (GROUP a BY k) GENERATE group, SUM(a.n), COUNT(a); DUMP r;", id="sums"),
        pytest.param("r = FOREACH (GROUP a BY (k, l)) GENERATE FLATTEN(group), AVG(a.x); DUMP r;", id="two keys"),
        pytest.param("r = FOREACH (GROUP a BY (k, l)) GENERATE group.k, group.l, MAX(a.x); DUMP r;", id="their parts"),
        pytest.param("r = FOREACH (GROUP a ALL) GENERATE COUNT_STAR(a), MIN(a.n); DUMP r;", id="of all"),
        pytest.param(
            "g = GROUP a BY k; f = FILTER g BY COUNT(a) > 1; r = FOREACH f GENERATE group, SUM(a.n); DUMP r;",
            id="groups of some size",
        ),
        pytest.param(
            "g = FOREACH (GROUP a BY k) GENERATE group AS k, COUNT(a) AS n; r = FILTER g BY n > 1; DUMP r;",
            id="counts of some size",
        ),
        pytest.param(
            "r = FOREACH (GROUP a BY k) { d = DISTINCT a.n; GENERATE group, COUNT(d); }; DUMP r;", id="different values"
        ),
        pytest.param(
            "r = FOREACH (GROUP a BY k) { f = FILTER a BY n > 1; GENERATE group, SUM(f.x), COUNT(f); }; DUMP r;",
            id="filtered rows",
        ),
        pytest.param(
            "r = FOREACH (GROUP a BY k) { s = ORDER a BY n; GENERATE group, MAX(s.x); }; DUMP r;", id="sorted rows"
        ),
    ],
)
def test_aggregates_need_no_bags(script: str) -> None:
    found = nodes(script)
    assert "AggregateBy" in found and "Cogroup" not in found


def test_bags_are_made_where_they_are_asked_for() -> None:
    assert "Cogroup" in nodes("r = FOREACH (GROUP a BY k) GENERATE group, COUNT(a), a.n; DUMP r;")
    assert "Cogroup" in nodes("r = FOREACH (GROUP a BY k) { s = LIMIT a 2; GENERATE COUNT(s); }; DUMP r;")


def test_a_limit_of_an_order_is_one_step() -> None:
    assert nodes("o = ORDER a BY n DESC; r = LIMIT o 3; DUMP r;") == ["Scan", "TopK"]


def test_filters_go_below_joins() -> None:
    script = "b = LOAD 'other' AS (k: chararray, m: int); j = JOIN a BY k, b BY k; r = FILTER j BY m > 1; DUMP r;"
    assert nodes(script) == ["Scan", "Scan", "Filter", "Join"]
