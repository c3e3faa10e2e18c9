"""A projection of a projection is one.

Applies where no result of the lower one is computed twice, unless it is a field or a constant.
"""

from __future__ import annotations

from collections import Counter

from incoop.query.expressions.nodes import Constant, Expression, OuterReference, Reference
from incoop.query.expressions.walk import every, substituted
from incoop.query.plan.node import Plan
from incoop.query.plan.single import Generate, Project
from incoop.query.rules.apply import everywhere


def _merged(plan: Plan) -> Plan | None:
    if not isinstance(plan, Project | Generate) or not isinstance(plan.input, Project):
        return None
    lower = plan.input.results
    uses = Counter(node.index for result in plan.results for node in _outside(result) if isinstance(node, Reference))
    if any(uses[at] > 1 and not isinstance(each, Reference | Constant) for at, each in enumerate(lower)):
        return None
    if any(isinstance(node, OuterReference) for result in plan.results for node in every(result)):
        return None
    results = []
    for result in plan.results:
        new = substituted(result, lambda field: lower[field.index])
        if new is None or new.type != result.type:
            return None
        results.append(new)
    if isinstance(plan, Project):
        return Project(plan.input.input, tuple(results), plan.names, position=plan.position)
    return Generate(plan.input.input, tuple(results), plan.flatten, plan.names, position=plan.position)


def _outside(expression: Expression) -> list[Expression]:
    """The expression and what it is made of, over the same row."""
    return [expression, *(node for child in expression.children for node in _outside(child))]


merge_projections = everywhere(_merged)
