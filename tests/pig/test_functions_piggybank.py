"""Functions of the piggybank and the tutorial, by their full names; and what aggregates become."""

from __future__ import annotations

import math
import subprocess
import sys
from ctypes import c_int8, c_int32
from typing import Any

import pytest

from incoop.code.pickler import dumps
from incoop.fronts.pig.functions import call
from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import BagColumns
from incoop.query.expressions.nodes import Reference
from incoop.query.functions.aggregates import Largest, Sum
from incoop.query.plan.digest import digest
from incoop.query.plan.several import Cogroup
from incoop.query.plan.single import AggregateBy, Project, Scan
from incoop.query.rules import rewritten
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.types import INT, LONG, TEXT, BagType, Field, MapType
from incoop.query.warnings import CAST, RANGE

from .calls import Of, called, constant, value_of

BANK = "org.apache.pig.piggybank.evaluation."
TUTORIAL = "org.apache.pig.tutorial."
PAIRS = MapType(TEXT)
HOURS = BagType((Field("word", TEXT), Field("hour", TEXT), Field("count", LONG)))

CASES: list[tuple[str, tuple[Any, ...], Any, str]] = [
    (BANK + "string.UPPER", ("a",), "A", "text"),
    (BANK + "string.LOWER", ("A",), "a", "text"),
    (BANK + "string.LENGTH", ("abc",), 3, "int"),
    (BANK + "string.REPLACE", ("a.b", "\\.", ""), "ab", "text"),
    (BANK + "string.SUBSTRING", ("abc", 0, 2), "ab", "text"),
    (BANK + "string.Split", ("a,b", ","), ("a", "b"), "()"),
    (BANK + "string.RegexExtract", ("a1", "([0-9])", 1), "1", "text"),
    (BANK + "string.RegexExtractAll", ("a1", "(.)(.)"), ("a", "1"), "()"),
    (BANK + "string.RegexMatch", ("a1", "[a-z]\\d"), 1, "int"),
    (BANK + "string.RegexMatch", ("a1", "[a-z]"), 0, "int"),
    (BANK + "string.Reverse", ("abc",), "cba", "text"),
    (BANK + "string.Trim", (" a ",), "a", "text"),
    (BANK + "string.INDEXOF", ("abc", "c", 0), 2, "int"),
    (BANK + "string.LASTINDEXOF", ("aba", "a"), 2, "int"),
    (BANK + "string.Stuff", ("Chocolate Cake", 10, 4, "Pie"), "Chocolate Pie", "text"),
    (BANK + "string.Stuff", ("abc", 1, 0, "x"), "abc", "text"),
    (BANK + "string.REPLACE_MULTI", ("a-b", Of({"a": "1", "b": "2"}, PAIRS)), "1-2", "text"),
    (BANK + "IsInt", ("12",), True, "boolean"),
    (BANK + "IsInt", ("3000000000",), False, "boolean"),
    (BANK + "IsInt", (Of(None, TEXT),), False, "boolean"),
    (BANK + "IsLong", ("3000000000",), True, "boolean"),
    (BANK + "IsNumeric", ("-1.5",), True, "boolean"),
    (BANK + "IsNumeric", ("1e5",), False, "boolean"),
    (BANK + "IsDouble", ("1e5",), True, "boolean"),
    (BANK + "IsFloat", ("x",), False, "boolean"),
    (BANK + "decode.Decode", (2, 1, "one", 2, "two", "many"), "two", "text"),
    (BANK + "decode.Decode", (9, 1, "one", 2, "two", "many"), "many", "text"),
    (BANK + "decode.Decode", (Of(None, INT), 1, "one", "many"), None, "text"),
    (BANK + "decode.Bin", (17, "child", 18, "adult"), "child", "text"),
    (BANK + "decode.Bin", (40, "child", 18, "adult"), "adult", "text"),
    (BANK + "decode.BinCond", (False, "a", True, "b", "c"), "b", "text"),
    (BANK + "decode.BinCond", (False, "a", False, "b", "c"), "c", "text"),
    (BANK + "datetime.DiffDate", ("20150103", "20141231"), 3, "int"),
    (BANK + "datetime.convert.ISOToUnix", ("2009-01-07T01:07:01.000Z",), 1231290421000, "long"),
    (BANK + "datetime.convert.UnixToISO", (Of(1231290421000, LONG),), "2009-01-07T01:07:01.000Z", "text"),
    (BANK + "datetime.convert.CustomFormatToISO", ("07.01.2009", "dd.MM.yyyy"), "2009-01-07T00:00:00.000Z", "text"),
    (BANK + "datetime.truncate.ISOToDay", ("2009-01-07T01:07:01.000Z",), "2009-01-07T00:00:00.000Z", "text"),
    (BANK + "datetime.truncate.ISOToHour", ("2009-01-07T01:07:01.000Z",), "2009-01-07T01:00:00.000Z", "text"),
    (BANK + "datetime.truncate.ISOToWeek", ("2009-01-07T01:07:01.000Z",), "2009-01-05T00:00:00.000Z", "text"),
    (BANK + "datetime.truncate.ISOToYear", ("2009-05-07T01:07:01.000Z",), "2009-01-01T00:00:00.000Z", "text"),
    (BANK + "datetime.diff.ISODaysBetween", ("2009-01-07T00:00:00Z", "2009-01-01T12:00:00Z"), 5, "long"),
    (BANK + "datetime.diff.ISOMonthsBetween", ("2009-03-01", "2009-01-01"), 2, "long"),
    (BANK + "math.POW", (2, 10), 1024.0, "double"),
    (BANK + "math.MAX", (1, 2.5), 2.5, "double"),
    (BANK + "math.MIN", (Of(None, INT), 2.5), 2.5, "double"),
    (BANK + "math.HYPOT", (3, 4), 5.0, "double"),
    (BANK + "math.toDegrees", (math.pi,), 180.0, "double"),
    (BANK + "math.RINT", (2.5,), 2.0, "double"),
    (BANK + "math.LOG1P", (-1.0,), -math.inf, "double"),
    (BANK + "math.EXPM1", (0.0,), 0.0, "double"),
    (BANK + "math.ABS", (-1,), 1, "int"),
    (BANK + "util.Top", (1, 0, Of([("a", "1", 2), ("b", "1", 2)], HOURS)), [("b", "1", 2)], str(HOURS)),
    (TUTORIAL + "ExtractHour", ("970916072134",), "07", "text"),
    (TUTORIAL + "ExtractHour", ("9709",), None, "text"),
    (TUTORIAL + "NGramGenerator", ("a real nice a real",), [("a",), ("a real",), ("nice",), ("nice a",),
     ("real",), ("real nice",)], "{(ngram: text)}"),
    (TUTORIAL + "NonURLDetector", ("http://x.org",), False, "boolean"),
    (TUTORIAL + "NonURLDetector", ("see www.x.org",), False, "boolean"),
    (TUTORIAL + "NonURLDetector", (" good query ",), True, "boolean"),
    (TUTORIAL + "NonURLDetector", ("  ",), False, "boolean"),
    (TUTORIAL + "NonURLDetector", (Of(None, TEXT),), False, "boolean"),
    (TUTORIAL + "ToLower", (" AN Upper ",), "an upper", "text"),
    (TUTORIAL + "ScoreGenerator", (Of([("w", "02", 1), ("w", "05", 1), ("w", "04", 4)], HOURS),),
     [("04", 2 / math.sqrt(2), 4, 2.0)], "{(hour: text, score: double, count: long, mean: double)}"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected", "kind"), CASES)
def test_what_a_function_gives(name: str, arguments: tuple[Any, ...], expected: Any, kind: str) -> None:
    value, found, _ = called(name, *arguments)
    assert found == kind
    assert repr(value) == repr(expected)


@pytest.mark.parametrize("text", ["", "Ann", "grün", "a long one, with blanks"])
def test_the_hash_is_that_of_javas_integers(text: str) -> None:
    expected = c_int32(33554467)
    for byte in text.encode():
        expected = c_int32(c_int32(expected.value * 0x01000193).value ^ c_int8(byte).value)
    assert called(BANK + "string.HashFNV", text)[0] == abs(expected.value)
    assert called(BANK + "string.HashFNV1", text)[0] == abs(expected.value)
    assert called(BANK + "string.HashFNV", text, 7)[0] == called(BANK + "string.HashFNV2", text, 7)[0]
    assert called(BANK + "string.HashFNV2", text, 7)[0] == abs(expected.value) % 7


@pytest.mark.parametrize(
    ("name", "arguments", "warning"),
    [
        (BANK + "string.Stuff", ("abc", 3, 1, "x"), RANGE),
        (BANK + "string.RegexMatch", ("a", "("), CAST),
        (BANK + "datetime.DiffDate", ("2015", "20150101"), CAST),
        (BANK + "datetime.convert.ISOToUnix", ("x",), CAST),
        (BANK + "datetime.convert.CustomFormatToISO", ("x", "jj"), CAST),
        (BANK + "string.REPLACE_MULTI", ("a", Of({"(": "1"}, PAIRS)), CAST),
    ],
)
def test_a_value_that_cannot_be_made_is_null_and_counted(name: str, arguments: tuple[Any, ...], warning: str) -> None:
    value, _, warned = called(name, *arguments)
    assert (value, warned) == (None, {warning: 1})


SCHEMA = Schema.of(key=TEXT, number=INT, word=TEXT)
SCAN = Scan("in", DelimitedText(SCHEMA))


def _project(*calls: tuple[str, tuple[Any, ...]]) -> Any:
    """FOREACH (GROUP scan BY key) GENERATE group, calls."""
    group = Cogroup((SCAN,), ((build.field(SCHEMA, "key"),),), ("group", "rows"), (False,))
    bag = build.field(group.schema, 1)
    column = BagColumns(bag, (1,))
    arguments = {"bag": bag, "column": column}
    made = [call(name, [arguments.get(each, each) if isinstance(each, str) else constant(each) for each in given])
            for name, given in calls]  # fmt: skip
    return Project(group, (build.field(group.schema, 0), *made), (None,) * (1 + len(made)))


def test_aggregates_over_a_group_need_no_bag() -> None:
    project = _project(
        ("COUNT", ("bag",)), ("COUNT_STAR", ("bag",)), ("SUM", ("column",)), ("AVG", ("column",)), ("MIN", ("column",)),
        ("MAX", ("column",)), ("TOP", (3, 1, "bag")),
    )  # fmt: skip
    (found,) = rewritten((project,))
    assert isinstance(found, AggregateBy), "a projection of its fields as they stand is no stage of its own"
    kinds = [type(each.aggregate) for each in found.aggregations]
    assert Sum in kinds and Largest in kinds and len(kinds) == 7


def test_a_function_that_looks_at_rows_keeps_the_bag() -> None:
    (found,) = rewritten((_project(("COUNT", ("bag",)), ("BagToString", ("column",))),))
    assert isinstance(found.input, Cogroup)


def test_what_a_call_means_is_in_its_digest() -> None:
    field = Reference(1, INT)
    text = Reference(0, TEXT)
    calls = [
        call("ABS", [field]),
        call("ABS", [build.cast(field, LONG)]),
        call("REGEX_EXTRACT", [text, constant("a"), constant(0)]),
        call("REGEX_EXTRACT", [text, constant("a"), constant(0)], constructor=("true",)),
        call("SPRINTF", [constant("%x"), field]),
        call("SPRINTF", [constant("%x"), build.cast(field, LONG)]),
    ]
    digests = [digest(Project(SCAN, (each,), (None,))) for each in calls]
    assert len(set(digests)) == len(digests)
    again = call("SPRINTF", [constant("%x"), field])
    assert digest(Project(SCAN, (again,), (None,))) == digests[4]


def test_calls_travel_to_workers() -> None:
    row = ("ab", 3, "w")
    text, field = Reference(0, TEXT), Reference(1, INT)
    calls = [
        call("ABS", [field]),
        call("ROUND", [field]),
        call("UPPER", [text]),
        call("REPLACE", [text, constant("a"), constant("b")]),
        call("SPRINTF", [constant("%s"), text]),
        call("ToDate", [text, constant("yy")]),
        call("TOTUPLE", [text, field]),
        call(BANK + "string.HashFNV", [text]),
        call(TUTORIAL + "NGramGenerator", [text]),
    ]
    expected = [value_of(each, row)[0] for each in calls]
    data, _, _ = dumps((calls, row))
    program = (
        "import pickle, sys; from incoop.query.expressions.rows import compile_row; "
        "from incoop.query.expressions.evaluation import Evaluation; "
        "calls, row = pickle.loads(sys.stdin.buffer.read()); "
        "print([compile_row(each)(row, Evaluation()) for each in calls])"
    )
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    assert done.stdout.decode().strip() == repr(expected)
