"""Joins with a small side that hardly ever changes: its rows travel to the mapper of the other, and nothing is grouped.

Contract: the rows of the join, whatever changes. What was done with rows is named by all rows of the small side: one of
them that changed is another mapper, and everything is mapped again. So a plan must ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from incoop.query.execution.held import Held, Types
from incoop.query.execution.steps import RowStep
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Expression
from incoop.query.expressions.rows import compile_row
from incoop.query.order import encoded
from incoop.query.plan.several import Join, JoinKind
from incoop.query.types import Row

#: How a plan asks for it: the right side is small, and hardly ever changes.
HINT = "small and stable"

#: A left row's place in the join follows from that row and the right side alone.
KINDS: tuple[JoinKind, ...] = ("inner", "left", "semi", "anti")

#: More rows on the right are joined by key as without the hint: they would be sent to each task.
MOST_ROWS = 100_000


def asks_for_it(plan: Join) -> bool:
    return plan.hint == HINT and plan.kind in KINDS


def by_key(rows: Iterable[Row], keys: Sequence[Expression], nulls_match: bool) -> dict[bytes, list[Row]]:
    """Rows by their keys, without those that equal none."""
    functions = [compile_row(each) for each in keys]
    evaluation = Evaluation()
    found: dict[bytes, list[Row]] = {}
    for row in rows:
        values = tuple(function(row, evaluation) for function in functions)
        if nulls_match or None not in values:
            found.setdefault(encoded(values), []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class JoinWith(RowStep):
    """Each row beside the right ones with its key."""

    kind: JoinKind
    keys: tuple[Expression, ...]
    nulls_match: bool
    others: Mapping[bytes, Sequence[Row]] = field(repr=False)
    #: How many fields a right row has.
    width: int
    types: Types

    def apply(self, held: Held, evaluation: Evaluation) -> Held:
        columns = [held.values(key, evaluation) for key in self.keys]
        nothing = [(None,) * self.width] if self.kind == "left" else []
        rows: list[Row] = []
        places: list[int] = []
        for at, (row, *values) in enumerate(zip(held.row_list, *columns, strict=True)):
            there = self.nulls_match or None not in values
            others = self.others.get(encoded(tuple(values)), ()) if there else ()
            if self.kind in ("semi", "anti"):
                made = [row] if bool(others) == (self.kind == "semi") else []
            else:
                made = [row + other for other in others or nothing]
            rows += made
            places += [at] * len(made)
        return held.with_rows(rows, self.types, np.array(places, np.int64))
