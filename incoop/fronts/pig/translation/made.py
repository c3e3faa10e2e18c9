"""Tuples and bags that a script writes, with the names of what they are made of.

Contract: the functions are those of the relational layer; only the names of fields in their types are added, which are
in no digest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from incoop.query.expressions.nodes import Call, Constant, Expression
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Signature
from incoop.query.types import BagType, Field, TupleType, Type, same_shape


@dataclass(frozen=True, slots=True)
class _Named:
    """The rule of a function whose result is known."""

    result: Type

    def __call__(self, types: tuple[Type, ...]) -> Signature | None:
        return Signature(types, self.result)


def tuple_of(parts: tuple[Expression, ...], fields: tuple[Field, ...]) -> Expression:
    """A tuple of values, with names."""
    named = tuple(Field(field.name, part.type, field.qualifiers) for field, part in zip(fields, parts, strict=True))
    function = replace(GENERAL.function("make_tuple"), rule=_Named(TupleType(named)))
    return Call(function, parts, position=parts[0].position if parts else None)


def bag_of(rows: tuple[Expression, ...]) -> Expression:
    """A bag of values: tuples as they are, others as tuples of one."""
    kinds = [row.type if isinstance(row.type, TupleType) else TupleType((Field(None, row.type),)) for row in rows]
    alike = bool(kinds) and all(same_shape(kind, kinds[0]) for kind in kinds)
    function = replace(GENERAL.function("make_bag"), rule=_Named(BagType(kinds[0].fields if alike else None)))
    return Call(function, rows, position=rows[0].position if rows else None)


def parts_of(expression: Expression) -> tuple[Expression, ...] | None:
    """What a tuple was made of, where that is written right there."""
    if isinstance(expression, Call) and expression.function.name == "make_tuple":
        return expression.arguments
    return None


def row_of_nulls(expression: Expression) -> Expression:
    """A bag that is null as a bag with a row of nulls: what FLATTEN makes of it."""
    assert isinstance(expression.type, BagType)
    width = 1 if expression.type.fields is None else len(expression.type.fields)
    nulls = Constant([(None,) * width], expression.type, position=expression.position)
    function = replace(GENERAL.function("coalesce"), rule=_Named(expression.type))
    return Call(function, (expression, nulls), position=expression.position)
