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

from incoop.query.execution import Query
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace

from .carried_out import check, edited, shown
from .plans import TABLES, plans

__all__ = ["base"]

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def place(base: Path) -> Iterator[OwnPlace]:
    with contextlib.closing(OwnPlace(base)) as place:
        yield place


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_query_gives_what_its_plans_mean_after_every_edit(place: OwnPlace, data: st.DataObject) -> None:
    outputs = tuple(data.draw(st.lists(plans(3), min_size=1, max_size=2)))
    tables = {name: rows * data.draw(st.sampled_from([1, 1, 12])) for name, rows in data.draw(TABLES).items()}
    rng = random.Random(data.draw(st.integers(0, 1000)))
    query = Query(f"law {next(NUMBERS)}", outputs)
    for _ in range(3):
        result = check(place, query, outputs, tables)
        tables = edited(tables, data.draw(TABLES), rng)
    result = check(place, query, outputs, tables)
    fresh = Query(f"fresh {next(NUMBERS)}", outputs)
    again = check(place, fresh, outputs, tables)
    for at, plan in enumerate(outputs):
        assert shown(list(result.rows(at)), plan) == shown(list(again.rows(at)), plan)
    assert result.warnings == again.warnings
