"""States of groups, which a stage gave, on their way to the stage that merges them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import numpy as np

from incoop.query.execution.held import Held
from incoop.query.execution.reducers import merged_states
from incoop.query.execution.sinks import NOTHING, Cells, Sent, Sink
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.functions.aggregate import Aggregate


@dataclass(frozen=True, slots=True)
class MergedStates(Sink):
    """Rows are keys of groups with their states; each piece sends one state for each of its groups."""

    aggregates: tuple[Aggregate, ...]
    #: Whether a state is one integer that adds up.
    counts: bool

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held):
            return NOTHING
        names, states = zip(*held.row_list, strict=True)
        codes_of: defaultdict[Any, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(codes_of.__getitem__, names), np.int64, len(names))
        cells = Cells.of(held, codes, len(codes_of))
        order = np.argsort(cells.of_row, kind="stable")
        bounds = [*np.flatnonzero(np.diff(cells.of_row[order], prepend=-1)).tolist(), len(order)]
        listed = [states[at] for at in order.tolist()]
        values: list[Any]
        if self.counts:
            values = np.add.reduceat(np.array(listed, np.int64), bounds[:-1]).tolist()
        else:
            values = [self._merged(listed[low:high]) for low, high in pairwise(bounds)]
        return Sent(list(codes_of), cells.keys, values, cells.pieces)

    def _merged(self, states: list[Any]) -> Any:
        if len(states) == 1:
            return states[0]
        columns = zip(*states, strict=True)
        return tuple(merged_states(one, each) for one, each in zip(self.aggregates, columns, strict=True))
