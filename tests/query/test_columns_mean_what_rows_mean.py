"""Both evaluators give the same values and the same warnings, for random rows and expressions."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.query.errors import Overflowed, UserFunctionFailed
from incoop.query.expressions import build
from incoop.query.expressions.batches import ColumnBatch, to_values
from incoop.query.expressions.columns import evaluate, selected
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import (
    Arithmetic,
    Cast,
    Conditional,
    Constant,
    Expression,
    IsNull,
    Reference,
    UserCall,
)
from incoop.query.expressions.rows import compile_row
from incoop.query.types import BOOLEAN, BYTES, DECIMAL, DOUBLE, INT, LONG, TEXT, Type
from incoop.query.warnings import CAST, DIVISION

from .strategies import expressions, plain_types, tables

SETTINGS = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


def looks(value: Any) -> Any:
    """What tells values apart that Python says are equal, and joins NaNs."""
    if isinstance(value, float):
        return ("float", "nan") if math.isnan(value) else ("float", repr(value))
    if isinstance(value, tuple | list):
        return (type(value).__name__, [looks(each) for each in value])
    if isinstance(value, dict):
        return ("dict", [(key, looks(each)) for key, each in sorted(value.items())])
    return (type(value).__name__, value)


def both(expression: Expression, kinds: tuple[Type, ...], rows: list[Any]) -> tuple[Any, Any]:
    by_rows, by_columns = Evaluation(), Evaluation()
    function = compile_row(expression)
    expected = [looks(function(row, by_rows)) for row in rows]
    column = evaluate(expression, ColumnBatch.from_rows(rows, kinds), by_columns)
    found = [looks(value) for value in to_values(column, expression.type)]
    return (expected, by_rows.warnings.counts), (found, by_columns.warnings.counts)


@SETTINGS
@given(st.data())
def test_columns_mean_what_rows_mean(data: st.DataObject) -> None:
    kinds, rows = data.draw(tables())
    expression = data.draw(expressions(kinds, data.draw(plain_types())))
    expected, found = both(expression, kinds, rows)
    assert found == expected


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_condition_selects_the_rows_for_which_it_is_true(data: st.DataObject) -> None:
    kinds, rows = data.draw(tables())
    condition = data.draw(expressions(kinds, BOOLEAN))
    function = compile_row(condition)
    kept = [row for row in rows if function(row, Evaluation()) is True]
    found = selected(condition, ColumnBatch.from_rows(rows, kinds), Evaluation()).to_rows()
    assert list(map(looks, found)) == list(map(looks, kept))


A, B = Reference(0, INT), Reference(1, INT)


def test_integers_wrap_and_divide_as_javas() -> None:
    rows = [(2**31 - 1, 1), (-(2**31), -1), (-7, 2), (7, -2), (1, 0), (None, 0)]
    for sign, expected in {
        "+": [-(2**31), 2**31 - 1, -5, 5, 1, None],
        "/": [2**31 - 1, -(2**31), -3, -3, None, None],
        "%": [0, 0, -1, 1, None, None],
    }.items():
        (by_rows, warned), found = both(build.arithmetic(sign, A, B), (INT, INT), rows)  # type: ignore[arg-type]
        assert by_rows == [looks(value) for value in expected]
        assert warned == ({DIVISION: 1} if sign in "/%" else {})
        assert found == (by_rows, warned)


def test_checked_arithmetic_says_what_does_not_fit() -> None:
    for sign in "+-*":
        expression = Arithmetic(sign, A, B, checked=True)  # type: ignore[arg-type]
        rows = [(1, 1), (-(2**31), 2)] if sign == "-" else [(1, 1), (2**31 - 1, 2)]
        with pytest.raises(Overflowed) as rows_say:
            function = compile_row(expression)
            [function(row, Evaluation()) for row in rows]
        with pytest.raises(Overflowed) as columns_say:
            evaluate(expression, ColumnBatch.from_rows(rows, (INT, INT)), Evaluation())
        assert rows_say.value.args == columns_say.value.args


def test_the_side_of_a_choice_that_is_not_chosen_warns_of_nothing() -> None:
    number = Cast(Reference(0, BYTES), LONG)
    choice = Conditional(build.compare("=", Reference(0, BYTES), Constant(b"x", BYTES)), Constant(0, LONG), number)
    rows = [(b"x",), (b"12",), (b"y",), (None,)]
    expected, found = both(choice, (BYTES,), rows)
    assert expected == ([looks(value) for value in (0, 12, None, None)], {CAST: 1})
    assert found == expected


def test_no_rows_give_an_empty_column_of_the_right_type() -> None:
    """A condition on what has no array, in a choice: nothing says the type of a list without values."""
    choice = Conditional(IsNull(Cast(A, DECIMAL)), Constant(None, INT), A)
    assert both(choice, (INT,), []) == (([], {}), ([], {}))


def test_a_users_function_that_fails_is_told_with_its_arguments_and_its_traceback() -> None:
    def half(text: str) -> float:
        return int(text) / 2

    call = UserCall("half", half, b"1", (Reference(0, TEXT),), DOUBLE)
    expected, found = both(call, (TEXT,), [("4",), ("6",)])
    assert found == expected == ([looks(2.0), looks(3.0)], {})
    with pytest.raises(UserFunctionFailed, match=r"half failed on \('x',\)(?s:.*)int\(text\) / 2"):
        evaluate(call, ColumnBatch.from_rows([("x",)], (TEXT,)), Evaluation())
