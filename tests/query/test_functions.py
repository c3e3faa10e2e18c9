"""Functions and nested expressions: what they give, case by case."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from incoop.query.errors import QueryError
from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import (
    BagAggregate,
    BagColumns,
    BagDistinct,
    BagFilter,
    BagLimit,
    BagRows,
    BagSort,
)
from incoop.query.expressions.batches import ColumnBatch, to_values
from incoop.query.expressions.columns import evaluate
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Constant, Expression, MapValue, OuterReference, Reference, TupleField
from incoop.query.expressions.rows import compile_row
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Function, fixed
from incoop.query.order import Direction
from incoop.query.types import (
    BOOLEAN,
    DATETIME,
    DECIMAL,
    DOUBLE,
    INT,
    LONG,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
)
from incoop.query.warnings import CAST, RANGE

from .test_columns_mean_what_rows_mean import looks

DAY = datetime(2024, 2, 29, 12, 30, 15, 250000, tzinfo=UTC)
BAG = BagType((Field("x", INT), Field("y", DOUBLE)))
KINDS: dict[type, Type] = {datetime: DATETIME, Decimal: DECIMAL, tuple: TupleType(), list: BAG, dict: MapType(INT)}


def constant(value: Any) -> Constant:
    kind = KINDS.get(type(value))
    return build.constant(value) if kind is None else Constant(value, kind)


CASES: list[tuple[str, tuple[Any, ...], Any]] = [
    ("concat", ("a", "b", "c"), "abc"),
    ("concat", (b"a", b"\xff"), b"a\xff"),
    ("concat", ("a", None), None),
    ("length", ("ä€",), 2),
    ("length", (b"\xff\xfe\xfd",), 3),
    ("substring", ("hello", 1, 3), "el"),
    ("substring", ("hello", -2, 99), "hello"),
    ("index_of", ("hello", "l", 3), 3),
    ("index_of", ("hello", "z"), -1),
    ("last_index_of", ("hello", "l"), 3),
    ("upper", ("straße",), "STRASSE"),
    ("trim", ("\t a \n",), "a"),
    ("replace", ("a.b.c", ".", "-"), "a-b-c"),
    ("regex_matches", ("hello", "h.*"), True),
    ("regex_matches", ("hello", "ell"), False),
    ("regex_extract", ("192.168.1.5:8020", r"(.*):(\d+)", 2), "8020"),
    ("regex_extract", ("none", r"(\d+)", 1), None),
    ("regex_extract", ("a1", r"(\d+)", 7), None),
    ("regex_extract_all", ("k=v", "(.*)=(.*)"), ("k", "v")),
    ("split", ("a,b,,", ","), ("a", "b")),
    ("split", ("a,b,c", ",", 2), ("a", "b,c")),
    ("split", ("a,b,,", ",", -1), ("a", "b", "", "")),
    ("tokens", ("to be, (or) not",), [("to",), ("be",), ("or",), ("not",)]),
    ("abs", (-5,), 5),
    ("ceil", (-1.5,), -1.0),
    ("floor", (-1.5,), -2.0),
    ("round", (2.5,), 3),
    ("round", (-2.5,), -2),
    ("round", (0.49999999999999994,), 0),
    ("round", (math.nan,), 0),
    ("round", (1e300,), 2**63 - 1),
    ("round_to", (2.675, 2), 2.68),
    ("round_to", (-1234.0, -2), -1200.0),
    ("sqrt", (-1.0,), math.nan),
    ("log", (0.0,), -math.inf),
    ("exp", (1e9,), math.inf),
    ("power", (-8.0, 3.0), -512.0),
    ("power", (0.0, -1.0), math.inf),
    ("year", (DAY,), 2024),
    ("week", (DAY,), 9),
    ("millisecond", (DAY,), 250),
    ("truncated_to", (DAY, "month"), datetime(2024, 2, 1, tzinfo=UTC)),
    ("truncated_to", (DAY, "minute"), datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
    ("add_duration", (DAY, "P1Y"), datetime(2025, 2, 28, 12, 30, 15, 250000, tzinfo=UTC)),
    ("subtract_duration", (DAY, "P1MT30M"), datetime(2024, 1, 29, 12, 0, 15, 250000, tzinfo=UTC)),
    ("to_milliseconds", (DAY,), 1709209815250),
    ("from_milliseconds", (1709209815250,), DAY),
    ("days_between", (DAY, datetime(2024, 3, 2, tzinfo=UTC)), -1),
    ("months_between", (datetime(2024, 3, 30, tzinfo=UTC), datetime(2024, 1, 31, tzinfo=UTC)), 1),
    ("make_tuple", (1, None), (1, None)),
    ("make_bag", (2, 1, None), [(None,), (1,), (2,)]),
    ("make_map", ("a", 1, "b", None), {"a": 1, "b": None}),
    ("size", ([(1, 2.0), (2, None)],), 2),
    ("is_empty", ([],), True),
    ("map_keys", ({"b": 1, "a": 2},), [("a",), ("b",)]),
    ("bag_difference", ([(1, 1.0), (2, 2.0)], [(2, 2.0), (3, 3.0)]), [(1, 1.0), (3, 3.0)]),
    ("bag_without", ([(1, 1.0), (1, 1.0), (2, 2.0)], [(2, 2.0)]), [(1, 1.0), (1, 1.0)]),
    ("joined", ([(1, 2.5), (3, None)], "-"), "1-2.5-3-"),
    ("coalesce", (None, 2, 3), 2),
    ("null_if", (2, 2), None),
    ("greatest", (1, None, 3), 3),
]


def value_of(expression: Expression, row: tuple[Any, ...] = (), evaluation: Evaluation | None = None) -> Any:
    return compile_row(expression)(row, evaluation or Evaluation())


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES, ids=lambda each: str(each)[:20])
def test_a_function_gives(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    evaluation = Evaluation()
    found = value_of(build.call(GENERAL, name, *map(constant, arguments)), (), evaluation)
    assert looks(found) == looks(expected)
    assert evaluation.warnings.counts == {}


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("add_duration", (DAY, "one day"), CAST),
        ("add_duration", (DAY, "P9999Y"), RANGE),
        ("from_milliseconds", (2**62,), RANGE),
        ("truncated_to", (DAY, "fortnight"), CAST),
    ],
)
def test_what_has_no_result_is_null_and_counted(name: str, arguments: tuple[Any, ...], kind: str) -> None:
    evaluation = Evaluation()
    assert value_of(build.call(GENERAL, name, *map(constant, arguments)), (), evaluation) is None
    assert evaluation.warnings.counts == {kind: 1}


def test_a_regular_expression_that_is_none_is_told() -> None:
    with pytest.raises(QueryError, match="no regular expression"):
        value_of(build.call(GENERAL, "regex_matches", constant("a"), constant("(")))


def test_a_way_in_adds_functions_in_place_of_those_of_the_same_name() -> None:
    twice = Function("upper", fixed(TEXT, result=TEXT), lambda text: text * 2, version=2)
    registry = GENERAL.extended([twice])
    assert value_of(build.call(registry, "upper", constant("a"))) == "aa"
    assert value_of(build.call(GENERAL, "upper", constant("a"))) == "A"


ROW = ([(1, 3.0), (2, None), (2, 1.0), (3, 1.0)], 2)
ROWS = Reference(0, BAG)
X, Y = Reference(0, INT), Reference(1, DOUBLE)
NESTED: dict[str, tuple[Expression, Any]] = {
    "a filter that sees the row around": (
        BagFilter(ROWS, build.compare("=", X, OuterReference(1, INT))),
        [(2, None), (2, 1.0)],
    ),
    "a sort keeps what has equal keys": (
        BagSort(ROWS, (Y,), (Direction(descending=True),)),
        [(1, 3.0), (2, 1.0), (3, 1.0), (2, None)],
    ),
    "a limit of a sort": (BagLimit(BagSort(ROWS, (X,), (Direction(True),)), 2), [(3, 1.0), (2, None)]),
    "distinct fields": (BagDistinct(BagColumns(ROWS, (0,))), [(1,), (2,), (3,)]),
    "new rows": (
        BagRows(ROWS, (build.arithmetic("+", X, OuterReference(1, INT)),), ("no",), (None,)),
        [(3,), (4,), (4,), (5,)],
    ),
    "an aggregate": (BagAggregate(ROWS, GENERAL.aggregate("sum", (DOUBLE,))[0], (Y,)), 5.0),
    "a count of rows": (BagAggregate(ROWS, GENERAL.aggregate("count_rows", ())[0], ()), 4),
}


@pytest.mark.parametrize("name", NESTED)
def test_inside_a_bag(name: str) -> None:
    expression, expected = NESTED[name]
    assert value_of(expression, ROW) == expected
    assert value_of(expression, (None, 2)) is None
    column = evaluate(expression, ColumnBatch.from_rows([ROW, (None, 2)], (BAG, INT)), Evaluation())
    assert to_values(column, expression.type) == [expected, None]


def test_fields_of_tuples_and_values_of_maps_that_are_not_there_are_null() -> None:
    pair = Reference(0, TupleType((Field("a", INT), Field("b", TEXT))))
    by_name = Reference(1, MapType(LONG))
    row = ((1, "x"), {"k": 7})
    assert [value_of(TupleField(pair, at), row) for at in (0, 1, 2)] == [1, "x", None]
    assert [value_of(MapValue(by_name, constant(key)), row) for key in ("k", "z", None)] == [7, None, None]
    assert (TupleField(pair, 1).type, MapValue(by_name, constant("k")).type) == (TEXT, LONG)


def test_decimals_are_exact_and_out_of_range_is_null() -> None:
    one, other = Constant(Decimal("0.1"), DECIMAL), Constant(Decimal("0.2"), DECIMAL)
    assert value_of(build.arithmetic("+", one, other)) == Decimal("0.3")
    evaluation = Evaluation()
    huge = Constant(Decimal("9e6144"), DECIMAL)
    assert value_of(build.arithmetic("*", huge, huge), (), evaluation) is None
    assert evaluation.warnings.counts == {RANGE: 1}
    assert value_of(build.cast(Constant(Decimal("1E+2"), DECIMAL), TEXT)) == "100"
    assert value_of(build.cast(constant(True), BOOLEAN)) is True
