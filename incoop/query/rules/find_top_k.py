"""The first rows of a sort: a top-k, which keeps no more than these. A limit goes below projections to find its
sort.
"""

from __future__ import annotations

from dataclasses import replace

from incoop.query.plan.node import Plan
from incoop.query.plan.single import Limit, Project, Sort, TopK
from incoop.query.rules.apply import everywhere


def _found(plan: Plan) -> Plan | None:
    if not isinstance(plan, Limit):
        return None
    below = plan.input
    if isinstance(below, Sort) and plan.offset == 0:
        return TopK(below.input, below.keys, below.directions, plan.count, position=below.position or plan.position)
    if isinstance(below, TopK) and plan.offset == 0:
        return replace(below, count=min(below.count, plan.count))
    if isinstance(below, Project) and below.ordered:
        return replace(below, input=replace(plan, input=below.input))
    return None


find_top_k = everywhere(_found)
