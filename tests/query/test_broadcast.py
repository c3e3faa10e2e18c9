"""Joins whose right side travels: the rows of the join without the hint, whatever changes; and what an edit runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incoop.query.execution import Query, QueryResult, broadcast, joining
from incoop.query.execution.broadcast import HINT
from incoop.query.order import bag_key
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Join
from incoop.query.plan.single import Scan
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.types import LONG, TEXT
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace, own

from .tables import aggregation, by, field

__all__ = ["base", "own"]

LEFT = Scan("l", DelimitedText(Schema.of(k=TEXT, n=LONG), "|"))
RIGHT = Scan("r", DelimitedText(Schema.of(k=TEXT, m=LONG), "|"))
KINDS: Any = ["inner", "left", "right", "full", "semi", "anti"]


def joined(kind: Any, hint: str | None, nulls_match: bool = False) -> Join:
    return Join(LEFT, RIGHT, (field(LEFT, "k"),), (field(RIGHT, "k"),), kind, nulls_match, hint)


class Tables:
    def __init__(self, place: OwnPlace) -> None:
        self.place = place
        self.lines = {
            "l": [f"{'' if number % 17 == 0 else f'key {number % 23}'}|{number}" for number in range(3000)],
            "r": ["|1", "key 3|2", "key 3|3", "key 4|4", "key 99|5"],
        }

    def run(self, plan: Plan, name: str) -> QueryResult:
        for table, lines in self.lines.items():
            self.path(table).write_text("".join(f"{line}\n" for line in lines))
        return Query(name, (plan,)).run(self.place.session, {table: self.path(table) for table in self.lines})

    def path(self, table: str) -> Path:
        return self.place.folder / table


@pytest.mark.parametrize("kind", KINDS)
def test_a_side_that_travels_gives_the_join_by_key(own: OwnPlace, kind: Any) -> None:
    tables = Tables(own)
    for number, edit in enumerate(
        [None, ("l", 7, "key 4|8"), ("r", 1, "key 5|2"), ("r", 0, "key 3|9"), ("r", 4, "|5")]
    ):
        if edit is not None:
            tables.lines[edit[0]][edit[1]] = edit[2]
        for nulls_match in (False, True):
            with_hint = tables.run(joined(kind, HINT, nulls_match), f"travels {nulls_match}")
            without = tables.run(joined(kind, None, nulls_match), f"by key {nulls_match} {number}")
            rows = sorted(with_hint.rows(0), key=bag_key)
            assert rows and rows == sorted(without.rows(0), key=bag_key)


def test_a_left_row_that_changed_maps_its_leaf_and_groups_nothing(own: OwnPlace) -> None:
    tables = Tables(own)
    plan = by(joined("inner", HINT), ["m"], aggregation("count_rows"))
    tables.run(plan, "asked")
    tables.lines["l"][1500] = "key 3|77"
    again = tables.run(plan, "asked")
    (grouped,) = [stage for stage in again.report.stages if stage.node == "AggregateBy"]
    assert not any("join" in stage.role for stage in again.report.stages)
    assert 0 < grouped.run.fresh_bytes < grouped.run.input_bytes
    assert sorted(again.rows(0)) == sorted(
        tables.run(by(joined("inner", None), ["m"], aggregation("count_rows")), "other").rows(0)
    )


def test_a_side_with_many_rows_is_joined_by_key(own: OwnPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "MOST_ROWS", 3)
    tables = Tables(own)
    result = tables.run(joined("inner", HINT), "asked")
    assert any(stage.node == "Join" for stage in result.report.stages)
    assert broadcast.MOST_ROWS > 3
