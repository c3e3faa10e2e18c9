"""Step 4, reduce: keys with their values become pairs of the output.

Contract: a key's pairs stand under the key that gave them. They do not depend on which keys are reduced together.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from incoop.base.errors import USERS_ERRORS
from incoop.contraction.columns.column import ANY, INTEGER, PAIR, Column, starts_of
from incoop.contraction.columns.run import EMPTY, Run
from incoop.contraction.tree.folds import recognise
from incoop.engine.running.counters import COUNTED, take_counts, told_apart
from incoop.engine.stages.map_contract.column_reducer import ColumnReducer
from incoop.engine.stages.map_contract.flat import Gathered
from incoop.job import Reducer


class ReducerError(Exception):
    """The user's reducer raised at this key."""

    def __init__(self, key: Any) -> None:
        super().__init__(key)
        self.key = key


def reduced_keys(reducer: Reducer, found: Run | Gathered) -> Run:
    """Call the reducer for every key; a key's output pairs stand under the key that gave them."""
    run = found.places if isinstance(found, Gathered) else found
    if run is found and recognise(reducer) is not None and run.firsts is None and run.values.kind == INTEGER:
        return run.paired()  # as in `_is_output`; here keys may be such that equal ones look different
    if isinstance(found, Gathered) and isinstance(reducer, ColumnReducer) and len(run):
        made = _reduce_at_once(reducer, found)
        if made is not None:
            return made
    pairs: list[tuple[Any, Any]] = []
    counts = np.zeros(len(run), np.int64)
    for row, (key, values) in enumerate(found.groups()):
        before = len(pairs)
        try:
            for out_key, value in reducer(key, values):
                pairs.append((out_key, value))
        except USERS_ERRORS as error:
            raise ReducerError(key) from error
        # Without samples: what calls counted before is taken off, which a few of all samples do not allow.
        if counted := told_apart(take_counts())[0]:
            pairs.append((COUNTED, counted))
        counts[row] = len(pairs) - before
    column = Column.of(pairs)
    if (counts == 1).all():
        return Run(run.hashes, run.keys, column)
    return Run(run.hashes, run.keys, column, starts_of(counts)).take(np.flatnonzero(counts))


def _reduce_at_once(reducer: ColumnReducer, found: Gathered) -> Run | None:
    """By a reducer of many keys; None where it is called for each, so that it is known which one fails."""
    with suppress(*USERS_ERRORS):
        made = reducer.reduce(found.by_column())
        if made is not None:
            run, counts = found.places, made.counts
            column = Column(PAIR, len(made.keys), children=(made.keys, made.values)) if len(made.keys) else EMPTY.values
            return Run.of_counted(run.hashes, run.keys, column, counts)
    take_counts()
    return None


def counted_by(outputs: Run) -> dict[str, int]:
    """What the reducer calls behind these outputs counted."""
    totals: dict[str, int] = {}
    if outputs.values.children is None or outputs.values.children[0].kind != ANY:
        return totals  # a key of type Counted makes a column of encoded values
    for key, counts in outputs.values.to_list():
        if key is COUNTED:
            for name, count in counts.items():
                totals[name] = totals.get(name, 0) + count
    return totals
