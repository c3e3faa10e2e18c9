"""A `pyspark.RDD` that remembers how it was made: its parts, narrow steps, and the plain RDD that it equals.

Contract: nothing runs before an action. Whatever is not overridden is PySpark's, on the plain RDD behind `_jrdd`.
Functions that see a partition see a chunk, unless the program asked for partitions of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from pyspark import RDD, SparkContext, StorageLevel
from pyspark.core.rdd import Partitioner, portable_hash

from incoop.fronts.rdd.bound_rdd import BoundRDD, Late
from incoop.fronts.rdd.frozen_functions import Frozen, NotLoaded
from incoop.fronts.rdd.plain_spark import Placement
from incoop.fronts.rdd.steps import NarrowStep, StepKind

Function = Callable[..., Any]


class NarrowRDD(BoundRDD):
    """What a `pyspark.RDD` has, and narrow steps."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._level = StorageLevel.NONE
        self._given_name: str | None = None

    # What a plain RDD has as attributes.

    @property
    def ctx(self) -> SparkContext:  # type: ignore[override]
        return self.program.context

    @property
    def _jrdd(self) -> Any:
        return self._held()._plain()._jrdd

    @property
    def _jrdd_deserializer(self) -> Any:  # type: ignore[override]
        return self._plain_later()._jrdd_deserializer

    @property
    def _id(self) -> int:
        return self._held()._plain().id()

    def id(self) -> int:
        return self._id

    def _reserialize(self, serializer: Any = None) -> RDD[Any]:
        return self._plain_later()._reserialize(serializer)

    @property
    def partitioner(self) -> Partitioner | None:  # type: ignore[override]
        """That of the partitions that the program asked for; those that it did not ask for are of no hash."""
        return self._placement.partitioner if self._placement is not None else None

    def _is_barrier(self) -> bool:
        return False

    def __repr__(self) -> str:
        self._held()  # as PySpark, which asks Java
        return f"MemoRDD({' + '.join(part.name() for part in self._parts)})"

    def name(self) -> str | None:
        self._held()
        return self._given_name

    def setName(self, name: str) -> Self:
        self._held()
        self._given_name = name
        return self

    def cache(self) -> Self:
        return self.persist()

    def persist(self, storageLevel: StorageLevel = StorageLevel.MEMORY_ONLY) -> Self:
        """What is made of this RDD from now on reads it from the store, where it is kept in any case."""
        self.is_cached, self._level = True, storageLevel
        self._held()
        return self

    def unpersist(self, blocking: bool = False) -> Self:
        self.is_cached, self._level = False, StorageLevel.NONE
        self._held()
        return self

    def getStorageLevel(self) -> StorageLevel:
        self._held()
        return self._level

    def getNumPartitions(self) -> int:
        if self._placement is not None:
            return self._placement.number()
        return sum(part.base.partitions() for part in self._parts)

    def _defaultReducePartitions(self) -> int:
        return self.program.reduce_partitions(self)

    def as_a_whole(self) -> Self:
        """This RDD as what needs it as a whole has it; bound now, unless it already was."""
        return self._kept(self._held())

    # Narrow steps.

    def _step(self, kind: StepKind, function: Function | None = None) -> Self:
        return self._step_made(NarrowStep(kind, function))

    def map(self, f: Function, preservesPartitioning: bool = False) -> Self:
        return self._step(StepKind.MAP, f)

    def flatMap(self, f: Function, preservesPartitioning: bool = False) -> Self:
        return self._step(StepKind.FLAT_MAP, f)

    def filter(self, f: Function) -> Self:
        return self._step(StepKind.FILTER, f)

    def mapValues(self, f: Function) -> Self:
        return self._step(StepKind.MAP_VALUES, f)

    def flatMapValues(self, f: Function) -> Self:
        return self._step(StepKind.FLAT_MAP_VALUES, f)

    def keyBy(self, f: Function) -> Self:
        return self._step(StepKind.KEY_BY, f)

    def keys(self) -> Self:
        return self._step(StepKind.KEYS)

    def values(self) -> Self:
        return self._step(StepKind.VALUES)

    def mapPartitions(self, f: Function, preservesPartitioning: bool = False) -> RDD[Any]:
        if self._placement is not None:
            return self._plain_later().mapPartitions(f, preservesPartitioning)
        return self._step(StepKind.PARTITION, f)

    def mapPartitionsWithIndex(self, f: Function, preservesPartitioning: bool = False) -> RDD[Any]:
        with self.program.falling_back("mapPartitionsWithIndex"):
            return self._plain_later().mapPartitionsWithIndex(f, preservesPartitioning)

    def pipe(self, command: str, env: dict[str, str] | None = None, checkCode: bool = False) -> RDD[str]:
        with self.program.falling_back("pipe"):  # which PySpark makes of `mapPartitions`
            return self._plain_later().pipe(command, env, checkCode)

    def union(self, other: RDD[Any]) -> RDD[Any]:
        if not isinstance(other, RDD):
            return self._plain_later().union(other)  # which says what is wrong
        return self.program.union([self, other])

    # Partitions.

    def _placed(
        self,
        number: Callable[[], int],
        place: Callable[[RDD[Any]], RDD[Any]],
        partitioner: Partitioner | None = None,
        late: Late | None = None,
    ) -> Self:
        """This RDD, which is bound, in other partitions."""
        placement = Placement(number, lambda: place(self._plain_of_stored()), lambda: place(self._exact()), partitioner)
        return self._made(self._parts, placement, late)

    def partitionBy(self, numPartitions: int | None, partitionFunc: Function = portable_hash) -> RDD[Any]:
        number = numPartitions if numPartitions is not None else self._defaultReducePartitions()
        partitioner = Partitioner(number, partitionFunc)
        parent = self._parent()
        try:
            function = Frozen((partitionFunc,))
        except NotLoaded as why:
            self.program.note("partitionBy", why)
            return self._plain_later().partitionBy(number, partitionFunc)
        nothing, above = Frozen(()), self._above(parent)

        def place(rdd: RDD[Any]) -> RDD[Any]:
            return rdd.partitionBy(number, function.functions[0])

        def unbound() -> bool:
            return above._may_be_by_key and above._exact().partitioner == partitioner

        late = Late(
            *("partitionBy", nothing, (), parent, above, function, (partitionFunc,)),
            unbound=unbound,
            exact=lambda: above._exact() if unbound() else place(parent._exact()),
        )
        return parent._placed(lambda: number, place, partitioner, late)

    def _above(self, parent: Self) -> Self:
        """This RDD as what is made of it now has it, unbound where PySpark leaves it so."""
        return self if self._pipelined else parent

    def coalesce(self, numPartitions: int, shuffle: bool = False) -> Self:
        if not numPartitions > 0:
            raise ValueError("Number of partitions must be positive.")

        def number() -> int:
            return numPartitions if shuffle else min(numPartitions, self.getNumPartitions())

        parent = self._parent() if shuffle else self.as_a_whole()
        return parent._placed(number, lambda rdd: rdd.coalesce(numPartitions, shuffle))
