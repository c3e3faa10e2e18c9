"""Loaders and storers by name: what each reads and prints, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incoop.fronts.pig.formats import dumped, format_of, source_tag
from incoop.fronts.pig.formats.csv_text import CsvLines, CsvRecords
from incoop.fronts.pig.formats.pattern_lines import COMBINED_LOG, COMMON_LOG, PatternLines
from incoop.fronts.pig.formats.typed_lines import TypedLines
from incoop.fronts.pig.functions import JavaFunction
from incoop.query.errors import BadPlan, QueryError, UnknownFunction
from incoop.query.schema import Schema
from incoop.query.sources.text_format import TextFormat
from incoop.query.types import BYTES, DOUBLE, FLOAT, INT, LONG, TEXT, BagType, Field, MapType, Row, TupleType
from incoop.query.warnings import CAST, RECORD, Warnings

from ..query.strategies import types, values_of
from ..query.test_columns_mean_what_rows_mean import looks
from ..query.test_sources import SCHEMAS, check_columns, hostile

SETTINGS = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
BANK = "org.apache.pig.piggybank.storage."
THREE = Schema.of(a=TEXT, b=INT, c=TEXT)


def read(form: TextFormat, chunk: bytes) -> tuple[list[Row], dict[str, int]]:
    """Rows, which are the same by column, and what they warn of."""
    warnings = Warnings()
    rows = form.rows(chunk, warnings)
    if form.schema.fields is not None:
        check_columns(form, chunk, None)
    return rows, warnings.counts


# ---- PigStorage


@pytest.mark.parametrize(
    ("arguments", "delimiter"),
    [((), "\t"), ((",",), ","), (("\\t",), "\t"), (("\\x01",), "\x01"), (("\\u0001",), "\x01"), (("\x01",), "\x01"),
     (("\\u0044",), ","), (("|", "-schema"), "|"), ((" ", "-noschema"), " "), (("\\",), "\\"), (("\\\\",), "\\")],
)  # fmt: skip
def test_what_separates_fields(arguments: tuple[str, ...], delimiter: str) -> None:
    form = format_of("PigStorage", arguments, THREE)
    rows, _ = read(form, f"x{delimiter}1{delimiter}y\n".encode())
    assert rows == [("x", 1, "y")]
    assert form.printed(rows) == f"x{delimiter}1{delimiter}y\n".encode()


@pytest.mark.parametrize(
    "arguments",
    [("::",), ("é",), ("\n",), ("\\n",), ("",), ("\\x",), ("\\u00e9",), ("\\q",), (",", "-nothing"), (",", "", "")],
)
def test_what_cannot_separate_fields_is_said(arguments: tuple[str, ...]) -> None:
    with pytest.raises(BadPlan):
        format_of("PigStorage", arguments, THREE)


def test_pig_storage_reads_as_pig_does() -> None:
    form = format_of(
        "PigStorage", (), Schema.of(a=INT, b=DOUBLE, t=TupleType(), m=MapType(INT), g=BagType((Field("x", INT),)))
    )
    rows, warned = read(form, b"641L\t1.76f\t(1,x)\t[a#1,b#x]\t{(2),(1)}\tmore\n7\nx\n\n")
    assert rows == [
        (641, 1.76, (b"1", b"x"), {"a": 1, "b": None}, [(1,), (2,)]),
        (7, None, None, None, None),
        (None, None, None, None, None),
        (None, None, None, None, None),
    ]
    assert warned == {CAST: 2}


def test_pig_storage_without_a_schema_has_rows_of_any_width() -> None:
    assert read(format_of("PigStorage", (",",)), b"a,,c\n\nb\n")[0] == [(b"a", None, b"c"), (None,), (b"b",)]


def test_pig_storage_prints_as_pig_does() -> None:
    schema = Schema(
        (Field("f", FLOAT), Field("d", DOUBLE), Field("t", TupleType()), Field("g", BagType()), Field("m", MapType()))
    )
    row = (0.10000000149011612, 1e7, (1, None, True), [("a",), (None,)], {"k": 2.5, "j": None})
    assert format_of("PigStorage", (), schema).printed([row]) == b"0.1\t1.0E7\t(1,,true)\t{(a),()}\t[j#,k#2.5]\n"


@pytest.mark.parametrize(
    ("arguments", "tag"),
    [((), None), ((",", "-tagFile"), "file"), ((",", "-tagsource"), "file"), ((",", "-tagPath"), "path"),
     ((",", "-schema"), None)],
)  # fmt: skip
def test_a_tag_of_the_source(arguments: tuple[str, ...], tag: str | None) -> None:
    assert source_tag("PigStorage", arguments) == tag
    assert source_tag("JsonLoader", ("a: int",)) is None


# ---- CSV


def test_csv_lines_are_read_as_the_piggybank_reads_them() -> None:
    form = format_of(BANK + "CSVLoader", (), THREE)
    rows, warned = read(form, b'"a,b",1,"say ""hi"""\n,,\nx"y,z"w,2\n"open,3\n\n')
    assert rows == [
        ("a,b", 1, 'say "hi"'),
        ("", None, ""),
        ("xy,zw", 2, None),
        ("open,3", None, None),
        ("", None, None),
    ]
    assert warned == {}


def test_csv_excel_storage() -> None:
    form = format_of("CSVExcelStorage", (";", "YES_MULTILINE", "WINDOWS", "SKIP_INPUT_HEADER"), THREE)
    assert isinstance(form, CsvRecords) and form.header
    chunk = b'a;b;c\r\n"one\r\ntwo";2;"x"\r\n'
    assert form.rows(chunk, Warnings(), first=True) == [("one\r\ntwo", 2, "x")]
    assert form.columns(chunk, Warnings(), first=True).to_rows() == [("one\r\ntwo", 2, "x")]
    assert form.printed([("one\ntwo", None, 'q"')]) == b'"one\ntwo";;"q"""\r\n'
    lines = format_of(BANK + "CSVExcelStorage", (), THREE)
    assert isinstance(lines, CsvLines) and lines.delimiter == "," and not lines.header
    assert lines.printed([("a,b", 1, "")]) == b'"a,b",1,\n'


@pytest.mark.parametrize(
    "arguments",
    [(",", "MAYBE"), (",", "NO_MULTILINE", "MAC"), (",", "NO_MULTILINE", "UNIX", "NO"), ('"',), (",,",),
     (",", "NO_MULTILINE", "UNIX", "WRITE_OUTPUT_HEADER"), (",", "", "", "", "")],
)  # fmt: skip
def test_what_csv_excel_storage_does_not_know(arguments: tuple[str, ...]) -> None:
    with pytest.raises(BadPlan):
        format_of("CSVExcelStorage", arguments, THREE)


@SETTINGS
@given(st.data(), SCHEMAS, st.booleans(), st.booleans())
def test_csv_columns_hold_what_rows_hold(data: st.DataObject, schema: Schema, header: bool, multiline: bool) -> None:
    form = (CsvRecords if multiline else CsvLines)(schema, ",", header)
    assert schema.width is not None
    wanted = data.draw(st.one_of(st.none(), st.lists(st.integers(0, schema.width - 1), unique=True).map(sorted)))
    check_columns(form, data.draw(hostile(b",")), wanted, data.draw(st.booleans()))


@SETTINGS
@given(st.lists(st.tuples(st.text(max_size=6), st.integers(0, 9), st.text(max_size=6)), max_size=5), st.booleans())
def test_csv_that_is_printed_reads_as_the_same(rows: list[Row], multiline: bool) -> None:
    form = (CsvRecords if multiline else CsvLines)(THREE)
    gone = "\r" if multiline else "\r\n"  # ends of lines inside of fields need quotes that lines may end in
    rows = [tuple("".join(c for c in v if c not in gone) if isinstance(v, str) else v for v in row) for row in rows]
    assert read(form, form.printed(rows))[0] == rows


def test_csv_without_a_schema_has_rows_of_any_width() -> None:
    assert read(format_of("CSVLoader"), b'a,"b,c"\nd\n')[0] == [(b"a", b"b,c"), (b"d",)]


# ---- lines, JSON, typed lines


def test_text_loader_gives_lines() -> None:
    assert read(format_of("TextLoader", (), Schema.of(line=TEXT)), b"a\tb\n\nc")[0] == [("a\tb",), ("",), ("c",)]
    assert read(format_of("TextLoader"), b"a\n")[0] == [(b"a",)]
    with pytest.raises(BadPlan, match="one field"):
        format_of("TextLoader", (), THREE)
    with pytest.raises(BadPlan):
        format_of("TextLoader", (",",))


def test_json_loader_takes_a_schema_from_either_place() -> None:
    said = "a: int, b: {(x: chararray)}, c: (y: double), m: map[int]"
    form = format_of("JsonLoader", (said,))
    chunk = b'{"a": 1, "b": [{"x": "u"}], "c": {"y": 2}, "m": {"k": 3}}\n{"a": "x"}\nno\n'
    rows, warned = read(form, chunk)
    assert rows == [(1, [("u",)], (2.0,), {"k": 3}), (None,) * 4, (None,) * 4]
    assert warned == {CAST: 1, RECORD: 1}
    assert form.schema == format_of("JsonLoader", (), form.schema).schema
    renamed = Schema(tuple(Field("z" + (each.name or ""), each.type) for each in form.schema.fields or ()))
    for arguments, schema, match in (
        ((), None, "by their names"),
        ((said,), renamed, "in one of the two"),
        (("a: nix",), None, "no schema"),
    ):
        with pytest.raises(QueryError, match=match):
            format_of("JsonLoader", arguments, schema)


@pytest.mark.parametrize("said", ["a: int); b = LOAD 'y'", "a: int, a b", "", "('x')"])
def test_a_schema_that_is_none(said: str) -> None:
    with pytest.raises(QueryError, match="no schema"):
        format_of("JsonLoader", (said,))


def test_what_json_storage_stored_json_loader_loads() -> None:
    schema = Schema((Field("a", INT), Field(None, TEXT), Field("m", MapType(LONG))))
    stored = format_of("JsonStorage", (), schema)
    data = stored.printed([(1, "x", {"k": 2}), (None, None, None)])
    assert data == b'{"a":1,"val_1":"x","m":{"k":2}}\n{"a":null,"val_1":null,"m":null}\n'
    assert read(format_of("JsonLoader", ("a: int, val_1: chararray, m: map[long]",)), data)[0] == [
        (1, "x", {"k": 2}),
        (None, None, None),
    ]
    with pytest.raises(BadPlan, match="needs to know the fields"):
        format_of("JsonStorage")


@SETTINGS
@given(st.data())
def test_typed_lines_read_as_what_was_printed(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(types(), max_size=3))
    schema = Schema(tuple(Field(None, kind) for kind in kinds))
    rows = [tuple(data.draw(values_of(kind)) for kind in kinds) for _ in range(data.draw(st.integers(0, 3)))]
    printed = TypedLines(schema).printed(rows)
    assert [looks(row) for row in TypedLines(Schema(None)).rows(printed, Warnings())] == [looks(row) for row in rows]


def test_bin_storage_reads_what_it_stored_with_and_without_a_schema() -> None:
    row = (
        1,
        2.5,
        "a\tb",
        b"\xff",
        Decimal("1.5"),
        datetime(2015, 1, 3, tzinfo=UTC),
        (1, None),
        [("x",)],
        {"k": True},
        None,
    )
    data = format_of("BinStorage").printed([row])
    assert read(format_of("BinStorage"), data)[0] == [row]
    assert read(format_of("BinStorage", (), Schema.of(a=LONG, b=INT, c=TEXT)), data)[0] == [(1, 2, "a\tb")]


@SETTINGS
@given(st.one_of(hostile(b","), st.binary(max_size=30)))
@example(
    b'[{"f":"x"}]\n[{"t":1e99}]\n[{"t":"a"}]\n[{"q":1}]\n[{}]\n[[1]]\n[{"d":"x"}]\n[99999999999999999999]\n{}\n[{"g":[1]}]\n'
)
@example(b"[" * 5000 + b"\n")
@example(b'["\\ud800",{"m":{"\\ud800":1}}]\n')
def test_no_bytes_are_an_error(chunk: bytes) -> None:
    schema = Schema.of(a=TEXT, b=INT)
    for form in (
        TypedLines(Schema(None)),
        TypedLines(schema),
        PatternLines(schema, "(.)(.)?"),
        PatternLines(Schema(None), "(.)(.)?"),
        CsvLines(Schema(None)),
    ):
        read(form, chunk)


# ---- lines by patterns


def test_common_and_combined_logs() -> None:
    line = b'1.2.3.4 - ann [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326'
    names = ["addr", "logname", "user", "time", "method", "uri", "proto", "status", "bytes"]
    schema = Schema(tuple(Field(name, INT if name in ("status", "bytes") else TEXT) for name in names))
    form = format_of(BANK + "apachelog.CommonLogLoader", (), schema)
    rows, warned = read(form, line + b"\nnonsense\n")
    assert rows == [("1.2.3.4", "-", "ann", "10/Oct/2000:13:55:36 -0700", "GET", "/a", "HTTP/1.0", 200, 2326)]
    assert warned == {RECORD: 1}
    combined = format_of("CombinedLogLoader")
    assert isinstance(combined, PatternLines) and combined.pattern == COMBINED_LOG != COMMON_LOG
    rows, _ = read(combined, line + b' "http://x/" "Mozilla (X)"\n')
    assert rows[0][-2:] == (b"http://x/", b"Mozilla (X)")


def test_my_regex_loader() -> None:
    form = format_of(BANK + "MyRegExLoader", ("^(\\\\w+)=(\\d+)(;)?",), Schema.of(k=TEXT, v=INT, s=BYTES, more=TEXT))
    assert read(form, b"a=1;\nxx\nb=2\n") == ([("a", 1, b";", None), ("b", 2, None, None)], {RECORD: 1})
    for arguments in ((), ("(",), ("a", "b")):
        with pytest.raises(BadPlan):
            format_of("MyRegExLoader", arguments)
    with pytest.raises(BadPlan, match="PigStorage"):
        form.printed([("a",)])


# ---- names


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("AvroStorage", "JsonLoader"),
        ("org.apache.pig.backend.hadoop.hbase.HBaseStorage", "Export"),
        (BANK + "XMLLoader", "TextLoader"),
        ("com.example.MyLoader", "PigStorage"),
    ],
)
def test_other_classes_of_java_are_refused_with_what_to_use(name: str, said: str) -> None:
    with pytest.raises(JavaFunction, match=said):
        format_of(name)


def test_names_that_are_none() -> None:
    with pytest.raises(UnknownFunction, match="Did you mean PigStorage"):
        format_of("Pigstorage")


def test_rows_as_dump_prints_them() -> None:
    fields = (Field("f", FLOAT), Field("t", TEXT))
    assert dumped((0.10000000149011612, None), fields) == "(0.1,)"
    row: Any = ((), [], {}, b"\xc3\xa4", [(1, (2,))])
    assert dumped(row, None) == "((),{},[],ä,{(1,(2))})"
