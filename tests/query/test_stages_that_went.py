"""Stages that a changed query does not have any more: what a collection drops, and what it leaves alone."""

from __future__ import annotations

import time

import incoop
from incoop.maintenance.store import collect_all
from incoop.memo import Keep
from incoop.memo.collector import Collected
from incoop.query.execution import Query, QueryResult
from incoop.query.plan.node import Plan
from incoop.query.plan.single import DistinctRows, Scan
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.types import LONG, TEXT
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace, own

from .tables import aggregation, by, field

__all__ = ["base", "own"]

PAIRS = Scan("in", DelimitedText(Schema.of(k=TEXT, n=LONG)))
COUNTED: Plan = by(PAIRS, ["k"], aggregation("count_rows"))
SUMMED: Plan = by(PAIRS, ["k"], aggregation("sum", field(PAIRS, "n")))


def run(place: OwnPlace, *outputs: Plan, name: str = "asked") -> QueryResult:
    path = place.folder / "in"
    if not path.exists():
        path.write_text("".join(f"key {number % 9}\t{number}\n" for number in range(2000)))
    result = Query(name, outputs).run(place.session, {"in": path})
    assert all(list(result.rows(at)) for at in range(len(outputs)))
    return result


def collected(place: OwnPlace) -> Collected:
    place.close_session()
    time.sleep(0.02)  # what was written within a tick of the filesystem's clock counts as written meanwhile
    found = collect_all(place.store, memo=None, keep=Keep(), dry_run=False, progress=lambda *_: None).memo
    assert found is not None
    return found


def test_a_stage_that_a_query_has_no_more_is_collected(own: OwnPlace) -> None:
    run(own, COUNTED, SUMMED)
    run(own, COUNTED)
    dropped = collected(own)
    assert dropped.generations_dropped >= 1 and dropped.entries_dropped > 0
    assert run(own, COUNTED).report.nothing_ran
    assert not run(own, SUMMED).report.nothing_ran


def test_until_then_it_is_reused(own: OwnPlace) -> None:
    run(own, COUNTED, SUMMED)
    run(own, COUNTED)
    assert run(own, SUMMED).report.nothing_ran


def test_stages_of_other_queries_stay(own: OwnPlace) -> None:
    run(own, SUMMED, name="another")
    run(own, DistinctRows(PAIRS))
    run(own, COUNTED)
    collected(own)
    assert run(own, SUMMED, name="another").report.nothing_ran


def test_a_stage_that_ran_since_the_stages_were_noted_stays(own: OwnPlace) -> None:
    """Two programs ask other things under one name."""
    run(own, COUNTED)
    with incoop.connect(own.store, chunks=own.chunks) as other:
        Query("asked", (SUMMED,)).run(other, {"in": own.folder / "in"})
    run(own, COUNTED)
    collected(own)
    assert run(own, COUNTED).report.nothing_ran
