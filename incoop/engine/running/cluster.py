"""A Spark job on a cluster: placed by what the executors' caches hold, measured in bytes.

Contract: the answers are those of `parallelize(items).map(function)`. Used only where executors are separate processes;
where no executor has a cache, tasks are measured, and Spark places them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from incoop.contraction.parts.packs import BlockLost
from incoop.engine.running.shard_places import ShardPlaces
from incoop.memo import WorkerConfig
from incoop.memo.cache import take_traffic
from incoop.scheduler.spark_adapter import (
    LONGEST_WAIT,
    Executor,
    choose_locations,
    executors,
    locality_wait,
    located,
    wait_for,
    where_stage_ran,
)

if TYPE_CHECKING:
    from pyspark import SparkContext

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Ran(Generic[Answer]):
    """A task's answer, and what it read and wrote."""

    answer: Answer
    #: Name of the cache beside the executor; empty without one.
    cache: str
    #: Bytes of packs read from that cache, and from the shared store.
    local: int
    moved: int
    #: Bytes of packs written, which stay in the cache.
    written: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Measured:
    """A task that tells what it read and wrote."""

    function: Callable[[Any], Any]
    worker: WorkerConfig

    def __call__(self, item: Any) -> Ran[Any]:
        started = time.perf_counter()
        take_traffic()
        answer = self._healed(item)
        traffic = take_traffic()
        seconds = time.perf_counter() - started
        return Ran(answer, self.worker.cache_name(), traffic.local, traffic.moved, traffic.written, seconds)

    def _healed(self, item: Any) -> Any:
        """The answer; where a pack seems lost, perhaps only the copy beside us is, and the shared store has it."""
        answer = self.function(item)
        if not (lost := _lost_packs(answer)):
            return answer
        blobs = self.worker.open()
        for pack in lost:
            blobs.forget_cached(pack)
        answer = self.function(item)
        if _lost_packs(answer) - lost:
            # Other copies are damaged too: none is worth keeping.
            blobs.forget_all_cached()
            answer = self.function(item)
        return answer


def _lost_packs(answer: Any) -> set[bytes]:
    """The packs that a task could not read; stages return such failures among their answers."""
    found: Iterable[Any] = answer if isinstance(answer, list) else [answer]
    return {pack for each in found if isinstance(each, BlockLost) for pack in (each.pack, *each.also)}


@dataclass(frozen=True, slots=True)
class _Introduction:
    """A task that says which cache it runs beside: its stage, its partition, the cache's name."""

    worker: WorkerConfig

    def __call__(self, _: int) -> tuple[int, int, str]:
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        return task.stageId(), task.partitionId(), self.worker.cache_name()


class Caches:
    """Which executors run beside which cache, asked again when the executors change."""

    def __init__(self) -> None:
        self._known: dict[Executor, str] = {}

    def beside(self, context: SparkContext, worker: WorkerConfig) -> dict[str, list[Executor]]:
        """Executors by the name of their cache."""
        living = executors(context)
        fresh = [executor for executor in living if executor not in self._known]
        if fresh:
            self._known |= self._ask(context, worker, fresh)
        found: dict[str, list[Executor]] = {}
        for executor in living:
            if name := self._known.get(executor):
                found.setdefault(name, []).append(executor)
        return found

    @staticmethod
    def _ask(context: SparkContext, worker: WorkerConfig, fresh: list[Executor]) -> dict[Executor, str]:
        """One small task an executor. Where it truly ran is what Spark says, not what was wished."""
        with locality_wait(context, LONGEST_WAIT):
            wishes = [[executor.location] for executor in fresh]
            said = located(context, range(len(fresh)), wishes).map(_Introduction(worker)).collect()
        ran_on = where_stage_ran(context, said[0][0])
        by_id = {executor.id: executor for executor in fresh}
        return {by_id[ran_on[part]]: name for _, part, name in said if ran_on.get(part) in by_id}


class Placed:
    """How to collect one job's answers on a cluster; afterwards `ran` has what is known of each task.

    `groups` are the shards that each task works on, `fact` what is known of where they ran; none to let Spark choose.
    """

    def __init__(
        self,
        caches: Caches,
        worker: WorkerConfig,
        groups: Sequence[Sequence[int]] = (),
        fact: Mapping[str, Any] | None = None,
    ) -> None:
        self._caches, self._worker, self._groups = caches, worker, groups
        self._places = ShardPlaces.of_fact(fact, sum(map(len, groups)))
        self.ran: list[Ran[Any]] = []

    @property
    def fact(self) -> dict[str, Any] | None:
        """What is known now of where shards ran."""
        return self._places.as_fact()

    def __call__(
        self, context: SparkContext, function: Callable[[Item], Answer], items: Sequence[Item]
    ) -> list[Answer]:
        measured = _Measured(function, self._worker)
        tasks = self._places.tasks(self._groups)
        locations: list[list[str]] = []
        if any(task.memoized for task in tasks):
            locations = choose_locations(tasks, self._caches.beside(context, self._worker))
        if any(locations):
            with locality_wait(context, wait_for(tasks)):
                self.ran = located(context, items, locations).map(measured).collect()
        else:
            self.ran = context.parallelize(items, len(items)).map(measured).collect()
        if self._groups:
            self._places.learn(self._groups, self.ran)
        return [each.answer for each in self.ran]
