"""Keys with very many rows: joined in parts, as DuckDB joins them whole, whatever comes and goes."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.inchdfs import ChunkSettings
from incoop.query.execution import Query, QueryResult, reducers, skew
from incoop.query.execution.skew import hands_of
from incoop.query.order import sort_key
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Join
from incoop.query.plan.single import Scan
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.types import INT, TEXT
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace

from .tables import field, picked

__all__ = ["base"]

NUMBERS = itertools.count()
LEFT = Scan("l", DelimitedText(Schema.of(k=TEXT, n=INT), "|"))
RIGHT = Scan("r", DelimitedText(Schema.of(k=TEXT, m=INT), "|"))


def joined(kind: Any, hint: str | None = "skewed") -> Join:
    return Join(LEFT, RIGHT, (field(LEFT, "k"),), (field(RIGHT, "k"),), kind, hint=hint)


class Tables:
    """Two tables with a few keys that have most rows, and nulls."""

    def __init__(self, place: OwnPlace) -> None:
        self.place, self.rng = place, random.Random(3)
        self.folder = place.folder / f"skew {next(NUMBERS)}"
        self.folder.mkdir()
        self.rows = {
            "l": [self.row(["", "hot", "warm", *map(str, range(90))], [4, 600, 90]) for _ in range(1500)],
            "r": [self.row(["", "hot", "warm", *map(str, range(90))], [4, 9, 60]) for _ in range(170)],
        }

    def row(self, keys: list[str], weights: list[int]) -> str:
        weights = weights + [1] * (len(keys) - len(weights))
        return f"{self.rng.choices(keys, weights)[0]}|{self.rng.randrange(10**6)}"

    def run(self, query: Query) -> QueryResult:
        for name, rows in self.rows.items():
            path, data = self.folder / name, "".join(f"{row}\n" for row in rows)
            if not path.exists() or path.read_text() != data:
                path.write_text(data)
        return query.run(self.place.session, {name: self.folder / name for name in query.scans})

    def sql(self, kind: str) -> list[Any]:
        with duckdb.connect(config={"threads": 1}) as engine:
            for name in "lr":
                engine.execute(
                    f"create table {name} as select * from read_csv('{self.folder / name}', delim='|', "
                    "header=false, columns={'k': 'TEXT', 'n': 'INT'}, nullstr='')"
                )
            return engine.execute(f"select * from l {kind} join r on l.k = r.k").fetchall()


@pytest.fixture(scope="module")
def place(base: Path) -> Iterator[OwnPlace]:
    with contextlib.closing(OwnPlace(base)) as made:
        made.chunks = ChunkSettings(average=8 << 10)
        yield made


@pytest.fixture
def given_tables(place: OwnPlace, monkeypatch: pytest.MonkeyPatch) -> Tables:
    monkeypatch.setattr(skew, "ROWS_OF_A_PART", 16)
    return Tables(place)


@pytest.mark.parametrize("kind", skew.CUT_KINDS)
def test_joins_of_parts_are_those_of_sql_after_every_edit(given_tables: Tables, kind: Any) -> None:
    tables, plan = given_tables, joined(kind)
    query = Query(f"{kind} {next(NUMBERS)}", (plan,))
    left, right = tables.rows["l"], tables.rows["r"]
    for edit in ("none", "a few", "a key gets cold", "a key gets hot", "another is gone on a side"):
        match edit:
            case "a few":
                left[7], right[3] = "hot|1", "warm|2"
                left.insert(70, "hot|3")
                del left[700]
            case "a key gets cold":
                left[:] = [row for row in left if not row.startswith("hot") or row.endswith("1")]
            case "a key gets hot":
                left += [f"77|{at}" for at in range(300)]
            case "another is gone on a side":
                right[:] = [row for row in right if not row.startswith("warm")]
        result = tables.run(query)
        assert sorted(result.rows(0), key=sort_key) == sorted(tables.sql(kind), key=sort_key), edit
    fresh = tables.run(Query(f"{kind} {next(NUMBERS)}", (plan,)))
    assert list(fresh.rows(0)) == list(result.rows(0))


def test_a_changed_row_of_a_hot_key_is_joined_with_its_parts_alone(given_tables: Tables) -> None:
    tables, plan = given_tables, joined("inner")
    query = Query(f"part {next(NUMBERS)}", (plan,))
    stages = {stage.role: stage.run for stage in tables.run(query).report.stages}
    hot = [sum(row.startswith("hot") for row in tables.rows[side]) for side in "lr"]
    left, right = hands_of(*hot, 16)
    assert left > 1
    assert stages[""].keys_reduced > left * right
    at = next(at for at, row in enumerate(tables.rows["l"]) if row.startswith("hot"))
    tables.rows["l"][at] = "hot|-5"
    again = {stage.role: stage.run for stage in tables.run(query).report.stages}
    assert 1 <= again[""].keys_reduced <= 2 * right
    assert again["keys to cut"].keys_reduced == 0


def test_a_join_without_hot_keys_is_the_one_without_the_hint(place: OwnPlace) -> None:
    """It finds what that left."""
    tables = Tables(place)
    name = f"same {next(NUMBERS)}"
    plain = tables.run(Query(name, (joined("inner", None),)))
    asked = tables.run(Query(name, (joined("inner"),)))
    assert list(asked.rows(0)) == list(plain.rows(0))
    assert [stage.run.map.executed > 0 for stage in asked.report.stages] == [True, False]


def test_a_projection_of_a_skewed_join_keeps_its_fields_alone(given_tables: Tables) -> None:
    plan: Plan = picked(joined("full"), 3, 1)
    result = given_tables.run(Query(f"picked {next(NUMBERS)}", (plan,)))
    wanted = [(m, n) for _, n, _, m in given_tables.sql("full")]
    assert sorted(result.rows(0), key=sort_key) == sorted(wanted, key=sort_key)


def test_the_limit_of_pairs_is_one_of_parts() -> None:
    many = reducers.MOST_ROWS_OF_A_KEY
    for left, right in ((100_000, 10_000), (many, 10), (3, many), (many, many)):
        hands = hands_of(left, right)
        assert left // hands[0] * (right // hands[1]) <= many // 10


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_hands_of_a_key_are_few_and_those_of_its_mirror(left: int, right: int) -> None:
    hands = hands_of(left, right)
    assert hands == hands_of(right, left)[::-1] or left == right
    if hands != (1, 1):
        # What is sent is little beside the pairs that are made.
        assert left * hands[1] + right * hands[0] <= left + right + left * right // 4
