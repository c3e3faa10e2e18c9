"""Formats: columns hold what rows hold, on hostile bytes; what is printed reads as the same."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incoop.query.errors import BadPlan
from incoop.query.numbers import _java_text, double_text
from incoop.query.order import canonical_bag
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.fields import printed_field, types_for
from incoop.query.sources.json_lines import JsonLines
from incoop.query.sources.quoted import QuotedText, records_of
from incoop.query.sources.text_format import TextFormat
from incoop.query.sources.text_lines import TextLines
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    DATETIME,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
)
from incoop.query.warnings import CAST, RECORD, Warnings

from .strategies import NUMBER_TEXTS, types, values_of
from .test_columns_mean_what_rows_mean import looks

SETTINGS = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))

FIELD = st.one_of(
    NUMBER_TEXTS.map(str.encode),
    st.sampled_from(
        [b"", b"", b"a", b'"', b'""', b'"a"', b'"a,b"', b'"a""b"', b'"a\nb"', b'a"b', b'"a"b', b'"1"', b'"']
    ),
    st.sampled_from(
        [b"\xff", b"\xc3", b"x\0y", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"9" * 400, b"nan(1)", b"0X10", b" ", b"- 1"]
    ),
    st.binary(max_size=3),
)
LINE_END = st.sampled_from([b"\n", b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n"])


@st.composite
def hostile(draw: st.DrawFn, delimiter: bytes) -> bytes:
    """Mostly rows of one width, of fields that are mostly fine."""
    width = draw(st.integers(1, 3))
    tame = draw(st.booleans())
    lines = []
    for _ in range(draw(st.integers(0, 5))):
        fields = [draw(FIELD) for _ in range(width if tame else draw(st.integers(0, 4)))]
        lines.append(delimiter.join(fields) + (b"\n" if tame else draw(LINE_END)))
    whole = b"".join(lines)
    return whole if draw(st.booleans()) else whole.removesuffix(b"\n")


FIELD_TYPES = st.sampled_from([INT, LONG, FLOAT, DOUBLE, TEXT, BYTES, BOOLEAN, DATETIME, TupleType(), MapType(INT)])
SCHEMAS = st.lists(FIELD_TYPES, min_size=1, max_size=3).map(
    lambda kinds: Schema(tuple(Field(f"f{at}", kind) for at, kind in enumerate(kinds)))
)


def check_columns(form: TextFormat, chunk: bytes, wanted: list[int] | None, first: bool = False) -> None:
    by_rows, by_columns = Warnings(), Warnings()
    rows = form.rows(chunk, by_rows, wanted, first)
    found = form.columns(chunk, by_columns, wanted, first).to_rows()
    assert [looks(row) for row in found] == [looks(row) for row in rows]
    assert by_columns == by_rows


@SETTINGS
@given(SCHEMAS, hostile(b"\t"), st.data())
def test_columns_of_delimited_text_hold_what_rows_hold(schema: Schema, chunk: bytes, data: st.DataObject) -> None:
    places = st.lists(st.integers(0, len(schema.fields or ()) - 1), unique=True).map(sorted)
    check_columns(DelimitedText(schema), chunk, data.draw(st.none() | places))


@SETTINGS
@given(SCHEMAS, hostile(b","), st.booleans(), st.booleans())
@example(Schema.of(a=TEXT, b=INT), b'"a\nb",1\n"c""d",2\n', False, False)
@example(Schema.of(a=INT, b=INT), b'"",', False, False)
def test_columns_of_quoted_text_hold_what_rows_hold(schema: Schema, chunk: bytes, header: bool, first: bool) -> None:
    check_columns(QuotedText(schema, header=header), chunk, None, first)


@SETTINGS
@given(hostile(b"\t"), st.sampled_from([TEXT, BYTES]))
def test_columns_of_lines_hold_what_rows_hold(chunk: bytes, kind: Any) -> None:
    check_columns(TextLines(Schema.of(line=kind)), chunk, None)


@pytest.mark.parametrize(
    "field", [b"0x1F", b"0X1f", b"nan(1)", b"NaN", b"-inf", b" 5", b"5 ", b" ", b"+5", b"1e999", b"-0"]
)
@pytest.mark.parametrize("kind", [INT, LONG, FLOAT, DOUBLE])
def test_a_single_odd_field_among_good_ones_is_read_as_rows_read_it(field: bytes, kind: Any) -> None:
    check_columns(DelimitedText(Schema.of(a=kind, b=TEXT)), b"1\tx\n" + field + b"\ty\n", None)


@pytest.mark.parametrize(
    "field", [b'a"b', b'"a"b', b'"a" ', b' "a"', b'"a""', b'""a"', b'"a"b"c"', b'a""', b'"', b'"a\nb"']
)
def test_a_single_odd_quote_among_good_ones_is_read_as_rows_read_it(field: bytes) -> None:
    form = QuotedText(Schema.of(a=TEXT, b=TEXT))
    check_columns(form, b'"p","q"\n' + field + b',"r"\n"s","t"\n', None)
    check_columns(form, b"p,q\n" + field + b",r\ns,t\n", None)


@pytest.mark.parametrize("chunk", [b'"', b'a,"b\n', b'a,b\n"', b'b,c\n"",d\n"\n\n', b'"b\n,b"a","'])
def test_a_quote_that_is_never_closed_counts_as_a_malformed_record(chunk: bytes) -> None:
    form, warnings = QuotedText(Schema.of(a=TEXT, b=TEXT)), Warnings()
    form.rows(chunk, warnings)
    assert warnings.counts == {RECORD: 1}
    check_columns(form, chunk, None)


def test_well_formed_text_is_read_without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the equality above would compare the plain way with itself."""
    schema = Schema.of(a=INT, b=TEXT, c=DOUBLE)

    def forbidden(*_: Any) -> None:
        raise AssertionError("by rows")

    monkeypatch.setattr(DelimitedText, "rows", forbidden)
    monkeypatch.setattr(QuotedText, "rows", forbidden)
    monkeypatch.setattr(TextLines, "rows", forbidden)
    for chunk in (b"1\tx\t2.5\n\ty\t\n", b"x\ty\tz\n0x1\t\xff\tnan(1)\n"):
        assert DelimitedText(schema).columns(chunk, Warnings()).length == 2
    quoted = QuotedText(schema).columns(b'1,"a,""b""\nc",2.5\n2,,"3"\n', Warnings())
    assert quoted.to_rows() == [(1, 'a,"b"\nc', 2.5), (2, None, 3.0)]
    assert TextLines(Schema.of(line=TEXT)).columns(b"a\n\nb", Warnings()).to_rows() == [("a",), ("",), ("b",)]


def test_short_rows_are_padded_long_ones_cut_and_malformed_fields_null() -> None:
    warnings = Warnings()
    rows = DelimitedText(Schema.of(a=INT, b=FLOAT, c=TEXT)).rows(b"641L\t1.5f\tx\ty\n7\n\nz\t\t\xff\n", warnings)
    assert rows == [(641, 1.5, "x"), (7, None, None), (None, None, None), (None, None, "\ufffd")]
    assert warnings.counts == {CAST: 1}


def test_the_largest_number_of_single_precision_is_read_as_itself() -> None:
    form = DelimitedText(Schema.of(a=FLOAT))
    assert form.rows(form.printed([(3.4028234663852886e38,)]), Warnings()) == [(3.4028234663852886e38,)]


def test_rows_of_unknown_width_are_bytes() -> None:
    assert DelimitedText(Schema(), ",").rows(b"a,b\n\nc\n", Warnings()) == [(b"a", b"b"), (None,), (b"c",)]


@SETTINGS
@given(st.lists(st.lists(st.text(st.sampled_from('ab",\n é')), min_size=2, max_size=3), max_size=4))
def test_quoted_text_is_read_as_pythons_reader_reads_it(rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    found = records_of(text.getvalue().encode(), b",", Warnings())
    assert [[(field or b"").decode() for field in record] for record in found] == rows


PRINTABLE = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n"), min_size=1, max_size=5)


@SETTINGS
@given(st.data())
def test_what_is_printed_reads_as_the_same(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(types(), min_size=2, max_size=4))
    schema = Schema(tuple(Field(f"f{at}", kind) for at, kind in enumerate(kinds)))

    def fair(kind: Any) -> st.SearchStrategy[Any]:
        """What the format can say: no sign of its own inside nested text, no empty text."""
        if kind == TEXT:
            return st.none() | PRINTABLE
        if kind == BYTES:
            return st.none() | PRINTABLE.map(str.encode)
        if isinstance(kind, TupleType):
            return st.tuples(values_of(INT), st.none() | st.text("abc ", min_size=1))
        return values_of(kind)

    rows = data.draw(st.lists(st.tuples(*map(fair, kinds)), max_size=3))
    for form in (DelimitedText(schema), QuotedText(schema), JsonLines(schema)):
        warnings = Warnings()
        found = form.rows(form.printed(rows), warnings)
        assert [looks(row) for row in found] == [looks(row) for row in rows]
        assert warnings.counts == {}


def test_nested_json_follows_the_schema() -> None:
    schema = Schema(
        (
            Field("id", LONG),
            Field("who", TupleType((Field("name", TEXT), Field("age", INT)))),
            Field("tags", BagType((Field("tag", TEXT),))),
            Field("more", MapType(DOUBLE)),
        )
    )
    warnings = Warnings()
    record = {"id": 1, "who": {"age": "7", "name": "é\ud800"}, "tags": ["b", "a"], "more": {"x": 1, "y": "?"}, "z": 0}
    lines = [json.dumps(record), "[]", "{", '{"id": 99999999999999999999, "tags": [{"tag": "c"}]}', '{"id": NaN}']
    rows = JsonLines(schema).rows("\n".join(lines).encode(), warnings)
    nothing = (None, None, None, None)
    assert rows == [
        (1, ("é?", 7), canonical_bag([("a",), ("b",)]), {"x": 1.0, "y": None}),
        nothing,
        nothing,
        (None, None, [("c",)], None),
        nothing,
    ]
    assert warnings.counts == {CAST: 2, RECORD: 3}


@pytest.mark.parametrize("form", [DelimitedText, QuotedText])
@pytest.mark.parametrize("delimiter", ["", "\n", "ab", "é"])
def test_a_delimiter_that_cannot_work_is_refused(form: Any, delimiter: str) -> None:
    with pytest.raises(BadPlan, match="one ASCII character"):
        form(Schema.of(a=INT), delimiter=delimiter)


def test_a_header_names_fields_and_is_no_row() -> None:
    form = QuotedText(Schema.of(a=INT), header=True)
    assert form.names(b'a,"b c"\n1\n') == ["a", "b c"]
    assert form.rows(b"a\n1\n", Warnings(), first=True) == [(1,)]
    assert form.rows(b"5\n1\n", Warnings(), first=False) == [(5,), (1,)]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_rows_that_are_printed_together_are_printed_as_each_of_them_is(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(types(), min_size=1, max_size=4))
    rows = data.draw(st.lists(st.tuples(*(values_of(kind) for kind in kinds)), max_size=5))
    form = DelimitedText(Schema(tuple(Field(None, kind) for kind in kinds)))
    one_by_one = [b"\t".join(map(printed_field, row, types_for(row, form.schema.fields))) + b"\n" for row in rows]
    assert form.printed(rows) == b"".join(one_by_one)


@given(st.floats())
def test_doubles_are_printed_as_their_digits_are(value: float) -> None:
    assert double_text(value) == _java_text(value, repr(value))
