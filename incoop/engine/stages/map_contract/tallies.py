"""What the user's functions counted, in this run or when a task that is reused ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incoop.engine.running.counters import added_counts
from incoop.engine.stages.map_contract.record import Ids, TreeRecord

if TYPE_CHECKING:
    from incoop.engine.stages.map_contract.contract_task import ShardDone


@dataclass(slots=True)
class Tallies:
    """Counters of one run, gathered stage by stage."""

    #: What each chunk's mapper counted, by run id.
    by_chunk: dict[bytes, dict[str, int]] = field(default_factory=dict)
    #: What all reducer calls behind the output counted.
    by_reducers: dict[str, int] = field(default_factory=dict)

    def reduced(self, done: Iterable[ShardDone], old: TreeRecord | None) -> None:
        """Take in what reducers counted, on top of what an output that was updated holds."""
        totals: Counter[str] = Counter(old.reduce_counters if old is not None else {})
        for each in done:
            totals.update(each.counters)
        self.by_reducers = {name: count for name, count in totals.items() if count}

    def in_all(self, ids: Ids, before: TreeRecord | None) -> dict[str, int]:
        """Add up everything; of what an earlier run counted, that of chunks which are still there."""
        if before is not None:
            self.by_chunk = before.map_counters | self.by_chunk
        totals = [self.by_reducers]
        if self.by_chunk:
            present = Counter(ids.tolist())
            self.by_chunk = {id_: counts for id_, counts in self.by_chunk.items() if id_ in present}
            for id_, counts in self.by_chunk.items():
                totals.append({name: count * present[id_] for name, count in counts.items()})
        return added_counts(totals)
