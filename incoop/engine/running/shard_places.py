"""What a job's generations know of where its shards ran: the caches that hold them, and what they cost.

Contract: pure, and only a hint. The record of a generation carries it to the next run; a record without it, or of
another number of shards, is a cluster on which nothing is cached yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from incoop.scheduler.placement import Task

#: Caches remembered for each shard: it moves only when stolen, and then its old place is worth going back to.
_REMEMBERED = 4


class TaskCost(Protocol):
    """What is known of a task that ran."""

    @property
    def cache(self) -> str: ...
    @property
    def moved(self) -> int: ...
    @property
    def written(self) -> int: ...
    @property
    def seconds(self) -> float: ...


@dataclass(slots=True)
class ShardPlaces:
    """For each shard, bytes that came to lie in each cache, and seconds that it took last time."""

    held: list[dict[str, int]]
    seconds: list[float]

    @classmethod
    def of_fact(cls, fact: Mapping[str, Any] | None, shards: int) -> ShardPlaces:
        """Read what `as_fact` gave."""
        if not fact or len(fact["held"]) != shards:
            return cls([{} for _ in range(shards)], [0.0] * shards)
        return cls([dict(each) for each in fact["held"]], list(fact["seconds"]))

    def as_fact(self) -> dict[str, Any] | None:
        """For the record of a generation, as JSON; None when nothing is known."""
        return {"held": self.held, "seconds": self.seconds} if any(self.held) else None

    def tasks(self, groups: Sequence[Sequence[int]]) -> list[Task]:
        """Groups of shards as tasks to place."""
        return [self._task(group) for group in groups]

    def _task(self, group: Sequence[int]) -> Task:
        memoized: dict[str, int] = {}
        for shard in group:
            for cache, count in self.held[shard].items():
                memoized[cache] = memoized.get(cache, 0) + count
        size = sum(max(self.held[shard].values(), default=0) for shard in group)
        return Task(size, memoized, sum(self.seconds[shard] for shard in group) or 1.0)

    def learn(self, groups: Sequence[Sequence[int]], ran: Sequence[TaskCost]) -> None:
        """Note what tasks brought into the caches beside them."""
        for group, each in zip(groups, ran, strict=True):
            for shard in group:
                self.seconds[shard] = round(each.seconds / len(group), 4)
                if each.cache:
                    held = self.held[shard]
                    held[each.cache] = held.get(each.cache, 0) + (each.moved + each.written) // len(group)
                    kept = sorted(held, key=lambda cache: (-held[cache], cache))[:_REMEMBERED]
                    self.held[shard] = {cache: held[cache] for cache in kept if held[cache]}
