"""Aggregates over the bag of a group, where nothing else is asked of the bag: an aggregation by key, which needs no
bags.

Filters between the group and the projection go along. An aggregate of filtered rows is one of values that are null
for the others; one of different values counts these. A sort changes no aggregate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from incoop.query.expressions.bag_nodes import BagAggregate, BagColumns, BagDistinct, BagFilter, BagSort
from incoop.query.expressions.nodes import And, Conditional, Constant, Expression, OuterReference, Reference
from incoop.query.expressions.walk import every, may_trouble, used_fields
from incoop.query.functions.aggregates import Count, CountDistinct, CountRows, Extreme, Mean, Spread, Sum
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cogroup
from incoop.query.plan.single import AggregateBy, Filter, Project
from incoop.query.rules.apply import everywhere
from incoop.query.types import INT, NULL


def behind_filters(plan: Plan) -> tuple[list[Filter], Plan]:
    """Filters, the last one first, and what they look at."""
    filters: list[Filter] = []
    while isinstance(plan, Filter):
        filters.append(plan)
        plan = plan.input
    return filters, plan


def _aggregated(plan: Plan) -> Plan | None:
    if not isinstance(plan, Project):
        return None
    filters, group = behind_filters(plan.input)
    if not isinstance(group, Cogroup) or len(group.inputs) != 1:
        return None
    bag = len(group.keys[0])
    found: list[Aggregation] = []

    def without_bag(expression: Expression) -> Expression:
        aggregation = over_bag(expression, bag)
        if aggregation is None:
            return expression.rebuilt(without_bag, lambda part: part)
        if aggregation not in found:
            found.append(aggregation)
        return Reference(bag + found.index(aggregation), expression.type, position=expression.position)

    conditions = [each.condition for each in filters]
    results = tuple(map(without_bag, plan.results))
    kept = [without_bag(each) for each in conditions]
    if not found or any(bag in used_fields(part) for part in _untouched((*plan.results, *conditions), bag)):
        return None
    names = (*group.names[:bag], *(None for _ in found))
    lower: Plan = AggregateBy(group.inputs[0], group.keys[0], tuple(found), names, position=group.position)
    for filtered, condition in reversed(list(zip(filters, kept, strict=True))):
        lower = replace(filtered, input=lower, condition=condition)
    return replace(plan, input=lower, results=results)


def over_bag(expression: Expression, bag: int) -> Aggregation | None:
    """The aggregation of the bag's rows that an expression is."""
    if not isinstance(expression, BagAggregate) or _sees_around(expression.values):
        return None
    asked = _Asked(Aggregation(expression.aggregate, expression.values))
    source = expression.argument
    while not (isinstance(source, Reference) and source.index == bag):
        match source:
            case BagColumns(argument, indexes):
                asked = asked.below(indexes)
            case BagFilter(argument, condition) if not _sees_around((condition,)):
                asked = replace(asked, conditions=(condition, *asked.conditions))
            case BagSort(argument, keys, _) if not any(map(may_trouble, keys)):
                pass
            case BagDistinct(argument):
                different = _of_different(asked, source)
                if different is None:
                    return None
                asked = different
            case _:
                return None
        source = argument
    return asked.aggregation()


def _sees_around(expressions: tuple[Expression, ...]) -> bool:
    return any(isinstance(node, OuterReference) for each in expressions for node in every(each))


@dataclass(frozen=True, slots=True)
class _Asked:
    """An aggregation of those rows of a bag for which conditions are true."""

    of_all: Aggregation
    conditions: tuple[Expression, ...] = ()

    def below(self, indexes: tuple[int, ...]) -> _Asked:
        """The same of rows of which these were some columns."""

        def moved(value: Expression) -> Expression:
            if isinstance(value, Reference):
                return replace(value, index=indexes[value.index])
            return value.rebuilt(moved, lambda part: part)

        arguments = tuple(map(moved, self.of_all.arguments))
        return _Asked(replace(self.of_all, arguments=arguments), tuple(map(moved, self.conditions)))

    def aggregation(self) -> Aggregation | None:
        """Of all rows: null for those that are not asked for, where nulls are left out."""
        if not self.conditions:
            return self.of_all
        whole = self.conditions[0]
        for each in self.conditions[1:]:
            whole = And(whole, each)
        found = without_nulls(self.of_all)
        if found is None:
            return None
        (argument,) = found.arguments
        return Aggregation(found.aggregate, (Conditional(whole, argument, Constant(None, NULL)),))


def without_nulls(aggregation: Aggregation) -> Aggregation | None:
    """The same as one of a single value, to which a row with a null is no row; None where there is none."""
    if type(aggregation.aggregate) is CountRows:
        return Aggregation(Count(), (Constant(1, INT),))
    if type(aggregation.aggregate) not in _WITHOUT_NULLS or len(aggregation.arguments) != 1:
        return None
    return aggregation


#: Aggregates to which a row with a null is no row.
_WITHOUT_NULLS = (Count, CountDistinct, Sum, Mean, Spread, Extreme)


def _of_different(asked: _Asked, source: BagDistinct) -> _Asked | None:
    """The same aggregate of rows of which each may be there several times; None where there is none."""
    aggregate, fields = asked.of_all.aggregate, source.bag.fields
    if type(aggregate) is Extreme:
        return asked
    (value,) = asked.of_all.arguments or (None,)
    if type(aggregate) is Count and fields is not None and len(fields) == 1 and isinstance(value, Reference):
        return replace(asked, of_all=Aggregation(CountDistinct(), (value,)))
    return None


def _untouched(results: tuple[Expression, ...], bag: int) -> list[Expression]:
    """What remains of results besides aggregates of the bag: parts that read fields themselves."""
    found: list[Expression] = []

    def walk(expression: Expression) -> None:
        if over_bag(expression, bag) is not None:
            return
        if isinstance(expression, Reference | OuterReference) or expression.inner:
            found.append(expression)
        for child in expression.children:
            walk(child)

    for result in results:
        walk(result)
    return found


aggregate_groups = everywhere(_aggregated)
