"""What a node of a plan is: a relation computed from others.

Contract: nodes are frozen and checked when they are made, against the schemas of their inputs; errors have the node's
position, or that of the expression. Equality leaves positions and names out. A relation is a multiset of rows, unless
it is `ordered`: then it is a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from incoop.query.errors import BadPlan, Position, TypeMismatch
from incoop.query.expressions.nodes import Expression
from incoop.query.expressions.walk import used_fields
from incoop.query.schema import Schema
from incoop.query.types import BOOLEAN, NULL


@dataclass(frozen=True, slots=True)
class Plan:
    """A relation."""

    position: Position | None = field(default=None, compare=False, repr=False, kw_only=True)

    #: The schema, once it was asked for: a plan may use one sub-plan very often.
    _known: list[Schema] = field(default_factory=list, init=False, compare=False, repr=False)
    #: The digest, likewise (digest.py): a run asks for that of each node several times.
    _digest: list[bytes] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        if not self._known:
            self._known.append(self._derived())
        return self._known[0]

    def _derived(self) -> Schema:
        raise NotImplementedError

    @property
    def ordered(self) -> bool:
        """Whether the order of rows means something: a sort makes it, row by row steps keep it, all else forgets it."""
        return False

    @property
    def children(self) -> tuple[Plan, ...]:
        found: list[Plan] = []
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Plan):
                found.append(value)
            elif isinstance(value, tuple):
                found += [part for part in value if isinstance(part, Plan)]
        return tuple(found)

    def rebuilt(self, change: Callable[[Plan], Plan]) -> Plan:
        """The same node over changed children; itself where none of them changed."""
        fresh: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Plan):
                new: Any = change(value)
                if new is not value:
                    fresh[each.name] = new
            elif isinstance(value, tuple) and any(isinstance(part, Plan) for part in value):
                new = tuple(map(change, value))
                if any(one is not other for one, other in zip(new, value, strict=True)):
                    fresh[each.name] = new
        return replace(self, **fresh) if fresh else self

    def expressions(self) -> Iterator[Expression]:
        """All expressions of the node, whichever input they are over."""
        for each in fields(self):
            yield from _expressions_in(getattr(self, each.name))


def _expressions_in(value: Any) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _expressions_in(part)
    elif hasattr(value, "arguments") and not isinstance(value, Plan):
        yield from _expressions_in(value.arguments)


def check_fields(expression: Expression, schema: Schema, position: Position | None) -> None:
    """An expression reads only fields that its input has."""
    width = schema.width
    if width is not None:
        for index in used_fields(expression):
            if index >= width:
                where = expression.position or position
                raise BadPlan(f"there is no field ${index} here: rows have {width} fields, {schema}.", where)


def check_condition(expression: Expression, schema: Schema, position: Position | None) -> None:
    check_fields(expression, schema, position)
    if expression.type not in (BOOLEAN, NULL):
        raise TypeMismatch("a filter", (str(expression.type),), "a condition", expression.position or position)


def every_plan(plan: Plan) -> Iterator[Plan]:
    """The plan and all below it, each object once, inputs first."""
    seen: set[int] = set()

    def walk(node: Plan) -> Iterator[Plan]:
        if id(node) not in seen:
            seen.add(id(node))
            for child in node.children:
                yield from walk(child)
            yield node

    return walk(plan)
