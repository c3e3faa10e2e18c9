"""Sub-plans that compute the same become one object, within an output and between outputs: they are computed once."""

from __future__ import annotations

from incoop.query.plan.digest import digest
from incoop.query.plan.node import Plan


def share_equal(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    known: dict[bytes, Plan] = {}
    done: dict[int, tuple[Plan, Plan]] = {}

    def change(plan: Plan) -> Plan:
        found = done.get(id(plan))
        if found is None:
            new = plan.rebuilt(change)
            new = known.setdefault(digest(new), new)
            found = done[id(plan)] = (plan, new)
        return found[1]

    return tuple(map(change, plans))
