"""Aggregates over the bags of a group of several inputs, where nothing else is asked of the bags: an aggregation by key
of all rows of all inputs, which needs no bags.

To an aggregate of one input the rows of the others are nulls, which it leaves out. Whether a bag is empty is whether it
has no rows; keys with nulls that stay apart by input have its number beside them.
"""

from __future__ import annotations

from dataclasses import replace

from incoop.query.expressions import build
from incoop.query.expressions.nodes import Call, Cast, Conditional, Constant, Expression, IsNull, Or, Reference
from incoop.query.expressions.walk import moved, used_fields
from incoop.query.functions.aggregates import Count
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cogroup, Union
from incoop.query.plan.single import AggregateBy, Filter, Project
from incoop.query.rules.aggregate_groups import behind_filters, over_bag, without_nulls
from incoop.query.rules.apply import everywhere
from incoop.query.rules.join_cogroups import EMPTY
from incoop.query.types import INT, LONG, NULL

#: Beside keys that all inputs share.
_TOGETHER = -1

#: One row, to a count; how many rows a bag has.
_ROWS = Aggregation(Count(), (Constant(1, INT),))

#: Places of what was found, until it is known where these are: behind all fields.
_FOUND = 1 << 20


def _aggregated(plan: Plan) -> Plan | None:
    if not isinstance(plan, Project):
        return None
    filters, group = behind_filters(plan.input)
    if not isinstance(group, Cogroup) or len(group.inputs) < 2:
        return None
    keys, bags = len(group.keys[0]), range(len(group.keys[0]), len(group.names))
    if any([key.type for key in each] != [key.type for key in group.keys[0]] for each in group.keys):
        return None
    found: list[tuple[int, Aggregation]] = []

    def value(side: int, aggregation: Aggregation) -> Expression:
        if (side, aggregation) not in found:
            found.append((side, aggregation))
        return Reference(_FOUND + found.index((side, aggregation)), aggregation.aggregate.type)

    def without_bags(expression: Expression) -> Expression:
        for side, bag in enumerate(bags):
            aggregation = over_bag(expression, bag)
            if aggregation is not None and (one := without_nulls(aggregation)) is not None:
                return value(side, one)
            if isinstance(expression, Call) and expression.function.name in EMPTY:
                (asked,) = expression.arguments
                if isinstance(asked, Reference) and asked.index == bag:
                    return build.compare("=", value(side, _ROWS), Constant(0, LONG))
        return expression.rebuilt(without_bags, lambda part: part)

    results = list(map(without_bags, plan.results))
    conditions = [without_bags(each.condition) for each in filters]
    needed = [
        build.compare(">", value(side, _ROWS), Constant(0, LONG)) for side, must in enumerate(group.required) if must
    ]
    if not found or any(at in bags for each in (*results, *conditions) for at in used_fields(each)):
        return None
    lower, places = _of_all_rows(group, found), {at: at for at in range(keys)}
    places |= {_FOUND + at: keys + group.nulls_apart + at for at in range(len(found))}
    for condition in needed:
        lower = Filter(lower, moved(condition, places), position=group.position)
    for filtered, condition in reversed(list(zip(filters, conditions, strict=True))):
        lower = replace(filtered, input=lower, condition=moved(condition, places))
    return replace(plan, input=lower, results=tuple(moved(each, places) for each in results))


def _of_all_rows(group: Cogroup, found: list[tuple[int, Aggregation]]) -> Plan:
    """The aggregation of the rows of all inputs, each beside nulls for what is asked of the others."""
    inputs = []
    for side, (rows, keys) in enumerate(zip(group.inputs, group.keys, strict=True)):
        fields: list[Expression] = list(keys)
        if group.nulls_apart:
            null: Expression = IsNull(keys[0])
            for key in keys[1:]:
                null = Or(null, IsNull(key))
            fields.append(Conditional(null, Constant(side, INT), Constant(_TOGETHER, INT)))
        for of, aggregation in found:
            (argument,) = aggregation.arguments
            fields.append(argument if of == side else Cast(Constant(None, NULL), argument.type))
        inputs.append(Project(rows, tuple(fields), (None,) * len(fields), position=group.position))
    union = Union(tuple(inputs), position=group.position)
    first = len(inputs[0].results) - len(found)
    asked = tuple(
        Aggregation(each.aggregate, (Reference(first + at, each.arguments[0].type),))
        for at, (_, each) in enumerate(found)
    )
    keys = tuple(Reference(at, inputs[0].results[at].type) for at in range(first))
    return AggregateBy(union, keys, asked, (None,) * (first + len(found)), position=group.position)


aggregate_cogroups = everywhere(_aggregated)
