"""Where the stages of a run go: to Spark, or to threads of this process where that is less work than asking Spark.

Contract: an answer does not depend on where it was made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from incoop.base.errors import IncoopError
from incoop.code import Functions, Observed, Shipment, pack
from incoop.engine.report import RunReport
from incoop.engine.running.nearby import cores, run_nearby
from incoop.engine.running.spark import Spark
from incoop.engine.running.task_groups import shared_out
from incoop.engine.stages.map_contract.contract_task import ContractSpec, ReduceFailed, ShardDone, contract_shards
from incoop.engine.stages.map_contract.map_task import ChunkTask, MapDone, MapFailed, MapSpec, map_group
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper

if TYPE_CHECKING:
    from incoop.engine.running.cluster import Placed

#: Spark tasks for each core in contraction, whose shards are even; where only a path or two of the tree are touched,
#: starting a task costs as much as it does.
_CONTRACT_WAVES = 2
_FEW_NODES = 8

#: What is done in the driver's process has at most so many bytes: it is in one memory, and begins without Spark.
_NEARBY_BYTES = 32 << 20

MapAnswer = list[MapDone | MapFailed | IncoopError | Observed]
ContractAnswer = list[ShardDone | Observed] | ReduceFailed | IncoopError

Spec = TypeVar("Spec", MapSpec, ContractSpec)


@dataclass(slots=True)
class StageRunner:
    """Runs the stages of one attempt, and counts in its report what they moved and waited for."""

    spark: Spark
    report: RunReport
    #: Whether the code must have a fingerprint, and keep it; not where a version stands for it.
    prove: bool = True
    #: Whether what they give is stored.
    stores: bool = True
    #: Parts of the code whose values travel, since importing its modules does not give them.
    amended: frozenset[str] = frozenset()
    #: What the functions are known to read, by digest.
    read: dict[str, bytes] = field(default_factory=dict)
    #: Where relative paths of the functions are from; empty for the workers' own folder.
    folder: str = ""
    #: Arguments of the program; None for those of the workers.
    arguments: tuple[str, ...] | None = None
    #: On a cluster, where shards ran (placing.py).
    places: dict[str, Any] | None = None
    _packed: Shipment | None = None

    def now(self) -> float:
        """The time by a clock that stands while Spark starts."""
        return time.perf_counter() - self.report.seconds["spark"]

    def map(
        self,
        spec: MapSpec,
        tasks: list[ChunkTask],
        what: str,
        on_answer: Callable[[MapAnswer], None] | None = None,
    ) -> list[MapAnswer]:
        """Map chunks; `on_answer` sees what is done as soon as it is."""
        assert isinstance(spec.code, Functions)
        nearby = min(mapper.nearby if isinstance(mapper, ChunkMapper) else 0 for mapper in spec.code.mappers)
        if self._is_nearby(nearby > 0, sum(task.where.length for task in tasks), len(tasks) <= nearby):
            keep = on_answer if on_answer is not None else lambda _: None
            return run_nearby(partial(map_group, spec), [[task] for task in tasks], keep)
        self._start_spark()
        groups = shared_out(tasks, self.spark.cores)
        placed = self.spark.placed(spec.worker)
        spec, place = self._sent(spec)
        task = partial(map_group, spec)
        answers = self.spark.run(f"{self.report.job}: {what}", task, groups, on_answer, placed, place)
        self._count_bytes("map", placed)
        return answers

    def contract(self, spec: ContractSpec) -> list[ContractAnswer]:
        """Contract and reduce all shards."""
        # On a cluster always the same groups: a shard goes where it was before.
        few = len(spec.nodes) <= _FEW_NODES and not self.spark.clustered
        assert isinstance(spec.code, Functions)
        combined = spec.code.combiner is not None
        nearby = few and bool(getattr(spec.code.combiner if combined else spec.code.reducer, "nearby", False))
        # Of an update little is read, but without a combiner it is all values of a key.
        update = combined and spec.old_root is not None
        if self._is_nearby(nearby, 0 if update else self.report.input_bytes, little=update):
            return run_nearby(partial(contract_shards, spec), _parts(spec.shards, cores()))
        self._start_spark()
        shards = _parts(spec.shards, self.spark.cores * (1 if few else _CONTRACT_WAVES))
        placed = self.spark.placed(spec.worker, shards, self.places)
        what = f"{self.report.job}: contract {len(spec.nodes)} nodes, reduce"
        spec, place = self._sent(spec)
        answers = self.spark.run(what, partial(contract_shards, spec), shards, placed=placed, place=place)
        self._count_bytes("contract", placed)
        self.places = placed.fact if placed is not None else self.places
        return answers

    def _sent(self, spec: Spec) -> tuple[Spec, dict[str, str]]:
        """The same with its functions packed, and the variables of workers that can open them."""
        assert isinstance(spec.code, Functions)
        packed = self.packed(spec.code)
        return replace(spec, code=packed), self.spark.workplaces.take(packed.versions())

    def packed(self, functions: Functions) -> Shipment:
        """The functions, packed once an attempt."""
        if self._packed is None:
            self._packed = pack(
                *(self.report.job, functions, self.prove, self.stores, self.amended, self.read, self.folder),
                arguments=self.arguments,
            )
        return self._packed

    def _is_nearby(self, wanted: bool, size: int, little: bool) -> bool:
        """Whether to do something in this process: that needs `little`, or less than starting Spark."""
        return wanted and size <= _NEARBY_BYTES and not self.spark.clustered and (little or not self.spark.running)

    def _start_spark(self) -> None:
        """Start Spark, if nobody has; how long that takes is a figure of its own."""
        started = time.perf_counter()
        self.spark.start()
        self.report.seconds["spark"] += time.perf_counter() - started

    def _count_bytes(self, stage: str, placed: Placed | None) -> None:
        if placed is not None:
            self.report.local_bytes[stage] += sum(each.local for each in placed.ran)
            self.report.moved_bytes[stage] += sum(each.moved for each in placed.ran)


def _parts(count: int, most: int) -> list[list[int]]:
    """The numbers below `count` in up to so many parts of about equal length."""
    return [part.tolist() for part in np.array_split(np.arange(count), min(count, most))]
