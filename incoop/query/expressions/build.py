"""Expressions made with the casts that their operands need: what ways in call.

Contract: both operands come to one type, the wider number; bytes take the type of the other one. What cannot is a
TypeMismatch at the position that is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from incoop.query.errors import Position, TypeMismatch
from incoop.query.expressions.nodes import (
    Arithmetic,
    Call,
    Cast,
    Comparison,
    Conditional,
    Constant,
    Expression,
    IsIn,
    Reference,
)
from incoop.query.functions.function import Registry
from incoop.query.numbers import fits
from incoop.query.schema import Schema
from incoop.query.types import BOOLEAN, BYTES, DOUBLE, INT, LONG, NULL, NUMBERS, TEXT, Type, common_type


def constant(value: Any, position: Position | None = None) -> Constant:
    """A constant of the type that its Python value says."""
    kinds: dict[type, Type] = {bool: BOOLEAN, float: DOUBLE, str: TEXT, bytes: BYTES, type(None): NULL}
    kind = (INT if fits(value, INT) else LONG) if type(value) is int else kinds[type(value)]
    return Constant(value, kind, position=position)


def field(schema: Schema, name: str | int, position: Position | None = None) -> Reference:
    """A field by its name or its place."""
    at = name if isinstance(name, int) else schema.find(name, position)
    known = schema.fields
    if known is None or at >= len(known):
        return Reference(at, BYTES, None, position=position)
    return Reference(at, known[at].type, known[at].name, position=position)


def cast(argument: Expression, kind: Type, position: Position | None = None) -> Expression:
    return argument if argument.type == kind else Cast(argument, kind, position=position or argument.position)


def same_type(operation: str, operands: Sequence[Expression], position: Position | None = None) -> list[Expression]:
    """Operands cast to the type that all of them can have."""
    kind: Type | None = operands[0].type
    for each in operands[1:]:
        kind = None if kind is None else common_type(kind, each.type)
    if kind is None:
        raise TypeMismatch(operation, tuple(str(each.type) for each in operands), "values of one type", position)
    return [cast(each, kind) if kind in NUMBERS or each.type in (NULL, BYTES) else each for each in operands]


def arithmetic(
    operator: Literal["+", "-", "*", "/", "%"],
    left: Expression,
    right: Expression,
    checked: bool = False,
    position: Position | None = None,
) -> Expression:
    """Two operands of which nothing is known are doubles."""
    if left.type in (BYTES, NULL) and right.type in (BYTES, NULL):
        left, right = cast(left, DOUBLE), cast(right, DOUBLE)
    one, other = same_type(repr(operator), (left, right), position)
    return Arithmetic(operator, one, other, checked, position=position)


def compare(
    operator: Literal["=", "!=", "<", "<=", ">", ">="],
    left: Expression,
    right: Expression,
    position: Position | None = None,
) -> Expression:
    one, other = same_type(repr(operator), (left, right), position)
    return Comparison(operator, one, other, position=position)


def choose(
    condition: Expression,
    chosen: Expression,
    otherwise: Expression,
    null_gives_null: bool = False,
    position: Position | None = None,
) -> Expression:
    one, other = same_type("a choice", (chosen, otherwise), position)
    return Conditional(condition, one, other, null_gives_null, position=position)


def is_in(argument: Expression, options: Sequence[Expression], position: Position | None = None) -> Expression:
    one, *others = same_type("IN", (argument, *options), position)
    return IsIn(one, tuple(others), position=position)


def call(registry: Registry, name: str, *arguments: Expression, position: Position | None = None) -> Expression:
    """A function of a registry, its arguments cast to what it takes."""
    function = registry.function(name, position)
    wanted = function.signature(tuple(each.type for each in arguments), position).arguments
    fitting = tuple(
        cast(each, kind) if each.type != NULL else Cast(each, kind)
        for each, kind in zip(arguments, wanted, strict=True)
    )
    return Call(function, fitting, position=position)
