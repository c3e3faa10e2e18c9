"""Calls of Pig's functions with constants: what tests of functions say them with."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from incoop.fronts.pig.functions import call
from incoop.query.expressions import build
from incoop.query.expressions.batches import ColumnBatch, to_values
from incoop.query.expressions.columns import evaluate
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Constant, Expression, Reference
from incoop.query.expressions.rows import compile_row
from incoop.query.types import DATETIME, DECIMAL, BagType, MapType, TupleType, Type

_KINDS: dict[type, Type] = {datetime: DATETIME, Decimal: DECIMAL, tuple: TupleType(), list: BagType(), dict: MapType()}


class Of:
    """A value with a type that it does not say itself."""

    def __init__(self, value: Any, kind: Type) -> None:
        self.value, self.kind = value, kind


def constant(value: Any) -> Constant:
    """A constant of the type that its value says."""
    if isinstance(value, Of):
        return Constant(value.value, value.kind)
    kind = _KINDS.get(type(value))
    return build.constant(value) if kind is None else Constant(value, kind)


def value_of(expression: Expression, row: tuple[Any, ...] = ()) -> tuple[Any, dict[str, int]]:
    """What an expression gives, by rows and, which has to be the same, by columns; and what it warns of."""
    by_rows, by_columns = Evaluation(), Evaluation()
    found = compile_row(expression)(row, by_rows)
    column = evaluate(expression, ColumnBatch((), (), 1), by_columns) if not row else None
    if column is not None:
        assert repr(to_values(column, expression.type)) == repr([found])
        assert by_columns.warnings == by_rows.warnings
    return found, by_rows.warnings.counts


def called(name: str, *arguments: Any, constructor: tuple[str, ...] = ()) -> tuple[Any, str, dict[str, int]]:
    """What a call gives, its type, and what it warns of; arguments as constants, and as fields of a row."""
    constants = [constant(each) for each in arguments]
    whole = call(name, constants, constructor=constructor)
    value, warned = value_of(whole)
    fields = [Reference(at, each.type) for at, each in enumerate(constants)]
    again = call(name, fields, constructor=constructor)
    assert (value_of(again, tuple(each.value for each in constants)), again.type) == ((value, warned), whole.type) or (
        value != value
    )
    return value, str(whole.type), warned
