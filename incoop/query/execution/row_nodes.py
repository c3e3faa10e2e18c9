"""Nodes of a plan that look at rows one by one, as steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from incoop.query.execution.stages import digest_of, said_hash, tag_of
from incoop.query.execution.steps import FilterRows, GenerateRows, ProjectRows, RowStep
from incoop.query.expressions.nodes import Expression
from incoop.query.plan.node import Plan
from incoop.query.plan.single import Filter, Generate, Project

#: Expressions with the values of other plans in place of these.
Resolve = Callable[[Iterable[Expression]], tuple[Expression, ...]]


def step_of(plan: Plan, resolved: Resolve) -> RowStep:
    """What a filter or a projection does."""
    match plan:
        case Filter(condition=condition):
            (known,) = resolved((condition,))
            return FilterRows(tag_of(plan), said_hash("filter", digest_of(known)), known)
        case Project(results=given):
            results = resolved(given)
            return ProjectRows(tag_of(plan), said_hash("project", *map(digest_of, results)), results)
        case Generate(results=given, flatten=flatten):
            results = resolved(given)
            name = said_hash("generate", flatten, *map(digest_of, results))
            return GenerateRows(tag_of(plan), name, results, flatten, plan.schema.types)
    raise AssertionError(f"{type(plan).__name__} does more than look at rows one by one")
