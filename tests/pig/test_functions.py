"""Pig's builtins: what each gives, of what type, with nulls, and with what it does not take. Worked out by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from incoop.base.errors import IncoopError
from incoop.fronts.pig.functions import PIG, JavaFunction, call, is_function, matches
from incoop.fronts.pig.functions.dates import ChangesEveryRun
from incoop.fronts.pig.functions.registry import ALIASES, FUNCTIONS, MAKERS, NAMES
from incoop.query.errors import QueryError, TypeMismatch, UnknownFunction
from incoop.query.expressions import build
from incoop.query.expressions.nodes import Constant, Reference
from incoop.query.functions import GENERAL
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    DATETIME,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
)
from incoop.query.warnings import CAST, RANGE

from .calls import Of, called, constant, value_of

DAY = datetime(2013, 2, 28, 13, 5, 9, 45000, tzinfo=UTC)
NUMBERS = BagType((Field("n", INT),))
PAIRS = BagType((Field("x", INT), Field("y", TEXT)))
WORDS = BagType((Field("w", TEXT),))


def nums(*values: int | None) -> Of:
    return Of([(each,) for each in values], NUMBERS)


def of(kind: Any, *values: Any) -> Of:
    return Of([(each,) for each in values], BagType((Field(None, kind),)))


CASES: list[tuple[str, tuple[Any, ...], Any, str]] = [
    # ---- text
    ("CONCAT", ("a", "b"), "ab", "text"),
    ("CONCAT", ("a", "b", "c", "d"), "abcd", "text"),
    ("CONCAT", (b"a", b"b"), b"ab", "bytes"),
    ("CONCAT", (b"a", "b"), "ab", "text"),
    ("UPPER", ("aß",), "ASS", "text"),
    ("LOWER", ("AÄ",), "aä", "text"),
    ("UCFIRST", ("abc",), "Abc", "text"),
    ("UCFIRST", ("ßa",), "ßa", "text"),
    ("UCFIRST", ("",), "", "text"),
    ("LCFIRST", ("ABC",), "aBC", "text"),
    ("TRIM", ("\t a b \n",), "a b", "text"),
    ("LTRIM", ("  \ta ",), "\ta ", "text"),
    ("RTRIM", (" a\t  ",), " a\t", "text"),
    ("SUBSTRING", ("ABCDEF", 1, 4), "BCD", "text"),
    ("SUBSTRING", ("abc", 1, 99), "bc", "text"),
    ("SUBSTRING", ("abc", 3, 9), "", "text"),
    ("SUBSTRING", (b"abc", 0, 1), "a", "text"),
    ("INDEXOF", ("banana", "an"), 1, "int"),
    ("INDEXOF", ("banana", "an", 2), 3, "int"),
    ("INDEXOF", ("banana", "x", 0), -1, "int"),
    ("INDEXOF", ("abc", "", 9), 3, "int"),
    ("INDEXOF", ("abc", "a", -5), 0, "int"),
    ("LAST_INDEX_OF", ("banana", "an"), 3, "int"),
    ("STARTSWITH", ("apple", "app"), True, "boolean"),
    ("ENDSWITH", ("apple", "ple"), True, "boolean"),
    ("ENDSWITH", ("apple", "app"), False, "boolean"),
    ("EqualsIgnoreCase", ("Grün", "gRÜN"), True, "boolean"),
    ("EqualsIgnoreCase", ("a", "ab"), False, "boolean"),
    ("TOKENIZE", ('one two,"three"(4)*five',), [("one",), ("two",), ("three",), ("4",), ("five",)], "{(token: text)}"),
    ("TOKENIZE", ("a\tb c",), [("a\tb",), ("c",)], "{(token: text)}"),
    ("TOKENIZE", ("a|b||c", "|"), [("a",), ("b",), ("c",)], "{(token: text)}"),
    ("TOKENIZE", ("b a", ""), [("b a",)], "{(token: text)}"),
    ("TOKENIZE", ("",), [], "{(token: text)}"),
    ("REPLACE", ("open source", "source", "door"), "open door", "text"),
    ("REPLACE", ("a.b.c", "\\.", "-"), "a-b-c", "text"),
    ("REPLACE", ("ab12", "([a-z])([0-9])", "$2$1\\$"), "a1b$2", "text"),
    ("REPLACE", ("ab", "(a)|(b)", "<$1$2>"), "<a><b>", "text"),
    ("STRSPLIT", ("a:b:c", ":"), ("a", "b", "c"), "()"),
    ("STRSPLIT", ("a:b:c", ":", 2), ("a", "b:c"), "()"),
    ("STRSPLIT", ("a:b::", ":"), ("a", "b"), "()"),
    ("STRSPLIT", ("a:b::", ":", -1), ("a", "b", "", ""), "()"),
    ("STRSPLIT", ("a  b",), ("a", "", "b"), "()"),
    ("STRSPLIT", ("a.b", "\\."), ("a", "b"), "()"),
    ("STRSPLIT", ("a|b", "|"), ("a", "|", "b"), "()"),
    ("STRSPLITTOBAG", ("b,a", ","), [("b",), ("a",)], "{}"),
    ("REGEX_EXTRACT", ("192.168.1.5:8020", "(.*):(.*)", 1), "192.168.1.5", "text"),
    ("REGEX_EXTRACT", ("say no", "n(o)", 0), "no", "text"),
    ("REGEX_EXTRACT", ("say no", "n(o)", 2), None, "text"),
    ("REGEX_EXTRACT", ("abc", "x", 0), None, "text"),
    ("REGEX_EXTRACT_ALL", ("192.168.1.5:8020", "(.*):(.*)"), ("192.168.1.5", "8020"), "()"),
    ("REGEX_EXTRACT_ALL", ("x192:8020", "([0-9]+):(.*)"), None, "()"),
    ("REGEX_EXTRACT_ALL", ("b", "(a)|(b)"), (None, "b"), "()"),
    ("REGEX_SEARCH", ("a1b2", "([0-9])"), [("1",), ("2",)], "{(match: text)}"),
    ("REGEX_SEARCH", ("ab", "([0-9])"), None, "{(match: text)}"),
    ("SPRINTF", ("%s is %d", "Ann", 7), "Ann is 7", "text"),
    ("SPRINTF", ("%2$s %1$s %<s", "a", "b"), "b a a", "text"),
    ("SPRINTF", ("%05d|%,d|%+d|%(d|%x|%o", 42, 1234567, 3, -5, 255, 8), "00042|1,234,567|+3|(5)|ff|10", "text"),
    ("SPRINTF", ("%x %x", -1, Of(-1, LONG)), "ffffffff ffffffffffffffff", "text"),
    ("SPRINTF", ("%.2f %8.3f %-8.1f|", 2.675, 1.0, 0.25), "2.68    1.000 0.3     |", "text"),
    ("SPRINTF", ("%e %.0e %g %g", 12345.678, 2.5, 0.00001, 123456.0), "1.234568e+04 3e+00 1.00000e-05 123456", "text"),
    ("SPRINTF", ("%f %f %f", math.nan, -math.inf, -0.0), "NaN -Infinity -0.000000", "text"),
    ("SPRINTF", ("%5.1s|%-5s|%S|%b|%c|100%%%n", "xyz", "ab", "up", True, 65), "    x|ab   |UP|true|A|100%\n", "text"),
    ("SPRINTF", ("%d", Decimal(12)), "12", "text"),
    ("SPRINTF", ("plain",), "plain", "text"),
    # ---- numbers
    ("ABS", (-3,), 3, "int"),
    ("ABS", (-(2**31),), -(2**31), "int"),
    ("ABS", (Of(-3, LONG),), 3, "long"),
    ("ABS", (-2.5,), 2.5, "double"),
    ("ABS", (Of(-2.5, FLOAT),), 2.5, "float"),
    ("ABS", (Decimal("-1.5"),), Decimal("1.5"), "decimal"),
    ("ABS", (b"-2",), 2.0, "double"),
    ("CEIL", (1.2,), 2.0, "double"),
    ("CEIL", (-1.2,), -1.0, "double"),
    ("CEIL", (3,), 3.0, "double"),
    ("FLOOR", (-1.2,), -2.0, "double"),
    ("FLOOR", (b"4.8",), 4.0, "double"),
    ("ROUND", (2.5,), 3, "long"),
    ("ROUND", (-2.5,), -2, "long"),
    ("ROUND", (Of(2.5, FLOAT),), 3, "int"),
    ("ROUND", (Of(1e12, FLOAT),), 2**31 - 1, "int"),
    ("ROUND", (7,), 7, "int"),
    ("ROUND", (Of(2**60, LONG),), 2**60, "long"),
    ("ROUND", (math.nan,), 0, "long"),
    ("ROUND", (b"4.6",), 5, "long"),
    ("ROUND_TO", (2.25, 1), 2.2, "double"),
    ("ROUND_TO", (2.35, 1), 2.4, "double"),
    ("ROUND_TO", (2.25, 1, 4), 2.3, "double"),
    ("ROUND_TO", (1250.0, -2), 1200.0, "double"),
    ("ROUND_TO", (5, 0), 5.0, "double"),
    ("ROUND_TO", (Of(0.10000000149011612, FLOAT), 3), 0.10000000149011612, "float"),
    ("SQRT", (9,), 3.0, "double"),
    ("CBRT", (-8.0,), -2.0, "double"),
    ("EXP", (0,), 1.0, "double"),
    ("LOG", (1.0,), 0.0, "double"),
    ("LOG", (0.0,), -math.inf, "double"),
    ("LOG10", (1000.0,), 3.0, "double"),
    ("SIN", (0.0,), 0.0, "double"),
    ("COS", (0.0,), 1.0, "double"),
    ("TAN", (0.0,), 0.0, "double"),
    ("ASIN", (1.0,), math.pi / 2, "double"),
    ("ACOS", (1.0,), 0.0, "double"),
    ("ATAN", (0.0,), 0.0, "double"),
    ("SINH", (0.0,), 0.0, "double"),
    ("COSH", (0.0,), 1.0, "double"),
    ("TANH", (0.0,), 0.0, "double"),
    # ---- bags, tuples, maps
    ("SIZE", ("äbc",), 3, "long"),
    ("SIZE", (b"\xc3\xa4",), 2, "long"),
    ("SIZE", ((1, None, "x"),), 3, "long"),
    ("SIZE", ([(1,), (2,)],), 2, "long"),
    ("SIZE", ({"a": 1},), 1, "long"),
    ("SIZE", (12,), 1, "long"),
    ("IsEmpty", ([],), True, "boolean"),
    ("IsEmpty", ([(None,)],), False, "boolean"),
    ("IsEmpty", ({},), True, "boolean"),
    ("TOTUPLE", (1, None, "x"), (1, None, "x"), "(int, null, text)"),
    ("TOBAG", ("b", "a", "b"), [("b",), ("a",), ("b",)], "{(text)}"),
    ("TOBAG", (1, "a"), [(1,), ("a",)], "{}"),
    ("TOBAG", (Of((1, 2), TupleType()), Of((0, 3), TupleType())), [(1, 2), (0, 3)], "{}"),
    ("TOMAP", ("a", 1, "b", 2), {"a": 1, "b": 2}, "map[int]"),
    ("TOMAP", ("a", 1, "b", "x"), {"a": 1, "b": "x"}, "map[]"),
    ("TOMAP", (Of([("k", 1), ("l", 2)], BagType()),), {"k": 1, "l": 2}, "map[]"),
    ("DIFF", (nums(1, 2, 2), nums(2, 3)), [(1,), (3,)], "{(n: int)}"),
    ("DIFF", (nums(1), nums(1)), [], "{(n: int)}"),
    ("DIFF", ("a", "b"), [("a",), ("b",)], "{}"),
    ("DIFF", (1, 1), [], "{}"),
    ("SUBTRACT", (nums(3, 1, 1, 2), nums(2)), [(1,), (3,)], "{(n: int)}"),
    ("KEYSET", ({"b": 1, "a": 2},), [("a",), ("b",)], "{(text)}"),
    ("VALUESET", ({"b": 1, "a": 1, "c": 0},), [(0,), (1,)], "{(bytes)}"),
    ("VALUELIST", ({"b": 1, "a": 1},), [(1,), (1,)], "{(bytes)}"),
    ("INVERSEMAP", (Of({"x": 1, "y": 1, "z": 2}, MapType(INT)),), {"1": [("x",), ("y",)],
     "2": [("z",)]}, "map[{(text)}]"),
    ("ARITY", (1, 2, 3), 3, "int"),
    ("TOP", (2, 0, nums(3, 1, None, 5)), [(5,), (3,)], "{(n: int)}"),
    ("BagToString", (Of([(1, "a"), (None, "b")], PAIRS),), "1_a_null_b", "text"),
    ("BagToString", (of(FLOAT, 0.10000000149011612), ";"), "0.1", "text"),
    ("BagToString", (nums(), ";"), "", "text"),
    ("BagToTuple", (Of([(1, "a"), (2, "b")], PAIRS),), (1, "a", 2, "b"), "()"),
    ("COV", (of(DOUBLE, 1.0, 2.0, 3.0), of(DOUBLE, 2.0, 4.0, 6.0)), [("var0", "var1", 4 / 3)],
     "{(var1: text, var2: text, value: double)}"),
    ("COR", (nums(1, 2, 3), nums(3, 2, 1)), [("var0", "var1", -1.0)], "{(var1: text, var2: text, value: double)}"),
    # ---- aggregates
    ("COUNT", (nums(1, None, 3),), 2, "long"),
    ("COUNT", (Of([(None, "a"), (1, None)], PAIRS),), 1, "long"),
    ("COUNT", (nums(),), 0, "long"),
    ("COUNT_STAR", (nums(1, None, 3),), 3, "long"),
    ("SUM", (nums(1, None, 3),), 4, "long"),
    ("SUM", (of(LONG, 2**62, 2**62),), -(2**63), "long"),
    ("SUM", (of(FLOAT, 0.5, 0.25),), 0.75, "double"),
    ("SUM", (of(BYTES, b"1", b"2.5", b"x"),), 3.5, "double"),
    ("SUM", (nums(None),), None, "long"),
    ("SUM", (nums(),), None, "long"),
    ("AVG", (nums(1, 2, None),), 1.5, "double"),
    ("AVG", (of(FLOAT, 1.0, 2.0),), 1.5, "double"),
    ("AVG", (nums(),), None, "double"),
    ("MIN", (nums(3, None, 1),), 1, "int"),
    ("MAX", (of(TEXT, "b", "a"),), "b", "text"),
    ("MAX", (of(DATETIME, DAY),), DAY, "datetime"),
    ("MIN", (of(BYTES, b"10", b"9"),), 9.0, "double"),
    ("MAX", (nums(),), None, "int"),
    ("MAX", (Of([(1,)], BagType()),), 1.0, "double"),
    # ---- dates
    ("ToDate", (Of(0, LONG),), datetime(1970, 1, 1, tzinfo=UTC), "datetime"),
    ("ToDate", ("2009-10-10T11:00:00+02:00",), datetime(2009, 10, 10, 9, tzinfo=UTC), "datetime"),
    ("ToDate", ("2009/10/10", "yyyy/MM/dd"), datetime(2009, 10, 10, tzinfo=UTC), "datetime"),
    ("ToDate", (b"20091010", "yyyyMMdd"), datetime(2009, 10, 10, tzinfo=UTC), "datetime"),
    ("ToDate", ("10 Oct 2009 23:30", "d MMM yyyy HH:mm", "Asia/Tokyo"), datetime(2009, 10, 10, 14, 30,
     tzinfo=UTC), "datetime"),
    ("ToDate", ("10:00 +0530", "HH:mm Z", "+01:00"), datetime(1970, 1, 1, 4, 30, tzinfo=UTC), "datetime"),
    ("ToString", (DAY,), "2013-02-28T13:05:09.045Z", "text"),
    ("ToString", (DAY, "EEEE d.M.yy h:mm a, DDD, w"), "Thursday 28.2.13 1:05 PM, 059, 9", "text"),
    ("ToUnixTime", (DAY,), 1362056709, "long"),
    ("ToUnixTime", (datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=UTC),), 0, "long"),
    ("ToMilliSeconds", (DAY,), 1362056709045, "long"),
    ("GetYear", (DAY,), 2013, "int"),
    ("GetMonth", (DAY,), 2, "int"),
    ("GetDay", (DAY,), 28, "int"),
    ("GetHour", (DAY,), 13, "int"),
    ("GetMinute", (DAY,), 5, "int"),
    ("GetSecond", (DAY,), 9, "int"),
    ("GetMilliSecond", (DAY,), 45, "int"),
    ("GetWeek", (DAY,), 9, "int"),
    ("GetWeekYear", (DAY,), 2013, "int"),
    ("AddDuration", (DAY, "P1DT1H"), datetime(2013, 3, 1, 14, 5, 9, 45000, tzinfo=UTC), "datetime"),
    ("AddDuration", (DAY, "P-1D"), datetime(2013, 2, 27, 13, 5, 9, 45000, tzinfo=UTC), "datetime"),
    ("SubtractDuration", (DAY, "P1M"), datetime(2013, 1, 28, 13, 5, 9, 45000, tzinfo=UTC), "datetime"),
    ("YearsBetween", (DAY, datetime(2010, 3, 1, tzinfo=UTC)), 2, "long"),
    ("MonthsBetween", (DAY, datetime(2012, 12, 28, tzinfo=UTC)), 2, "long"),
    ("WeeksBetween", (DAY, datetime(2013, 2, 10, tzinfo=UTC)), 2, "long"),
    ("DaysBetween", (datetime(2013, 2, 27, tzinfo=UTC), DAY), -1, "long"),
    ("HoursBetween", (DAY, datetime(2013, 2, 28, tzinfo=UTC)), 13, "long"),
    ("MinutesBetween", (DAY, datetime(2013, 2, 28, 13, tzinfo=UTC)), 5, "long"),
    ("SecondsBetween", (DAY, datetime(2013, 2, 28, 13, 5, tzinfo=UTC)), 9, "long"),
    ("MilliSecondsBetween", (DAY, datetime(2013, 2, 28, 13, 5, 9, tzinfo=UTC)), 45, "long"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected", "kind"), CASES)
def test_what_a_function_gives(name: str, arguments: tuple[Any, ...], expected: Any, kind: str) -> None:
    value, found, _ = called(name, *arguments)
    assert found == kind
    if isinstance(expected, float) and math.isfinite(expected):
        assert value == pytest.approx(expected, rel=1e-15)
    else:
        assert repr(value) == repr(expected)


#: Functions that look at nulls themselves: all others give null for one.
TAKES_NULLS = {"TOTUPLE", "TOBAG", "TOMAP", "ARITY", "SUBTRACT", "PluckTuple", "MATCHES"}


@pytest.mark.parametrize("name", sorted({case[0] for case in CASES} - TAKES_NULLS))
def test_null_gives_null(name: str) -> None:
    arguments = next(case[1] for case in CASES if case[0] == name)
    for at, each in enumerate(arguments):
        expression = call(name, [constant(other) for other in arguments])
        kind = constant(each).type
        rows = [Reference(place, constant(other).type) for place, other in enumerate(arguments)]
        values = tuple(None if place == at else constant(other).value for place, other in enumerate(arguments))
        constants = [constant(other) if isinstance(other, int) and name == "TOP" and place < 2 else rows[place]
                     for place, other in enumerate(arguments)]  # fmt: skip
        if name == "TOP" and at < 2:
            continue  # the number of a column is said in the script
        again = call(name, constants)
        assert value_of(again, values)[0] is None, (at, kind)
        assert again.type == expression.type


def test_functions_that_see_nulls() -> None:
    assert called("SUBTRACT", nums(2, 1), Of(None, NUMBERS))[0] == [(1,), (2,)]
    assert called("SUBTRACT", Of(None, NUMBERS), nums(1))[0] == []
    assert called("TOMAP", Of(None, TEXT), 1, "b", None)[0] == {"b": None}
    assert called("TOBAG", None)[0] == [(None,)]


WRONG: list[tuple[str, tuple[Any, ...]]] = [
    ("CONCAT", ("a", 1)),
    ("CONCAT", ()),
    ("UPPER", (1,)),
    ("UPPER", ("a", "b")),
    ("TRIM", (1.5,)),
    ("SUBSTRING", ("a", 1)),
    ("SUBSTRING", ("a", "1", 2)),
    ("SUBSTRING", ("a", 1.0, 2)),
    ("INDEXOF", ("a",)),
    ("STARTSWITH", ("a", 1)),
    ("EqualsIgnoreCase", ("a",)),
    ("TOKENIZE", (1,)),
    ("REPLACE", ("a", "b")),
    ("STRSPLIT", ("a", ",", "2")),
    ("REGEX_EXTRACT", ("a", "b")),
    ("SPRINTF", (1, 2)),
    ("ABS", ("a",)),
    ("ABS", (1, 2)),
    ("ROUND", (True,)),
    ("ROUND", (Decimal(1),)),
    ("ROUND_TO", (1.5,)),
    ("SQRT", ("9",)),
    ("LOG", ()),
    ("SIZE", ()),
    ("IsEmpty", ("a",)),
    ("TOMAP", ("a",)),
    ("TOMAP", (1, 2)),
    ("TOMAP", ()),
    ("DIFF", (nums(1),)),
    ("SUBTRACT", (1, 2)),
    ("KEYSET", ("a",)),
    ("VALUESET", ([],)),
    ("INVERSEMAP", (Of({}, MapType(PAIRS)),)),
    ("TOP", (1, 0)),
    ("TOP", (1, 0, "a")),
    ("TOP", (1, 7, nums(1))),
    ("BagToString", ("a",)),
    ("BagToString", (nums(1), 2)),
    ("BagToTuple", (1,)),
    ("COUNT", (1,)),
    ("COUNT", ()),
    ("COUNT", (nums(1), nums(1))),
    ("COUNT_STAR", ("a",)),
    ("SUM", (of(TEXT, "a"),)),
    ("SUM", (Of([], PAIRS),)),
    ("AVG", (of(DATETIME),)),
    ("MIN", (of(BOOLEAN, True),)),
    ("MAX", (of(MapType()),)),
    ("COR", (nums(1),)),
    ("ToDate", (b"2009",)),
    ("ToDate", (1.5,)),
    ("ToString", ("2009",)),
    ("GetYear", ("2009",)),
    ("AddDuration", (DAY, 1)),
    ("DaysBetween", (DAY,)),
    ("CurrentTime", (1,)),
]


@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_what_a_function_does_not_take_is_said_before_anything_runs(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeMismatch, match=name):
        call(name, [constant(each) for each in arguments])


COUNTED = [
    ("SUBSTRING", ("abc", 4, 9), RANGE),
    ("SUBSTRING", ("abc", -1, 2), RANGE),
    ("SUBSTRING", ("abc", 2, 1), RANGE),
    ("ROUND_TO", (math.inf, 2), RANGE),
    ("ROUND_TO", (1.5, 0, 9), RANGE),
    ("AddDuration", (DAY, "a day"), CAST),
    ("ToDate", ("tomorrow",), CAST),
    ("ToDate", ("2009-13-01", "yyyy-MM-dd"), CAST),
    ("TOMAP", (Of([("a", 1, 2)], BagType()),), CAST),
    ("COV", (nums(1), nums(1, 2)), RANGE),
]


@pytest.mark.parametrize(("name", "arguments", "warning"), COUNTED)
def test_a_value_that_cannot_be_made_is_null_and_counted(name: str, arguments: tuple[Any, ...], warning: str) -> None:
    value, _, warned = called(name, *arguments)
    assert (value, warned) == (None, {warning: 1})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("REPLACE", ("a", "(", "b")),
        ("REPLACE", ("a", "a", "$1")),
        ("STRSPLIT", ("a", "[")),
        ("REGEX_EXTRACT", ("a", "\\p{Nix}", 0)),
        ("REGEX_SEARCH", ("a", "a")),
        ("SPRINTF", ("%q", 1)),
        ("SPRINTF", ("%d %d", 1)),
        ("SPRINTF", ("%d", "x")),
        ("ToDate", ("2009", "jjjj")),
        ("ToDate", ("2009", "yyyy", "Nowhere/Else")),
        ("ToString", (DAY, "'")),
    ],
)
def test_a_pattern_that_the_data_says_and_that_is_none_makes_a_null(name: str, values: tuple[Any, ...]) -> None:
    fields = [Reference(at, constant(each).type) for at, each in enumerate(values)]
    assert value_of(call(name, fields), values) == (None, {CAST: 1})


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("REPLACE", ("a", "(", "b"), "cannot be taken as a regular expression"),
        ("REPLACE", ("a", "a", "$1"), "there is no group 1"),
        ("STRSPLIT", ("a", "[a"), "a class is not closed"),
        ("REGEX_EXTRACT", ("a", "(?<=a+)b", 0), "look-behind"),
        ("SPRINTF", ("%tY", 1), "%t is not known here"),
        ("SPRINTF", ("%d", 1.5), "%d takes no double"),
        ("SPRINTF", ("%s %s", 1), "asks for 2 values"),
        ("SPRINTF", ("100%", 1), "Write %% for a percent sign"),
        ("ToDate", ("x", "yyyy-mm-ddTHH"), "Quote it: 'T'"),
        ("ToDate", ("x", "yyyy", "Mars/North"), "there is no time zone 'Mars/North'"),
        ("ToString", (DAY, "'a"), "is not closed"),
        ("RANDOM", (), "another number in every run"),
        ("Assert", (True,), "Write ASSERT"),
        ("UniqueID", (), "RANK"),
        ("PluckTuple", (1,), "DEFINE pluck"),
    ],
)
def test_what_the_script_itself_says_wrong_is_said_before_anything_runs(
    name: str, arguments: tuple[Any, ...], said: str
) -> None:
    with pytest.raises(QueryError, match=said.replace("(", "\\(")):
        call(name, [constant(each) for each in arguments])


def test_names_tell_upper_from_lower_case_and_those_of_queries_are_not_pigs() -> None:
    with pytest.raises(UnknownFunction, match="Did you mean COUNT"):
        call("count", [constant(nums(1))])
    with pytest.raises(UnknownFunction, match="Did you mean UPPER"):
        call("upper", [constant("a")])
    with pytest.raises(UnknownFunction):
        call("regex_matches", [constant("a"), constant("a")])
    assert called("org.apache.pig.builtin.UPPER", "a")[0] == "A"
    assert is_function("RANDOM") and is_function("COUNT") and not is_function("length")


def test_the_registry_has_what_queries_know_and_pigs_beside_it() -> None:
    assert set(GENERAL.functions) < set(PIG.functions)
    assert {"UPPER", "TOKENIZE", "ToDate"} <= set(PIG.functions)
    assert {"COUNT", "SUM", "MAX"} <= set(PIG.aggregates)
    assert all(ALIASES[name] in (*FUNCTIONS, *MAKERS, "RANDOM") for name in ALIASES)
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("org.example.Mine", "@outputSchema"),
        ("datafu.pig.stats.Quantile", "AVG, MIN, MAX"),
        ("com.twitter.elephantbird.pig.load.JsonLoader", "JsonLoader"),
    ],
)
def test_other_classes_of_java_are_refused_with_what_to_write(name: str, said: str) -> None:
    with pytest.raises(JavaFunction, match=said) as caught:
        call(name, [constant(1)])
    assert caught.value.name == name
    assert isinstance(caught.value, IncoopError)


def test_what_define_gives_a_function() -> None:
    assert called("TOP", 1, 0, nums(3, None, 1), constructor=("ASC",))[0] == [(None,)]
    assert called("REGEX_EXTRACT", "ab", "(a)", 1, constructor=("true",))[0] is None
    assert called("REGEX_EXTRACT_ALL", "ab", "(a)", constructor=("false",))[0] == ("a",)
    cov = called("COV", of(DOUBLE, 1.0), of(DOUBLE, 1.0), constructor=("a", "b"))[0]
    assert cov == [("a", "b", 0.0)]


def test_top_with_a_computed_number_gives_what_top_with_a_written_one_gives() -> None:
    bag = Of([(1, "b"), (2, "a"), (2, "c"), (None, "d")], PAIRS)
    written = called("TOP", 3, 0, bag)[0]
    computed = call("TOP", [Reference(0, INT), Reference(1, INT), constant(bag)])
    assert value_of(computed, (3, 0))[0] == written == [(2, "a"), (2, "c"), (1, "b")]
    assert value_of(computed, (-1, 0)) == (None, {RANGE: 1})


def test_pluck_tuple_takes_fields_by_the_beginning_of_their_names() -> None:
    fields = [Reference(0, INT, "x"), Reference(1, TEXT, "y"), Reference(2, INT, "z")]
    names = ["a::x", "a::y", "b::z"]
    plucked = call("PluckTuple", fields, constructor=("a::",), names=names)
    assert str(plucked.type) == "(a::x: int, a::y: text)"
    assert value_of(plucked, (1, "q", 3))[0] == (1, "q")
    others = call("PluckTuple", fields, constructor=("a::.*", "false"), names=names)
    assert value_of(others, (1, "q", 3))[0] == (3,)


def test_tuples_and_bags_are_named_as_what_they_are_made_of() -> None:
    fields = [Reference(0, INT, "x"), Reference(1, INT, "y")]
    assert str(call("TOTUPLE", fields).type) == "(x: int, y: int)"
    assert str(call("TOBAG", fields).type) == "{(int)}"
    assert str(call("TOBAG", fields[:1]).type) == "{(x: int)}"


def test_the_time_is_one_for_a_script_and_said_to_change() -> None:
    before = datetime.now(UTC)
    with pytest.warns(ChangesEveryRun, match="as a parameter"):
        now = call("CurrentTime", [])
    assert isinstance(now, Constant) and now.kind == DATETIME
    assert before.replace(microsecond=0) <= now.value <= datetime.now(UTC)


def test_matches_takes_all_of_a_text() -> None:
    assert value_of(matches(constant("apple"), constant("a.*")))[0] is True
    assert value_of(matches(constant("apple"), constant("pp")))[0] is False
    assert value_of(matches(constant(b"12"), constant("\\d+")))[0] is True
    assert value_of(matches(Constant(None, NULL), constant("a")))[0] is None
    with pytest.raises(QueryError, match="regular expression"):
        matches(constant("a"), constant("*a"))
    with pytest.raises(TypeMismatch):
        matches(constant(1), constant("a"))
    assert build.constant("a").type == TEXT
