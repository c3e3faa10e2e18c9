"""A projection that gives its input's fields as they stand is that input: no stage stores the same rows once more."""

from __future__ import annotations

from incoop.query.expressions.nodes import Reference
from incoop.query.plan.node import Plan
from incoop.query.plan.single import Project
from incoop.query.rules.apply import everywhere


def _dropped(plan: Plan) -> Plan | None:
    if not isinstance(plan, Project):
        return None
    fields = plan.input.schema.fields
    if fields is None or len(fields) != len(plan.results):
        return None
    same = all(
        isinstance(result, Reference) and result.index == at and result.type == field.type
        for at, (result, field) in enumerate(zip(plan.results, fields, strict=True))
    )
    return plan.input if same else None


drop_identity = everywhere(_dropped)
