"""Aggregates over the bag of a group, where nothing else is asked of the bag: an aggregation by key, which needs no
bags.
"""

from __future__ import annotations

from dataclasses import replace

from incoop.query.expressions.bag_nodes import BagAggregate, BagColumns
from incoop.query.expressions.nodes import Expression, OuterReference, Reference
from incoop.query.expressions.walk import every, used_fields
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cogroup
from incoop.query.plan.single import AggregateBy, Project
from incoop.query.rules.apply import everywhere


def _aggregated(plan: Plan) -> Plan | None:
    if not isinstance(plan, Project) or not isinstance(plan.input, Cogroup) or len(plan.input.inputs) != 1:
        return None
    group = plan.input
    bag = len(group.keys[0])
    found: list[Aggregation] = []

    def without_bag(expression: Expression) -> Expression:
        aggregation = _over(expression, bag)
        if aggregation is None:
            return expression.rebuilt(without_bag, lambda part: part)
        if aggregation not in found:
            found.append(aggregation)
        return Reference(bag + found.index(aggregation), expression.type, position=expression.position)

    results = tuple(map(without_bag, plan.results))
    if not found or any(bag in used_fields(part) for part in _untouched(plan.results, bag)):
        return None
    names = (*group.names[:bag], *(None for _ in found))
    lower = AggregateBy(group.inputs[0], group.keys[0], tuple(found), names, position=group.position)
    return replace(plan, input=lower, results=results)


def _over(expression: Expression, bag: int) -> Aggregation | None:
    """The aggregation of the bag's rows that an expression is."""
    if not isinstance(expression, BagAggregate):
        return None
    if any(isinstance(node, OuterReference) for value in expression.values for node in every(value)):
        return None
    source = expression.argument
    if isinstance(source, Reference) and source.index == bag:
        return Aggregation(expression.aggregate, expression.values)
    if isinstance(source, BagColumns) and isinstance(source.argument, Reference) and source.argument.index == bag:
        indexes = source.indexes

        def below(value: Expression) -> Expression:
            if isinstance(value, Reference):
                return replace(value, index=indexes[value.index])
            return value.rebuilt(below, lambda part: part)

        return Aggregation(expression.aggregate, tuple(map(below, expression.values)))
    return None


def _untouched(results: tuple[Expression, ...], bag: int) -> list[Expression]:
    """What remains of results besides aggregates of the bag: parts that read fields themselves."""
    found: list[Expression] = []

    def walk(expression: Expression) -> None:
        if _over(expression, bag) is not None:
            return
        if isinstance(expression, Reference | OuterReference) or expression.inner:
            found.append(expression)
        for child in expression.children:
            walk(child)

    for result in results:
        walk(result)
    return found


aggregate_groups = everywhere(_aggregated)
