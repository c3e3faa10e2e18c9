"""Questions that SQL can ask: what DuckDB answers, after every edit; and what an edit of one record runs."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from incoop.inchdfs import ChunkSettings
from incoop.query.execution import Query, QueryResult, compile, ordering
from incoop.query.order import sort_key
from incoop.query.plan.node import Plan
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace

from .tables import QUESTIONS, SALES, SHOPS, sale, sales, shops

__all__ = ["base"]

NUMBERS = itertools.count()


class Shop:
    """Both tables as files, and what they say."""

    def __init__(self, place: OwnPlace) -> None:
        self.place = place
        self.lines = {"sales": sales(), "shops": shops()}
        self.paths = {name: place.folder / name for name in self.lines}
        self.write()

    def write(self) -> None:
        for name, lines in self.lines.items():
            data = "".join(line + "\n" for line in lines).encode()
            if not self.paths[name].exists() or self.paths[name].read_bytes() != data:
                self.paths[name].write_bytes(data)

    def run(self, query: Query) -> QueryResult:
        return query.run(self.place.session, {name: self.paths[name] for name in query.scans})

    def sql(self, text: str) -> list[Any]:
        with duckdb.connect(config={"threads": 1}) as engine:
            for scan in (SALES, SHOPS):
                kinds = {"int": "INT", "long": "BIGINT", "text": "TEXT"}
                fields = scan.format.schema.fields or ()
                columns = ", ".join(f"'{each.name}': '{kinds[str(each.type)]}'" for each in fields)
                engine.execute(
                    f"create table {scan.name} as select * from read_csv('{self.paths[scan.name]}', delim='|', "
                    f"header=false, columns={{{columns}}}, nullstr='')"
                )
            return engine.execute(text).fetchall()

    def answers(self, result: QueryResult, output: int, plan: Plan, text: str) -> None:
        rows, wanted = list(result.rows(output)), self.sql(text)
        assert (rows if plan.ordered else sorted(rows, key=sort_key)) == (
            wanted if plan.ordered else sorted(wanted, key=sort_key)
        )


@pytest.fixture(scope="module")
def shop(base: Path) -> Iterator[Shop]:
    with contextlib.closing(OwnPlace(base)) as place, pytest.MonkeyPatch.context() as patch:
        place.chunks = ChunkSettings(average=64 << 10)
        for room, leaf in (
            *((compile, each) for each in ("LEAF_OF_STATES", "LEAF_OF_ROWS")),
            *((ordering, each) for each in ("LEAF_OF_FEW", "LEAF_OF_ROWS")),
        ):
            patch.setattr(room, leaf, 2 << 10)
        patch.setattr(ordering, "ROWS_OF_A_RANGE", 512)
        yield Shop(place)


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_sql_after_every_edit(shop: Shop, question: str) -> None:
    plan, text = QUESTIONS[question]
    query = Query(f"{question} {next(NUMBERS)}", (plan,))
    rng = random.Random(question)
    shop.answers(shop.run(query), 0, plan, text)
    lines = shop.lines["sales"]
    for _ in range(2):
        at = rng.randrange(len(lines) - 300)
        lines[at] = sale(rng, 99_000 + at)
        lines.insert(rng.randrange(len(lines)), sale(rng, 98_000))
        del lines[rng.randrange(len(lines))]
        del shop.lines["shops"][rng.randrange(len(shop.lines["shops"]))]
        shop.write()
    result = shop.run(query)
    shop.answers(result, 0, plan, text)
    fresh = shop.run(Query(f"{question} {next(NUMBERS)}", (plan,)))
    assert list(result.rows(0)) == list(fresh.rows(0))


@pytest.mark.parametrize("question", ["top", "limit"])
def test_more_first_rows_than_a_node_keeps_come_of_a_sort(
    shop: Shop, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering, "MOST_FIRST", 3)
    plan, text = QUESTIONS[question]
    result = shop.run(Query(f"{question} {next(NUMBERS)}", (plan,)))
    shop.answers(result, 0, plan, text)
    assert [stage.role for stage in result.report.stages][:2] == ["sample", "ranges"]


#: What one changed sale may have reduced, by question: its key as it was and as it is; a range, and the sample.
TOUCHED = {"count": 2, "sums": 2, "all": 1, "distinct": 2, "join": 2, "full": 2, "except all": 2, "sort": 4}


@pytest.mark.parametrize("question", TOUCHED)
def test_one_changed_sale_touches_its_keys_alone(shop: Shop, question: str) -> None:
    plan, text = QUESTIONS[question]
    query = Query(f"{question} {next(NUMBERS)}", (plan,))
    first = shop.run(query)
    number, _, item, _ = shop.lines["sales"][4321].split("|")
    price = 1_000 + next(NUMBERS)  # nobody else pays that: a row that was there already would change nothing
    shop.lines["sales"][4321] = f"{number}|{next(NUMBERS)}|{item}|{price}"
    shop.write()
    result = shop.run(query)
    shop.answers(result, 0, plan, text)
    assert result.report.fresh_bytes < first.report.fresh_bytes / 4
    reduced = sum(stage.run.keys_reduced for stage in result.report.stages if stage.role != "rows")
    assert 0 < reduced <= TOUCHED[question]
    assert shop.run(query).report.nothing_ran


def test_one_changed_shop_touches_its_key_alone(shop: Shop) -> None:
    plan, text = QUESTIONS["join"]
    query = Query(f"join {next(NUMBERS)}", (plan,))
    shop.run(query)
    at = next(at for at, line in enumerate(shop.lines["shops"]) if line.startswith("12|"))
    shop.lines["shops"][at] = "12|city of none"
    shop.write()
    result = shop.run(query)
    shop.answers(result, 0, plan, text)
    join = next(stage for stage in result.report.stages if stage.role == "of a join")
    assert join.run.keys_reduced == 1
    assert join.run.map.executed == 1
