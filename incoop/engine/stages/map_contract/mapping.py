"""From records to a run: call the mapper, combine in place, leaf by leaf, in bounded memory.

Contract: the run depends on the chunk's bytes and the job alone: on its code and, where a combiner is not known to
add integers up, on how large its leaves are. Values of a key are combined in input order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incoop.contraction.columns.run import Run
from incoop.contraction.tree.sums import Delta
from incoop.engine.stages.map_contract.leaf_table import LeafTable
from incoop.engine.stages.map_contract.spill import PartialRuns


class UserError(Exception):
    """The user's mapper or combiner raised, at this record of the chunk."""

    def __init__(self, number: int, record: Any) -> None:
        super().__init__(number, record)
        self.number, self.record = number, record


@dataclass(frozen=True, slots=True)
class Piece:
    """A leaf to map, or a whole chunk."""

    #: Hash of its bytes; empty for what is not kept by leaf.
    id: bytes
    records: Callable[[], Sequence[Any]]


@dataclass(slots=True)
class Mapped:
    """What a chunk gave."""

    runs: PartialRuns
    #: What each leaf gave, where that is kept.
    leaves: LeafTable | None
    counters: dict[str, int]
    #: How its sums differ from those of the chunk that it was made from.
    delta: Delta | None = None

    @classmethod
    def of_run(
        cls,
        run: Run,
        leaves: LeafTable | None,
        counters: Iterable[Mapping[str, int]],
        delta: Delta | None = None,
    ) -> Mapped:
        mapped = cls(PartialRuns(), leaves, {}, delta)
        mapped.runs.add(run)
        for counts in counters:
            mapped.count(counts)
        return mapped

    def count(self, counts: Mapping[str, int]) -> None:
        for name, count in counts.items():
            self.counters[name] = self.counters.get(name, 0) + count
