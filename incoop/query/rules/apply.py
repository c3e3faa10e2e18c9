"""Rules applied: what is local to a node, everywhere in a plan.

Contract: a sub-plan that is used several times is rewritten once, and stays shared. A rule that changes nothing gives
the same object.
"""

from __future__ import annotations

from collections.abc import Callable

from incoop.query.expressions.nodes import And, Arithmetic, Call, Expression, Negation, Scalar, UserCall
from incoop.query.expressions.walk import every
from incoop.query.plan.node import Plan

#: Plans of all outputs to plans that give the same.
Rule = Callable[[tuple[Plan, ...]], tuple[Plan, ...]]
#: Steps at one node end sooner than this; a rule that goes on is at fault.
_MOST_STEPS = 1000


def everywhere(local: Callable[[Plan], Plan | None]) -> Rule:
    """A rule from one for a node, which gives None where it does not apply: inputs first, and again on what it gave."""

    def rule(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
        done: dict[int, tuple[Plan, Plan]] = {}

        def change(plan: Plan) -> Plan:
            known = done.get(id(plan))
            if known is not None:
                return known[1]
            new = plan.rebuilt(change)
            found = local(new)
            if found is not None:
                for _ in range(_MOST_STEPS):
                    again = change(found)
                    if again is found:
                        break
                    found = again
                new = found
            done[id(plan)] = (plan, new)
            done[id(new)] = (new, new)
            return new

        return tuple(map(change, plans))

    return rule


def may_raise(expression: Expression) -> bool:
    """Whether evaluating it on more rows than before could end the query, or cost what only a user knows."""
    return any(
        isinstance(node, UserCall | Scalar)
        or (isinstance(node, Arithmetic | Negation) and node.checked)
        or (isinstance(node, Call) and ("regex" in node.function.name or node.function.name == "split"))
        for node in every(expression)
    )


def conjuncts(condition: Expression) -> list[Expression]:
    """The conditions that all have to hold."""
    if isinstance(condition, And):
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]


def conjunction(conditions: list[Expression]) -> Expression:
    whole = conditions[0]
    for each in conditions[1:]:
        whole = And(whole, each, position=each.position)
    return whole
