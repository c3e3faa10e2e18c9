"""Filters before what costs more: below projections, unions, sorts, distincts, aggregates by key, and into the sides
of joins.

A condition that could end the query on rows that it was not asked about stays where it is. How many warnings are
counted follows from where conditions are evaluated.
"""

from __future__ import annotations

from dataclasses import replace

from incoop.query.expressions.bag_nodes import OfBag
from incoop.query.expressions.nodes import Constant, Expression, OuterReference, Reference
from incoop.query.expressions.walk import every, moved, substituted, used_fields
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cross, Join, Union
from incoop.query.plan.single import AggregateBy, DistinctRows, Filter, Project, Sort
from incoop.query.rules.apply import conjunction, conjuncts, everywhere, may_raise
from incoop.query.types import FLOATS, PlainType


def _pushed(plan: Plan) -> Plan | None:
    if not isinstance(plan, Filter):
        return None
    conditions = conjuncts(plan.condition)
    movable = [each for each in conditions if not may_raise(each)]
    if not movable:
        return None
    below = plan.input
    if isinstance(below, Sort):
        return _split(plan, conditions, movable, lambda kept: replace(below, input=_filtered(below.input, kept)))
    if isinstance(below, DistinctRows):
        plain = [each for each in movable if _keeps_equal(each, below.input)]
        return _split(plan, conditions, plain, lambda kept: replace(below, input=_filtered(below.input, kept)))
    if isinstance(below, Union):
        if below.schema.fields is None:
            return None
        return _split(
            plan,
            conditions,
            movable,
            lambda kept: replace(below, inputs=tuple(_filtered(each, kept) for each in below.inputs)),
        )
    if isinstance(below, Project):
        return _below_results(plan, below, below.results, conditions, movable)
    if isinstance(below, AggregateBy) and below.keys:
        return _below_results(plan, below, below.keys, conditions, movable)
    if isinstance(below, Join):
        return _into_sides(plan, below, below.kind, conditions, movable)
    if isinstance(below, Cross):
        return _into_sides(plan, below, "inner", conditions, movable)
    return None


def _filtered(plan: Plan, conditions: list[Expression]) -> Plan:
    return Filter(plan, conjunction(conditions), position=conditions[0].position) if conditions else plan


def _split(plan: Filter, conditions: list[Expression], moving: list[Expression], make: object) -> Plan | None:
    """What moves is below, what stays is above."""
    if not moving:
        return None
    going = {id(each) for each in moving}
    new: Plan = make(moving)  # type: ignore[operator]
    return _filtered(new, [each for each in conditions if id(each) not in going])


def _keeps_equal(condition: Expression, plan: Plan) -> bool:
    """Whether it cannot tell values that are one: zeros of floats, which print differently, stand in for each other."""
    types = plan.schema.types
    return types is not None and all(_plain(types[at]) for at in used_fields(condition))


def _plain(kind: object) -> bool:
    return isinstance(kind, PlainType) and kind not in FLOATS


def _below_results(
    plan: Filter,
    below: Project | AggregateBy,
    results: tuple[Expression, ...],
    conditions: list[Expression],
    movable: list[Expression],
) -> Plan | None:
    """Fields replaced by what computes them, where that is cheap or used once."""
    going, new = [], []
    for each in movable:
        used = used_fields(each)
        if any(at >= len(results) for at in used) or any(isinstance(node, OuterReference) for node in every(each)):
            continue
        if isinstance(below, AggregateBy) and not all(_plain(results[at].type) for at in used):
            continue
        if any(may_raise(results[at]) or _looks_into_bags(results[at]) for at in used):
            continue
        if not all(isinstance(results[at], Reference | Constant) for at in used) and len(used) > 1:
            continue
        found = substituted(each, lambda field: results[field.index])
        if found is not None:
            going.append(each)
            new.append(found)
    return _split(plan, conditions, going, lambda _: replace(below, input=_filtered(below.input, new)))


def _looks_into_bags(result: Expression) -> bool:
    """Whether it costs what a bag's rows cost: then it is computed once."""
    return any(isinstance(node, OfBag) for node in every(result))


def _into_sides(
    plan: Filter, below: Join | Cross, kind: str, conditions: list[Expression], movable: list[Expression]
) -> Plan | None:
    width = below.left.schema.width
    if width is None:
        return None
    left_takes = kind in ("inner", "left", "semi", "anti")
    right_takes = kind in ("inner", "right")
    left = [each for each in movable if left_takes and all(at < width for at in used_fields(each))]
    right = [
        each for each in movable if right_takes and used_fields(each) and all(at >= width for at in used_fields(each))
    ]
    total = below.schema.width or width
    places = {at: at - width for at in range(width, total)}
    return _split(
        plan,
        conditions,
        left + right,
        lambda _: replace(
            below,
            left=_filtered(below.left, left),
            right=_filtered(below.right, [moved(each, places) for each in right]),
        ),
    )


push_filters = everywhere(_pushed)
