"""Expressions looked through and changed: which fields they use, and the same over other rows.

Contract: what stands inside a bag's rows counts for the row around as far as it refers to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from incoop.query.casts import can_fail
from incoop.query.expressions.nodes import (
    Arithmetic,
    Call,
    Cast,
    Expression,
    Negation,
    OuterReference,
    Reference,
    Scalar,
    UserCall,
)
from incoop.query.types import DECIMAL


def every(expression: Expression) -> Iterator[Expression]:
    """The expression and all that it is made of, inner ones included."""
    yield expression
    for part in (*expression.children, *expression.inner):
        yield from every(part)


def used_fields(expression: Expression, level: int = 0) -> set[int]:
    """Places of the row's fields that an expression reads."""
    found: set[int] = set()
    if level == 0 and isinstance(expression, Reference):
        found.add(expression.index)
    if isinstance(expression, OuterReference) and expression.levels == level:
        found.add(expression.index)
    for child in expression.children:
        found |= used_fields(child, level)
    for part in expression.inner:
        found |= used_fields(part, level + 1)
    return found


def moved(expression: Expression, places: Mapping[int, int], level: int = 0) -> Expression:
    """The same expression over rows whose fields are at other places."""
    if level == 0 and isinstance(expression, Reference):
        return replace(expression, index=places[expression.index])
    if isinstance(expression, OuterReference) and expression.levels == level:
        return replace(expression, index=places[expression.index])
    return expression.rebuilt(lambda child: moved(child, places, level), lambda part: moved(part, places, level + 1))


def substituted(expression: Expression, results: Callable[[Reference], Expression]) -> Expression | None:
    """The expression with its fields replaced by what computes them; None where an inner one refers to a field that
    is computed.
    """
    for node in every(expression):
        if isinstance(node, OuterReference):
            return None
    return _substituted(expression, results)


def _substituted(expression: Expression, results: Callable[[Reference], Expression]) -> Expression:
    if isinstance(expression, Reference):
        return results(expression)
    return expression.rebuilt(lambda child: _substituted(child, results), lambda part: part)


def scalars(expression: Expression) -> list[Scalar]:
    """Values of other plans that an expression needs."""
    return [node for node in every(expression) if isinstance(node, Scalar)]


def may_trouble(expression: Expression) -> bool:
    """Whether evaluating it may count a warning or raise: then it is evaluated for the rows that need it, and no
    others.
    """
    return any(_troubles(node) for node in every(expression))


def _troubles(node: Expression) -> bool:
    match node:
        case Arithmetic(operator=sign, checked=checked):
            return sign in "/%" or checked or node.type == DECIMAL
        case Negation(checked=checked):
            return checked
        case Cast(argument=argument, target=target):
            return can_fail(argument.type, target)
        case Call(function=function):
            # Regular expressions may be malformed.
            return function.may_fail or "regex" in function.name or function.name == "split"
        case UserCall():
            return True
    return False
