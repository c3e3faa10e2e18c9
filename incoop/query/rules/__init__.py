"""What rewrites plans: one rule a file, their order one tuple.

Contract of a rule: the plans that it gives have the same rows as those that it was given, with the same types at the
same places, in the same order where they have one. Names of fields inside a plan may be others.

Imports the plan and expressions of `incoop.query`.
"""

from __future__ import annotations

from incoop.query.plan.node import Plan
from incoop.query.rules.aggregate_cogroups import aggregate_cogroups
from incoop.query.rules.aggregate_groups import aggregate_groups
from incoop.query.rules.apply import Rule
from incoop.query.rules.drop_identity import drop_identity
from incoop.query.rules.find_top_k import find_top_k
from incoop.query.rules.join_cogroups import join_cogroups
from incoop.query.rules.merge_projections import merge_projections
from incoop.query.rules.prune_columns import prune_columns
from incoop.query.rules.push_filters import push_filters
from incoop.query.rules.share_equal import share_equal

#: Projections are merged before filters go down through them; equal parts are found when all else has its final form,
#: and shared before columns are pruned, so that a part with two users is not pruned in two ways.
RULES: tuple[Rule, ...] = (
    merge_projections,
    push_filters,
    aggregate_groups,
    aggregate_cogroups,
    join_cogroups,
    find_top_k,
    share_equal,
    prune_columns,
    merge_projections,
    drop_identity,
    share_equal,
)


def rewritten(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """Plans of all outputs of a query, made cheaper."""
    for rule in RULES:
        plans = rule(plans)
    return plans
