"""Rows of one input of a cogroup whose key the other input has, or has not, are a semi-join, or an anti-join: of the
other input keys alone are stored.

Applies where the bag of one input is taken apart, beside keys at most, and of the other one is only asked whether it
is empty.
"""

from __future__ import annotations

from incoop.query.expressions.nodes import Call, Expression, Not, Reference
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cogroup, Join, JoinKind
from incoop.query.plan.single import Filter, Generate, Project
from incoop.query.rules.apply import everywhere

#: What ways in call the question.
EMPTY = ("is_empty", "IsEmpty")


def _joined(plan: Plan) -> Plan | None:
    if not isinstance(plan, Generate):
        return None
    condition = plan.input.condition if isinstance(plan.input, Filter) else None
    group = plan.input.input if isinstance(plan.input, Filter) else plan.input
    if not isinstance(group, Cogroup) or len(group.inputs) != 2:
        return None
    keys, types = len(group.keys[0]), plan.schema.types
    apart = [each for each, how in zip(plan.results, plan.flatten, strict=True) if how == "yes"]
    if len(apart) != 1 or "outer" in plan.flatten or types is None:
        return None
    side = _place(apart[0]) - keys
    if side < 0 or any(_place(each) not in (*range(keys), keys + side) for each in plan.results):
        return None
    kind = _kind(condition, keys + 1 - side, group.required[1 - side])
    left = group.inputs[side]
    if kind is None or left.schema.types is None:
        return None
    join = Join(
        *(left, group.inputs[1 - side], group.keys[side], group.keys[1 - side]),
        *(kind, not group.nulls_apart),
        position=group.position,
    )
    results: list[Expression] = []
    for each in plan.results:
        if each is apart[0]:
            results += [Reference(at, kind_) for at, kind_ in enumerate(left.schema.types)]
        else:
            results.append(group.keys[side][_place(each)])
    if tuple(each.type for each in results) != types:
        return None
    names = tuple(each.name for each in plan.schema.fields or ())
    return Project(join, tuple(results), names, position=plan.position)


def _place(result: Expression) -> int:
    return result.index if isinstance(result, Reference) else -1


def _kind(condition: Expression | None, bag: int, required: bool) -> JoinKind | None:
    """What a group with a condition on the other bag asks for."""
    if condition is None:
        return "semi" if required else None
    wanted = isinstance(condition, Not)
    asked = condition.argument if isinstance(condition, Not) else condition
    if not isinstance(asked, Call) or asked.function.name not in EMPTY or _place(asked.arguments[0]) != bag:
        return None
    return "semi" if wanted else None if required else "anti"


join_cogroups = everywhere(_joined)
