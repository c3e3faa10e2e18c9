"""Filters and projections right behind a stage by key: its reducer does them, so that what they leave out, and the bags
that they take apart, are stored nowhere.

Contract: rows and warnings are those of the steps. The steps are no part of what the stage's mappers and tree are known
by: a statement that changed behind a GROUP reduces again, and maps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from incoop.engine.running.counters import counter
from incoop.engine.stages.map_contract.versioned import VersionedReducer
from incoop.job import Reducer
from incoop.query.execution.steps import FilterRows, GenerateRows, ProjectRows, RowStep, as_wide
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.flatten import flattened
from incoop.query.expressions.rows import compile_row
from incoop.query.expressions.walk import scalars
from incoop.query.functions.aggregates import CountRows
from incoop.query.plan.node import Plan, every_plan
from incoop.query.plan.several import Cogroup
from incoop.query.plan.single import AggregateBy, Filter, Generate, Project
from incoop.query.types import Row
from incoop.query.warnings import Warnings

Rows = Callable[[Row, Evaluation], Sequence[Row]]


def chain_to_key(plan: Plan, uses: Mapping[int, int]) -> tuple[list[Plan], AggregateBy | Cogroup] | None:
    """The filters and projections that end in a plan, first ones first, and the stage by key that they stand on, if
    nobody else asks for anything of that. The value of another plan is not taken along: a new one would reduce all
    keys again.
    """
    chain: list[Plan] = []
    below = plan
    while isinstance(below, Filter | Project | Generate):
        if any(scalars(each) for each in below.expressions()) or (chain and uses.get(id(below)) != 1):
            return None
        chain.append(below)
        below = below.input
    if not chain or not isinstance(below, AggregateBy | Cogroup) or uses.get(id(below)) != 1:
        return None
    if isinstance(below, AggregateBy) and _has_no_reducer(below):
        return None
    return chain[::-1], below


def uses_of(outputs: Sequence[Plan]) -> dict[int, int]:
    """How often each node is asked for, by its identity in memory."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    for plan in outputs:
        found[id(plan)] = found.get(id(plan), 0) + 1
        for node in every_plan(plan):
            below = [*node.children, *(each.plan for part in node.expressions() for each in scalars(part))]
            if id(node) not in seen:
                seen.add(id(node))
                for child in below:
                    found[id(child)] = found.get(id(child), 0) + 1
    return found


@dataclass(frozen=True, slots=True)
class Finishing:
    """What is done with the rows of a stage before they are stored: the relation that they are then, and how."""

    top: Plan
    steps: tuple[RowStep, ...]

    def of(self, reducer: Reducer) -> Reducer:
        return VersionedReducer(
            FinishedRows(reducer, self.steps), " ".join(step.tag + step.digest.hex() for step in self.steps)
        )


def _has_no_reducer(plan: AggregateBy) -> bool:
    """Its tree holds the numbers that it gives: there is no reducer to do anything behind it. Without keys there is a
    row also of nothing.
    """
    lone = len(plan.aggregations) == 1 and isinstance(plan.aggregations[0].aggregate, CountRows)
    return lone or not plan.keys


class FinishedRows:
    """A reducer whose rows go through steps."""

    def __init__(self, reducer: Reducer, steps: tuple[RowStep, ...]) -> None:
        self.reducer, self.steps = reducer, steps
        self._functions: list[Rows] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return FinishedRows, (self.reducer, self.steps)

    def __call__(self, key: Any, values: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
        if self._functions is None:
            self._functions = list(map(_by_row, self.steps))
        rows: Sequence[Row] = [row for _, row in self.reducer(key, values)]
        for step, function in zip(self.steps, self._functions, strict=True):
            evaluation = Evaluation(Warnings())
            rows = [made for row in rows for made in function(row, evaluation)]
            for kind, times in evaluation.warnings.counts.items():
                counter(f"{step.tag} {kind}", times)
        return [(0, row) for row in rows]


def _by_row(step: RowStep) -> Rows:
    match step:
        case FilterRows(condition=condition):
            return partial(_kept, compile_row(condition))
        case ProjectRows(results=results):
            return partial(_projected, list(map(compile_row, results)))
        case GenerateRows():
            return partial(_generated, step, list(map(compile_row, step.results)))
    raise AssertionError(f"{type(step).__name__} is not done row by row")


def _kept(condition: Any, row: Row, evaluation: Evaluation) -> Sequence[Row]:
    return [row] if condition(row, evaluation) is True else ()


def _projected(results: list[Any], row: Row, evaluation: Evaluation) -> Sequence[Row]:
    return [tuple([result(row, evaluation) for result in results])]


def _generated(step: GenerateRows, results: list[Any], row: Row, evaluation: Evaluation) -> Sequence[Row]:
    values = [result(row, evaluation) for result in results]
    rows = flattened(values, step.flatten, [each.type for each in step.results])
    return rows if step.types is None else as_wide(rows, len(step.types))
