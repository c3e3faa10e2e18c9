"""A `pyspark.RDD` that remembers how it was made: its parts, narrow steps, and the plain RDD that it equals.

Contract: nothing runs before an action. Whatever is not overridden is PySpark's, on the plain RDD behind `_jrdd`.
Functions that see a partition see a chunk, unless the program asked for partitions of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pyspark import RDD, SparkContext, StorageLevel
from pyspark.core.rdd import Partitioner, portable_hash
from pyspark.resultiterable import ResultIterable

from incoop.fronts.rdd_fallbacks import PlainRDD
from incoop.fronts.rdd_lineage import Part
from incoop.fronts.rdd_stages import Stage, Work
from incoop.fronts.rdd_steps import LIGHT, Kind, Sink, Step

if TYPE_CHECKING:
    from incoop.fronts.rdd_program import RddProgram

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Placement:
    """Partitions that the program asked for: how plain Spark makes them, and the steps since."""

    number: Callable[[], int]
    placed: Callable[[], RDD[Any]]
    since: tuple[Step, ...] = ()
    partitioner: Partitioner | None = None

    def after(self, step: Step) -> Placement:
        """The same partitions after a step; where keys may change, nobody knows any more which partition has which."""
        partitioner = self.partitioner if step.kind in _KEEP_KEYS else None
        return Placement(self.number, self.placed, (*self.since, step), partitioner)


class NarrowRDD(PlainRDD):
    """Records of some parts, one after the other."""

    is_checkpointed = False
    has_resource_profile = False

    def __init__(self, program: RddProgram, parts: Sequence[Part], placement: Placement | None = None) -> None:
        self.program, self._parts, self._placement = program, tuple(parts), placement
        self.is_cached = False
        self._level = StorageLevel.NONE
        self._given_name: str | None = None
        self._stored_stage: Stage | None = None
        self._plain_rdd: RDD[Any] | None = None

    def _made(self, parts: Sequence[Part], placement: Placement | None = None) -> Self:
        return type(self)(self.program, parts, placement)

    # What a plain RDD has as attributes.

    @property
    def ctx(self) -> SparkContext:  # type: ignore[override]
        return self.program.context

    @property
    def _jrdd(self) -> Any:
        return self._plain()._jrdd

    @property
    def _jrdd_deserializer(self) -> Any:  # type: ignore[override]
        return self._plain()._jrdd_deserializer

    @property
    def _id(self) -> int:
        return self._plain().id()

    def id(self) -> int:
        return self._id

    def _reserialize(self, serializer: Any = None) -> RDD[Any]:
        return self._plain()._reserialize(serializer)

    @property
    def partitioner(self) -> Partitioner | None:  # type: ignore[override]
        """That of the partitions that the program asked for; those that it did not ask for are of no hash."""
        return self._placement.partitioner if self._placement is not None else None

    def _is_barrier(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"MemoRDD({' + '.join(part.name() for part in self._parts)})"

    def name(self) -> str | None:
        return self._given_name

    def setName(self, name: str) -> Self:
        self._given_name = name
        return self

    def cache(self) -> Self:
        return self.persist()

    def persist(self, storageLevel: StorageLevel = StorageLevel.MEMORY_ONLY) -> Self:
        """What is made of this RDD from now on reads it from the store, where it is kept in any case."""
        self.is_cached, self._level = True, storageLevel
        return self

    def unpersist(self, blocking: bool = False) -> Self:
        self.is_cached, self._level = False, StorageLevel.NONE
        return self

    def getStorageLevel(self) -> StorageLevel:
        return self._level

    def getNumPartitions(self) -> int:
        if self._placement is not None:
            return self._placement.number()
        return sum(part.base.partitions() for part in self._parts)

    # Plain Spark in the engine's place.

    def _plain(self) -> RDD[Any]:
        """This RDD by plain Spark, exactly as PySpark would have it, on stages that are memoized."""
        if self._plain_rdd is None:
            if self._placement is not None:
                self._plain_rdd = _stepped(self._placement.placed(), self._placement.since)
            else:
                rdds = [_stepped(part.base.plain(), part.steps) for part in self._parts]
                self._plain_rdd = rdds[0] if len(rdds) == 1 else self.program.union(rdds)
        return self._plain_rdd

    def _plain_of_stored(self) -> RDD[Any]:
        """This RDD by plain Spark, from stored records where they are this RDD's own."""
        if self._placement is not None or all(part.as_it_is for part in self._parts):
            return self._plain()
        return self._stored().from_store()

    def _stored(self) -> Stage:
        """The stage that keeps exactly these records, in order."""
        if self._stored_stage is None:
            (first, *others) = self._parts
            if not others and not first.steps and isinstance(first.base, Stage):
                return first.base
            self._stored_stage = Stage(
                self.program,
                Work("records", Sink.STORED),
                self._parts,
                lambda: self._made(self._parts)._plain(),
                lambda: sum(part.base.partitions() for part in self._parts),
            )
        return self._stored_stage

    def _as_parent(self) -> Sequence[Part]:
        """The parts that a next step builds on."""
        if self.is_cached and not all(_costs_nothing(part) for part in self._parts):
            return (Part(self._stored()),)
        return self._parts

    def parts_of(self, other: RDD[Any]) -> Sequence[Part]:
        """The parts of another RDD; a plain one becomes an input."""
        rdd = other if isinstance(other, NarrowRDD) else self.program.imported(other)
        return rdd._as_parent()

    # Narrow steps.

    def _step(self, kind: Kind, function: Function | None = None) -> Self:
        step = Step(kind, function)
        parts = [Part(part.base, (*part.steps, step)) for part in self._as_parent()]
        return self._made(parts, self._placement.after(step) if self._placement is not None else None)

    def map(self, f: Function, preservesPartitioning: bool = False) -> Self:
        return self._step(Kind.MAP, f)

    def flatMap(self, f: Function, preservesPartitioning: bool = False) -> Self:
        return self._step(Kind.FLAT_MAP, f)

    def filter(self, f: Function) -> Self:
        return self._step(Kind.FILTER, f)

    def mapValues(self, f: Function) -> Self:
        return self._step(Kind.MAP_VALUES, f)

    def flatMapValues(self, f: Function) -> Self:
        return self._step(Kind.FLAT_MAP_VALUES, f)

    def keyBy(self, f: Function) -> Self:
        return self._step(Kind.KEY_BY, f)

    def keys(self) -> Self:
        return self._step(Kind.KEYS)

    def values(self) -> Self:
        return self._step(Kind.VALUES)

    def mapPartitions(self, f: Function, preservesPartitioning: bool = False) -> RDD[Any]:
        if self._placement is not None:
            return self._plain().mapPartitions(f, preservesPartitioning)
        return self._step(Kind.PARTITION, f)

    def mapPartitionsWithIndex(self, f: Function, preservesPartitioning: bool = False) -> RDD[Any]:
        with self.program.falling_back("mapPartitionsWithIndex"):
            return self._plain().mapPartitionsWithIndex(f, preservesPartitioning)

    def pipe(self, command: str, env: dict[str, str] | None = None, checkCode: bool = False) -> RDD[str]:
        with self.program.falling_back("pipe"):  # which PySpark makes of `mapPartitions`
            return self._plain().pipe(command, env, checkCode)

    def union(self, other: RDD[Any]) -> RDD[Any]:
        if not isinstance(other, RDD):
            return self._plain().union(other)  # which says what is wrong
        return self.program.union([self, other])

    # Partitions.

    def _placed(
        self,
        number: Callable[[], int],
        place: Callable[[RDD[Any]], RDD[Any]],
        partitioner: Partitioner | None = None,
    ) -> Self:
        def placed() -> RDD[Any]:
            return place(self._plain_of_stored())

        return self._made(self._as_parent(), Placement(number, placed, partitioner=partitioner))

    def partitionBy(self, numPartitions: int | None, partitionFunc: Function = portable_hash) -> Self:
        number = numPartitions if numPartitions is not None else self._defaultReducePartitions()
        partitioner = Partitioner(number, partitionFunc)
        return self._placed(lambda: number, lambda rdd: rdd.partitionBy(number, partitionFunc), partitioner)

    def coalesce(self, numPartitions: int, shuffle: bool = False) -> Self:
        if not numPartitions > 0:
            raise ValueError("Number of partitions must be positive.")

        def number() -> int:
            return numPartitions if shuffle else min(numPartitions, self.getNumPartitions())

        return self._placed(number, lambda rdd: rdd.coalesce(numPartitions, shuffle))


#: Steps after which a record is where its key says.
_KEEP_KEYS = frozenset({Kind.MAP_VALUES, Kind.FLAT_MAP_VALUES, Kind.FILTER, Kind.GROUPED})


def _costs_nothing(part: Part) -> bool:
    return part.light or part.as_it_is


def _stepped(rdd: RDD[Any], steps: Sequence[Step]) -> RDD[Any]:
    """Narrow steps by plain Spark."""
    for step in steps:
        if step.kind is Kind.GROUPED:
            rdd = rdd.mapValues(ResultIterable)
        elif step.kind in LIGHT:
            rdd = rdd.keys() if step.kind is Kind.KEYS else rdd.values()
        else:
            rdd = getattr(rdd, _METHODS[step.kind])(step.function)
    return rdd


_METHODS = {
    Kind.MAP: "map",
    Kind.FLAT_MAP: "flatMap",
    Kind.FILTER: "filter",
    Kind.MAP_VALUES: "mapValues",
    Kind.FLAT_MAP_VALUES: "flatMapValues",
    Kind.KEY_BY: "keyBy",
    Kind.PARTITION: "mapPartitions",
}
