"""Queries run in a place of their own, for tests: tables as files, what came out as it looks."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import reject

from incoop.query.execution import Query, QueryResult
from incoop.query.order import bag_key
from incoop.query.plan.node import Plan
from tests.engine.running.conftest import OwnPlace

from .plans import T, U
from .reference import Row, Tables, TooLarge, answer, random_plans
from .test_columns_mean_what_rows_mean import looks


def write(place: OwnPlace, tables: Tables) -> dict[str, Path]:
    """Tables as files in the formats of their scans; one that stays the same is not touched."""
    found = {}
    for scan in (T, U):
        path = place.folder / f"{scan.name}.tsv"
        data = scan.format.printed(tables[scan.name])
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        found[scan.name] = path
    return found


def shown(rows: Sequence[Row], plan: Plan) -> list[Any]:
    """Rows as they look: in their order where the plan has one, else in the canonical one."""
    return [looks(row) for row in (rows if plan.ordered else sorted(rows, key=bag_key))]


def check(place: OwnPlace, query: Query, outputs: Sequence[Plan], tables: Tables) -> QueryResult:
    """Run a query; what it gives must be what its plans mean. Hypothesis is told of plans that are too large."""
    try:
        with random_plans():
            meant = [[looks(row) for row in answer(plan, tables)] for plan in outputs]
    except TooLarge:
        reject()
    result = query.run(place.session, given(place, query, tables))
    for at, plan in enumerate(outputs):
        assert shown(list(result.rows(at)), plan) == meant[at]
    return result


def given(place: OwnPlace, query: Query, tables: Tables) -> dict[str, Path]:
    return {name: path for name, path in write(place, tables).items() if name in query.scans}


def edited(tables: Mapping[str, list[Row]], fresh: Mapping[str, list[Row]], rng: random.Random) -> dict[str, list[Row]]:
    """Tables after a few edits: rows inserted, changed, appended, deleted; `fresh` has rows to take."""
    found = {}
    for name, rows in tables.items():
        rows = list(rows)
        for row in fresh[name][:2]:
            kind = rng.choice(["insert", "change", "append", "delete", "delete a key"])
            at = rng.randrange(len(rows) + 1)
            if kind == "insert":
                rows.insert(at, row)
            elif kind == "append":
                rows.append(row)
            elif kind == "change" and at < len(rows):
                rows[at] = row
            elif kind == "delete" and at < len(rows):
                del rows[at]
            elif kind == "delete a key":
                rows = [each for each in rows if each[0] != row[0]]
        found[name] = rows
    return found
