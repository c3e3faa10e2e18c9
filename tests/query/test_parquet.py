"""Parquet: what values become, what DuckDB answers on the same files after every edit, what an edit runs, bad input."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import random
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.base.errors import BadCall
from incoop.base.file_stamps import Watch
from incoop.inchdfs.errors import InputNotFound
from incoop.inchdfs.store.collect import collect
from incoop.query.errors import QueryError
from incoop.query.execution import Query
from incoop.query.execution.parquet_groups import ParquetFooter, UnreadableParquet
from incoop.query.execution.parquet_index import schema_of_parquet
from incoop.query.order import sort_key
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Join
from incoop.query.plan.single import Scan, Sort, Store
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.parquet import Parquet
from incoop.query.types import DECIMAL, DOUBLE, INT, LONG, TEXT, BagType, Field, TupleType
from incoop.query.warnings import CAST, Warnings
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace

from .strategies import tables
from .tables import DOWN, aggregation, by, field, picked
from .test_columns_mean_what_rows_mean import looks

__all__ = ["base"]

NUMBERS = itertools.count()
GROUP = 200
COLUMNS = pa.schema(
    [
        ("id", pa.int64()),
        ("shop", pa.dictionary(pa.int32(), pa.string())),
        ("price", pa.decimal128(9, 2)),
        ("share", pa.float64()),
        ("at", pa.timestamp("us")),
        ("note", pa.string()),
    ]
)
SALES = Scan("sales", Parquet(Schema.of(id=LONG, shop=TEXT, price=DECIMAL, share=DOUBLE)))
SHOPS = Scan("shops", DelimitedText(Schema.of(shop=TEXT, city=TEXT), "|"))


@pytest.fixture(scope="module")
def own(base: Path) -> Iterator[OwnPlace]:
    with contextlib.closing(OwnPlace(base)) as place:
        yield place


def sale(rng: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "shop": rng.choice([None, *(f"shop {each}" for each in range(30))]),
        "price": rng.choice([None, Decimal(rng.randrange(9000)) / 100]),
        "share": rng.choice([None, 0.1, -0.0, 1e300, rng.random()]),
        "at": datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=number),
        "note": rng.choice(["", "a note", "another note"]),
    }


def put(path: Path, rows: list[dict[str, Any]], **options: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, COLUMNS), path, row_group_size=GROUP, **options)


class Sales:
    """Two files of sales, a table of shops as text."""

    def __init__(self, own: OwnPlace) -> None:
        self.own, self.folder = own, own.folder / f"sales {next(NUMBERS)}"
        self.rng = random.Random(7)
        self.files = {
            name: [sale(self.rng, at + first) for at in range(900)] for name, first in (("a", 0), ("b", 5000))
        }
        for name in self.files:
            self.write(name)
        self.shops = own.folder / f"shops {next(NUMBERS)}"
        self.shops.write_text("".join(f"shop {number}|city {number % 7}\n" for number in range(25)))

    def write(self, name: str, **options: Any) -> None:
        put(self.folder / f"{name}.parquet", self.files[name], **options)

    def run(self, query: Query) -> Any:
        return query.run(
            self.own.session,
            {name: path for name, path in (("sales", self.folder), ("shops", self.shops)) if name in query.scans},
        )

    def sql(self, text: str) -> list[Any]:
        with duckdb.connect(config={"threads": 1}) as engine:
            engine.execute(f"create view sales as select * from read_parquet('{self.folder}/*.parquet')")
            engine.execute(
                f"create view shops as select * from read_csv('{self.shops}', delim='|', header=false, "
                "columns={'shop': 'TEXT', 'city': 'TEXT'})"
            )
            return engine.execute(text).fetchall()


@pytest.fixture
def sold(own: OwnPlace) -> Sales:
    return Sales(own)


def numbers(rows: list[Any]) -> list[Any]:
    """Decimals are compared as they are; DuckDB's have trailing zeros."""
    return [tuple(each.normalize() if isinstance(each, Decimal) else each for each in row) for row in rows]


PRICE, SHOP = field(SALES, "price"), field(SALES, "shop")
QUESTIONS: dict[str, tuple[Plan, str]] = {
    "sums": (
        by(SALES, ["shop"], aggregation("count_rows"), aggregation("sum", PRICE), aggregation("max", PRICE)),
        "select shop, count(*), sum(price), max(price) from sales group by 1",
    ),
    "all": (by(SALES, [], aggregation("count_rows")), "select count(*) from sales"),
    "join": (
        picked(Join(SALES, SHOPS, (SHOP,), (field(SHOPS, "shop"),)), 0, 2, 5),
        "select id, price, city from sales join shops using (shop)",
    ),
    "sort": (
        picked(Sort(SALES, (PRICE, field(SALES, "id")), (DOWN, DOWN)), "id", "price"),
        "select id, price from sales order by price desc nulls last, id desc",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_sql_after_every_edit(sold: Sales, question: str) -> None:
    plan, text = QUESTIONS[question]
    query, rng = Query(f"{question} {next(NUMBERS)}", (plan,)), random.Random(question)
    for _ in range(4):
        result = sold.run(query)
        rows, wanted = numbers(list(result.rows(0))), numbers(sold.sql(text))
        if not plan.ordered:
            rows, wanted = sorted(rows, key=sort_key), sorted(wanted, key=sort_key)
        assert rows == wanted
        name = rng.choice("ab")
        lines = sold.files[name]
        match rng.choice(["change", "insert", "delete", "append", "another file"]):
            case "change":
                lines[rng.randrange(len(lines))] = sale(rng, 7_000)
            case "insert":
                lines.insert(rng.randrange(len(lines)), sale(rng, 7_001))
            case "delete":
                del lines[rng.randrange(len(lines))]
            case "append":
                lines += [sale(rng, 8_000 + at) for at in range(150)]
            case "another file":
                sold.files[f"{name}{next(NUMBERS)}"] = lines[:20]
        for each in sold.files:
            sold.write(each, compression=rng.choice(["snappy", "zstd", "none"]))
    fresh = sold.run(Query(f"{question} {next(NUMBERS)}", (plan,)))
    assert list(sold.run(query).rows(0)) == list(fresh.rows(0))


def test_one_changed_value_maps_its_row_group_and_reduces_its_key(sold: Sales) -> None:
    query = Query(f"one {next(NUMBERS)}", (QUESTIONS["sums"][0],))
    assert sold.run(query).report.stages[0].run.map.executed == 10  # five row groups of each file
    sold.files["b"][450]["price"] = Decimal("99.99")
    sold.write("b")
    run = sold.run(query).report.stages[0].run
    assert (run.map.executed, run.keys_reduced) == (1, 1)


def test_what_is_not_used_reruns_nothing(sold: Sales) -> None:
    """Another column, the file's own notes, its name."""
    sums, every = QUESTIONS["sums"][0], QUESTIONS["all"][0]
    query = Query(f"unused {next(NUMBERS)}", (sums, every))
    before = sold.run(query)
    for row in sold.files["a"]:
        row["note"], row["at"], row["share"] = "all of them", None, 7.0
    table = pa.Table.from_pylist(sold.files["a"], COLUMNS.with_metadata({"by": "another program"}))
    pq.write_table(table, sold.folder / "a.parquet", row_group_size=GROUP)
    (sold.folder / "a.parquet").rename(sold.folder / "aa.parquet")
    after = sold.run(query)
    assert after.report.nothing_ran
    assert sorted(after.rows(0), key=sort_key) == sorted(before.rows(0), key=sort_key)
    for row in sold.files["b"]:
        row["price"] = None  # of the rows that are counted nothing changed
    sold.write("b")
    ran = [stage.run.map.executed for stage in sold.run(query).report.stages]
    assert ran == [5, 0]


def test_columns_are_read_when_they_are_first_used_and_their_file_changed(
    sold: Sales, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "will_tell", lambda *_: True)
    read: list[str] = []
    contents = ParquetFooter.contents

    def noted(self: ParquetFooter, handle: int, group: int, name: str) -> list[bytes]:
        if group == 0:
            read.append(f"{Path(self.path).stem} {name}")
        return contents(self, handle, group, name)

    monkeypatch.setattr(ParquetFooter, "contents", noted)
    shown = Query(f"ids {next(NUMBERS)}", (picked(SALES, "id"),))
    for _ in range(2):
        sold.run(shown)
    assert sorted(read) == ["a id", "b id"]
    sold.run(Query(f"more {next(NUMBERS)}", (picked(SALES, "id", "shop"),)))
    assert sorted(read) == ["a id", "a shop", "b id", "b shop"]
    sold.files["b"].pop()
    sold.write("b")
    sold.run(shown)
    assert sorted(read)[2:] == ["b id", "b id", "b shop"]


def test_an_index_of_files_that_are_gone_is_collected_and_a_damaged_one_made_again(
    own: OwnPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "will_tell", lambda *_: True)
    sold, query = Sales(own), Query(f"gone {next(NUMBERS)}", (picked(SALES, "id"),))
    before = set(own.session.datasets.inputs.glob("*.columns"))
    rows = list(sold.run(query).rows(0))
    (index,) = set(own.session.datasets.inputs.glob("*.columns")) - before
    kept = index.read_bytes()
    index.write_bytes(kept.replace(b'"id"', b'"di"'))
    assert list(sold.run(query).rows(0)) == rows
    assert len(index.read_bytes()) == len(kept)
    collect(own.session.datasets)
    assert index.exists()
    shutil.rmtree(sold.folder)
    collect(own.session.datasets)
    assert not index.exists()


# ---- values

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
MIDNIGHT = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)
INSIDE = pa.struct([("x", pa.int32()), ("ys", pa.list_(pa.string()))])
#: A type of a file, values of it, and what they are here.
VALUES: list[tuple[Any, list[Any], str, list[Any]]] = [
    (pa.int8(), [1, None], "int", [1, None]),
    (pa.uint32(), [2**32 - 1], "long", [2**32 - 1]),
    (pa.uint64(), [2**64 - 1], "decimal", [Decimal(2**64 - 1)]),
    (pa.float32(), [0.5, float("nan")], "float", [0.5, float("nan")]),
    (pa.decimal128(12, 3), [Decimal("1.500"), None], "decimal", [Decimal("1.5"), None]),
    (pa.large_string(), ["ä", None], "text", ["ä", None]),
    (pa.dictionary(pa.int8(), pa.string()), ["b", "a", None, "b"], "text", ["b", "a", None, "b"]),
    (pa.binary(2), [b"\xff\0"], "bytes", [b"\xff\0"]),
    (pa.null(), [None], "bytes", [None]),
    (pa.date32(), [DAY], "datetime", [MIDNIGHT]),
    (pa.timestamp("ns"), [1_709_208_000_000_000_999, -1, None], "datetime",
     [NOON, datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, datetime.UTC), None]),
    (pa.timestamp("ms", "Europe/Berlin"), [NOON], "datetime", [NOON]),
    (INSIDE, [{"x": 1, "ys": ["b", "a"]}, None, {"x": None, "ys": None}], "(x: int, ys: {(text)})",
     [(1, [("a",), ("b",)]), None, (None, None)]),
    (pa.list_(INSIDE), [[{"x": 2, "ys": []}, None, {"x": 1, "ys": None}], [], None], "{(x: int, ys: {(text)})}",
     [[(None, None), (1, None), (2, [])], [], None]),
    (pa.list_(pa.int64(), 2), [[2, 1], None, [3, 4]], "{(long)}", [[(1,), (2,)], None, [(3,), (4,)]]),
    (pa.map_(pa.string(), pa.int32()), [[("b", 1), ("a", None)], None, []], "map[int]",
     [{"a": None, "b": 1}, None, {}]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "values", "said", "wanted"), VALUES, ids=[str(each[0])[:40] for each in VALUES])
def test_types_of_files_are_types_of_ours(
    kind: Any, values: list[Any], said: str, wanted: list[Any], tmp_path: Path
) -> None:
    path = str(tmp_path / "in.parquet")
    pq.write_table(pa.table({"other": [0] * len(values), "it": pa.array(values, kind)}), path)
    schema = schema_of_parquet(path, ["it"])
    assert [str(each.type) for each in schema.fields or ()] == [said]
    assert looks(read(path, Parquet(schema))) == looks([(each,) for each in wanted])


def read(path: str, form: Parquet, warnings: Warnings | None = None) -> list[Any]:
    """All rows of a file, as tasks read them."""
    footer, names = ParquetFooter(path), [each.name or "" for each in form.known()]
    places = range(len(names))
    footer.demand(form, places)
    rows: list[Any] = []
    with Path(path).open("rb") as file:
        for group in range(len(footer.groups)):
            contents = [footer.contents(file.fileno(), group, name) for name in names]
            table = footer.decoded(group, names, contents)
            rows += form.columns_of(table, places, warnings or Warnings()).to_rows()
    return rows


@settings(max_examples=60)
@given(table=tables(), data=st.data())
def test_what_is_written_is_read_again_and_has_the_same_bytes(table: Any, data: st.DataObject) -> None:
    import tempfile

    kinds, rows = table
    form = Parquet(Schema(tuple(Field(f"f{at}", kind) for at, kind in enumerate(kinds))), scale=4)
    if not kinds:
        return
    try:
        written = b"".join(form.file_of(rows))
    except QueryError as error:
        assert "scale" in str(error) or "Declare" in str(error)
        return
    assert written == b"".join(form.file_of(list(rows)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.parquet"
        path.write_bytes(written)
        found = read(str(path), Parquet(schema_of_parquet(path))) if "map[]" not in str(form.schema) else rows
    assert looks(found) == looks([tuple(each) for each in rows])


def test_moments_that_nothing_here_can_be_are_null_and_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "in.parquet")
    pq.write_table(pa.table({"at": pa.array([1, 2**55, None], pa.timestamp("ms"))}), path)
    warnings = Warnings()
    assert [row[0] is None for row in read(path, Parquet(schema_of_parquet(path)), warnings)] == [False, True, True]
    assert warnings.counts == {CAST: 1}


def test_text_that_is_no_unicode_is_read_as_text_is_everywhere(tmp_path: Path) -> None:
    path = str(tmp_path / "in.parquet")
    bad = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a\xff", b"b"], pa.binary()).buffers())
    pq.write_table(pa.table({"t": bad}), path)
    assert read(path, Parquet(schema_of_parquet(path))) == [("a\ufffd",), ("b",)]


def test_narrow_numbers_may_be_declared_wide(own: OwnPlace) -> None:
    folder = own.folder / f"wide {next(NUMBERS)}"
    folder.mkdir()
    pq.write_table(pa.table({"n": pa.array([1], pa.int32())}), folder / "a")
    pq.write_table(pa.table({"n": pa.array([2**40], pa.int64())}), folder / "b")
    query = Query(f"wide {next(NUMBERS)}", (Scan("in", Parquet(Schema.of(n=LONG))),))
    assert sorted(query.run(own.session, {"in": folder}).rows(0)) == [(1,), (2**40,)]


# ---- files


def test_part_files_are_parquet_of_which_only_changed_ones_are_written(sold: Sales, tmp_path: Path) -> None:
    plan, text = QUESTIONS["join"]
    form = Parquet(
        Schema(tuple(Field(name, each.type) for name, each in zip("ipc", plan.schema.fields or (), strict=True)))
    )
    query = Query(f"parts {next(NUMBERS)}", (Store(plan, "out", form),))
    first = sold.run(query).save(0, tmp_path / "out")
    assert all(path.name.endswith(".parquet") for path in first)
    row = next(row for row in sold.files["a"] if row["shop"] == "shop 3")
    row["price"] = Decimal("1234.56")
    sold.write("a")
    again = sold.run(query).save(0, tmp_path / "out")
    assert 0 < len(again) < len(first)
    with duckdb.connect() as engine:
        rows = engine.execute(f"select * from read_parquet('{tmp_path}/out/*.parquet')").fetchall()
    assert sorted(numbers(rows), key=sort_key) == sorted(numbers(sold.sql(text)), key=sort_key)
    fresh = sold.run(Query(f"parts {next(NUMBERS)}", (Store(plan, "out", form),)))
    fresh.save(0, tmp_path / "fresh")
    for path in (tmp_path / "fresh").glob("part-*"):
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes()


def test_bad_files_are_told_by_name(sold: Sales, tmp_path: Path) -> None:
    query = Query(f"bad {next(NUMBERS)}", (picked(SALES, "id", "shop"),))

    def refused(write: Any, *said: str) -> None:
        path = sold.folder / "bad.parquet"
        write(path)
        with pytest.raises(UnreadableParquet) as told:
            sold.run(query)
        assert all(each in str(told.value) for each in ("bad.parquet", *said))
        path.unlink()

    whole = (sold.folder / "a.parquet").read_bytes()
    refused(lambda path: path.write_text("no columns"), "not a Parquet file")
    refused(lambda path: path.write_bytes(b""), "not a Parquet file")
    refused(lambda path: path.write_bytes(whole[: len(whole) // 2]), "not a Parquet file")
    damaged = whole[:4] + bytes(60) + whole[64:]
    refused(lambda path: path.write_bytes(damaged), "damaged")
    refused(lambda path: pq.write_table(pa.table({"id": [1], "Shop": ["a"]}), path), "no column 'shop'", "id, Shop")
    refused(lambda path: pq.write_table(pa.table({"id": ["a"], "shop": ["a"]}), path), "'id' is string", "long")
    spans = pa.array([1], pa.duration("s"))
    refused(lambda path: pq.write_table(pa.table({"id": spans, "shop": ["a"]}), path), "no type here")
    twice = pa.Table.from_arrays([pa.array([1])] * 2 + [pa.array(["a"])], names=["id", "id", "shop"])
    refused(lambda path: pq.write_table(twice, path), "several")
    assert sold.run(query).report.stages  # the others are as they were
    with pytest.raises(InputNotFound):
        query.run(sold.own.session, {"sales": tmp_path / "none"})
    with pytest.raises(BadCall, match="stored dataset"):
        query.run(sold.own.session, {"sales": "inchdfs:/sales"})
    pq.write_table(pa.table({"length": spans}), tmp_path / "spans")
    with pytest.raises(UnreadableParquet, match="Name the columns"):
        schema_of_parquet(tmp_path / "spans")


def test_columns_whose_names_have_dots_or_begin_alike_are_told_apart(own: OwnPlace) -> None:
    path = own.folder / f"dots {next(NUMBERS)}"
    inside = pa.array([{"b": 1}], pa.struct([("b", pa.int64())]))
    pq.write_table(pa.table({"a": inside, "a.b": [2], "a.c": [3]}), path)
    schema = schema_of_parquet(path)
    for names, wanted in ((["a"], ((1,),)), (["a.b"], (2,)), (["a.c", "a"], (3, (1,)))):
        kinds = {each.name: each for each in schema.fields or ()}
        plan = Scan("in", Parquet(Schema(tuple(kinds[name] for name in names))))
        assert list(Query(f"dots {next(NUMBERS)}", (plan,)).run(own.session, {"in": path}).rows(0)) == [wanted]


def test_fields_without_a_place_in_a_file_are_refused() -> None:
    unknown = Parquet(Schema((Field("b", BagType(None)),)))
    with pytest.raises(QueryError, match="Declare"):
        list(unknown.file_of([([],)]))
    twice = Parquet(Schema((Field("a", INT), Field("a", INT))))
    with pytest.raises(QueryError, match="two fields"):
        list(twice.file_of([(1, 2)]))
    joined = Parquet(
        Schema((Field("a", INT, ("l",)), Field("a", INT, ("r",)), Field(None, TupleType((Field("x", INT),)))))
    )
    (written,) = joined.file_of([(1, 2, (3,))])
    assert pq.read_table(pa.BufferReader(written)).to_pylist() == [{"l::a": 1, "r::a": 2, "val_2": {"x": 3}}]
