"""Rows or columns to partial aggregates: (key, states) for each group of a batch.

Contract: `of_columns` gives what `of_rows` gives, in the order of encoded keys, states equal as Python values. Keys
are canonical: values that are one are one key, shown in one way; null is a key. Which rows go in is decided before,
by filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Expression
from incoop.query.expressions.rows import compile_row
from incoop.query.functions.aggregate import Aggregate, State
from incoop.query.order import canonical, encoded
from incoop.query.types import Row, Value

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch

#: A group: its key, and one state for each aggregate.
Partial = tuple[tuple[Value, ...], tuple[State, ...]]


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An aggregate of expressions over the rows of a group."""

    aggregate: Aggregate
    arguments: tuple[Expression, ...] = ()


def of_rows(
    rows: Iterable[Row], keys: Sequence[Expression], aggregations: Sequence[Aggregation], evaluation: Evaluation
) -> list[Partial]:
    """Partial aggregates, row by row: the meaning."""
    key_functions = [compile_row(key) for key in keys]
    work = [(each.aggregate, [compile_row(argument) for argument in each.arguments]) for each in aggregations]
    groups: dict[bytes, tuple[tuple[Value, ...], list[State]]] = {}
    for row in rows:
        key = tuple([canonical(function(row, evaluation)) for function in key_functions])
        name = encoded(key)
        found = groups.get(name)
        if found is None:
            found = groups[name] = (key, [aggregate.initial() for aggregate, _ in work])
        states = found[1]
        for at, (aggregate, arguments) in enumerate(work):
            states[at] = aggregate.add(states[at], tuple([argument(row, evaluation) for argument in arguments]))
    return [(key, tuple(states)) for _, (key, states) in sorted(groups.items(), key=lambda item: item[0])]


def of_columns(
    batch: ColumnBatch, keys: Sequence[Expression], aggregations: Sequence[Aggregation], evaluation: Evaluation
) -> list[Partial]:
    """The same of columns: rows are numbered by group, then each aggregate sums up its column by these numbers."""
    from incoop.query.expressions.columns import evaluate
    from incoop.query.grouping import group_numbers, states_by_group

    if not batch.length:
        return []
    key_columns = [(evaluate(key, batch, evaluation), key.type) for key in keys]
    numbers, found = group_numbers(key_columns, batch.length)
    states: list[list[Any]] = []
    for each in aggregations:
        columns = [(evaluate(argument, batch, evaluation), argument.type) for argument in each.arguments]
        states.append(states_by_group(each.aggregate, columns, numbers, len(found)))
    groups = sorted(zip(found, *states, strict=True), key=lambda group: encoded(group[0]))
    return [(group[0], tuple(group[1:])) for group in groups]


def merged(aggregations: Sequence[Aggregation], one: tuple[State, ...], other: tuple[State, ...]) -> tuple[State, ...]:
    """The states of the rows of both."""
    return tuple(each.aggregate.merge(mine, its) for each, mine, its in zip(aggregations, one, other, strict=True))


def finished(aggregations: Sequence[Aggregation], states: tuple[State, ...]) -> Row:
    """The values of a group's states."""
    return tuple(each.aggregate.finish(state) for each, state in zip(aggregations, states, strict=True))
