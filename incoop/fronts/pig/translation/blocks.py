"""Nested blocks: FILTER, ORDER and the others on the bags of a row.

Contract: each statement of a block names an expression over the row; what stands after it sees the name. Inside an
operator, names are fields of the bag's rows first, then of the row around.
"""

from __future__ import annotations

from dataclasses import replace

from incoop.fronts.pig.errors import at, refuse
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.translation.generate import generated
from incoop.fronts.pig.translation.scope import RowScope, from_inside
from incoop.fronts.pig.translation.terms import arguments_of, condition, constant_value, expression
from incoop.query.errors import TypeMismatch
from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import BagDistinct, BagFilter, BagLimit, BagRows, BagSort, Flatten
from incoop.query.expressions.nodes import Expression, Reference
from incoop.query.order import Direction
from incoop.query.types import BYTES, BagType, Field


def block_scope(statements: tuple[o.NestedStatement, ...], scope: RowScope) -> RowScope:
    """The scope that GENERATE has at the end of a block."""
    for statement in statements:
        value = _value(statement.value, scope)
        scope = replace(scope, nested={**scope.nested, statement.name: value})
    return scope


def _value(value: o.NestedOperator | t.Term, scope: RowScope) -> Expression:
    match value:
        case o.NestedFilter(source, test):
            bag, inside = _bag(source, scope)
            return BagFilter(bag, condition(test, inside), position=at(value))
        case o.NestedOrder(source, keys, function):
            if function is not None:
                refuse("ORDER … USING a function of your own is not carried out. Order by a value it computes.", value)
            bag, inside = _bag(source, scope)
            by, directions = sort_keys(keys, inside)
            return BagSort(bag, by, directions, position=at(value))
        case o.NestedDistinct(source):
            return BagDistinct(_bag(source, scope)[0], position=at(value))
        case o.NestedLimit(source, count):
            number = constant_value(count, scope, "what a nested LIMIT takes")
            if not isinstance(number, int) or number < 0:
                refuse("a LIMIT in a block takes a whole number that is not negative.", count)
            return BagLimit(_bag(source, scope)[0], number, position=at(value))
        case o.NestedCross(sources):
            return _crossed(sources, scope, value)
        case o.NestedForeach(source, items):
            bag, inside = _bag(source, scope)
            made = generated(items, inside)
            names = tuple(each[0] if each else None for each in made.names)
            rows = BagRows(bag, tuple(made.results), tuple(made.flatten), names, position=at(value))
            return _named(rows, made.schema.fields)
        case _:
            return expression(value, scope)


def _named(rows: BagRows, fields: tuple[Field, ...] | None) -> Expression:
    """A bag whose fields have all their names."""
    kind = rows.type
    assert isinstance(kind, BagType)
    return rows if fields is None or kind.fields == fields else build.cast(rows, BagType(fields))


def _bag(source: o.NestedInput, scope: RowScope) -> tuple[Expression, RowScope]:
    """A bag of the row, and the scope of its rows."""
    bag = expression(source, scope)
    if bag.type == BYTES:
        bag = build.cast(bag, BagType(), at(source))
    if not isinstance(bag.type, BagType):
        raise TypeMismatch("an operator in a block", (str(bag.type),), "a bag", at(source))
    return bag, scope.inside(bag.type.fields)


def _crossed(sources: tuple[o.NestedInput, ...], scope: RowScope, node: o.NestedCross) -> Expression:
    whole = _bag(sources[0], scope)[0]
    for each in sources[1:]:
        other = _bag(each, scope)[0]
        assert isinstance(whole.type, BagType)
        if whole.type.fields is None:
            refuse("CROSS in a block needs bags whose fields are known.", each)
        own = tuple(Reference(index, field.type, field.name) for index, field in enumerate(whole.type.fields))
        names = (*(field.name for field in whole.type.fields), None)
        flatten: list[Flatten] = ["no"] * len(own)
        flatten.append("yes")
        whole = BagRows(whole, (*own, from_inside(other)), tuple(flatten), names, position=at(node))
    return whole


def sort_keys(keys: tuple[o.SortColumn, ...], scope: RowScope) -> tuple[tuple[Expression, ...], tuple[Direction, ...]]:
    """Keys of an order: nulls are the smallest."""
    found: list[Expression] = []
    directions: list[Direction] = []
    for key in keys:
        each = arguments_of((key.column,), scope)
        found += each
        directions += [Direction(key.descending)] * len(each)
    return tuple(found), tuple(directions)
