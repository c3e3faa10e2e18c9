"""The mapper of a stage for one of its inputs: pieces are read, go through steps, and are sent on as pairs.

Contract: pairs and warnings of a piece follow from that piece alone, although many are looked at together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.engine.stages.map_contract.mapping import Pairs
from incoop.query.execution.reading import Reading
from incoop.query.execution.sinks import Sink
from incoop.query.execution.steps import RowStep
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.warnings import Warnings

#: With warnings in more than one in so many of them, pieces are looked at one by one at once.
_MANY = 8

Tally = dict[str, int]


@dataclass(frozen=True, slots=True)
class BranchMapper:
    """Called with pieces."""

    reading: Reading
    steps: tuple[RowStep, ...]
    sink: Sink
    #: Names of the plan nodes that read, and that send, by which their warnings are counted.
    read_tag: str
    sink_tag: str

    def __call__(self, pieces: Sequence[Sequence[Any]]) -> Pairs:
        tally: Tally = {}
        made = self._map(pieces, tally)
        if not tally or len(pieces) == 1:
            made.counters[:] = [tally] * len(pieces)
            return made
        # Which pieces did that come from? Those that are looked at once more say it.
        if sum(tally.values()) * _MANY >= len(pieces):
            return _joined([self([piece]) for piece in pieces])
        middle = len(pieces) // 2
        return _joined([self(pieces[:middle]), self(pieces[middle:])])

    def _map(self, pieces: Sequence[Sequence[Any]], tally: Tally) -> Pairs:
        warnings = Warnings()
        held = self.reading.read(pieces, warnings)
        _count(tally, self.read_tag, warnings)
        for step in self.steps:
            warnings = Warnings()
            held = step.apply(held, Evaluation(warnings))
            _count(tally, step.tag, warnings)
        warnings = Warnings()
        sent = self.sink.send(held, Evaluation(warnings))
        _count(tally, self.sink_tag, warnings)
        sizes = np.bincount(sent.pieces, minlength=len(pieces)).astype(np.int64)
        return Pairs(sent.keys, sent.codes, sent.values, sizes, [{} for _ in pieces])


def _count(tally: Tally, tag: str, warnings: Warnings) -> None:
    for kind, times in warnings.counts.items():
        tally[f"{tag} {kind}"] = tally.get(f"{tag} {kind}", 0) + times


def _joined(parts: Sequence[Pairs]) -> Pairs:
    """The pairs of pieces that were looked at apart."""
    codes_of: dict[Any, int] = {}
    codes: list[Any] = [np.empty(0, np.int64)]
    values: list[Any] = []
    sizes: list[Any] = []
    counters: list[Tally] = []
    for part in parts:
        renumbered = np.array([codes_of.setdefault(key, len(codes_of)) for key in part.keys], np.int64)
        codes.append(renumbered[part.codes] if len(part.codes) else part.codes)
        values += part.listed
        sizes.append(part.sizes)
        counters += part.counters
    return Pairs(list(codes_of), np.concatenate(codes), values, np.concatenate(sizes), counters)
