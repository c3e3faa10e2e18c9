"""The RDD interface of PySpark, memoized: a real `pyspark.RDD` that remembers how it was made.

Contract: narrow steps are fused into one mapper, each wide step is a memoized stage, nothing runs before an action.
Whatever is not defined here is inherited, and works on the plain RDD behind `_jrdd`; so every method gives what
PySpark gives. Functions that see a partition see a chunk, unless the program asked for partitions of its own.
"""

from __future__ import annotations

import copy
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyspark import RDD, SparkContext, StorageLevel
from pyspark.core.rdd import portable_hash

from incoop.batches import LawfulCombiner
from incoop.fronts.rdd_lineage import Files, Part, SortStage, Stage, Unmemoized, Work
from incoop.fronts.rdd_merging import as_list, is_addition, merger
from incoop.fronts.rdd_sorting import SortedRange, merged
from incoop.fronts.rdd_steps import LIGHT, Kind, Sink, Step

if TYPE_CHECKING:
    from incoop.fronts.rdd_program import RddProgram

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Placement:
    """Partitions that the program asked for: how plain Spark makes them, and the steps since."""

    number: int
    placed: Callable[[], RDD[Any]]
    since: tuple[Step, ...] = ()


def _itself(key: Any) -> Any:
    return key


class MemoRDD(RDD[Any]):
    """Records of some parts, one after the other."""

    is_checkpointed = False
    has_resource_profile = False
    #: What a plain RDD with this partitioner would promise is not promised.
    partitioner = None

    def __init__(self, program: RddProgram, parts: Sequence[Part], placement: Placement | None = None) -> None:
        self._program, self._parts, self._placement = program, tuple(parts), placement
        self.is_cached = False
        self._level = StorageLevel.NONE
        self._given_name: str | None = None
        self._stored_stage: Stage | None = None
        self._plain_rdd: RDD[Any] | None = None

    # What a plain RDD has as attributes.

    @property
    def ctx(self) -> SparkContext:  # type: ignore[override]
        return self._program.context

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

    def _is_barrier(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"MemoRDD({' + '.join(part.name() for part in self._parts)})"

    def name(self) -> str | None:
        return self._given_name

    def setName(self, name: str) -> MemoRDD:
        self._given_name = name
        return self

    def cache(self) -> MemoRDD:
        return self.persist()

    def persist(self, storageLevel: StorageLevel = StorageLevel.MEMORY_ONLY) -> MemoRDD:
        """What is made of this RDD from now on reads it from the store, where it is kept in any case."""
        self.is_cached, self._level = True, storageLevel
        return self

    def unpersist(self, blocking: bool = False) -> MemoRDD:
        self.is_cached, self._level = False, StorageLevel.NONE
        return self

    def getStorageLevel(self) -> StorageLevel:
        return self._level

    def getNumPartitions(self) -> int:
        if self._placement is not None:
            return self._placement.number
        return sum(part.base.partitions() for part in self._parts)

    # Plain Spark in the engine's place.

    def _plain(self) -> RDD[Any]:
        """This RDD by plain Spark, exactly as PySpark would have it, on stages that are memoized."""
        if self._plain_rdd is None:
            if self._placement is not None:
                self._plain_rdd = _stepped(self._placement.placed(), self._placement.since)
            else:
                rdds = [_stepped(part.base.plain(), part.steps) for part in self._parts]
                self._plain_rdd = rdds[0] if len(rdds) == 1 else self._program.union(rdds)
        return self._plain_rdd

    def _plain_of_stored(self) -> RDD[Any]:
        """This RDD by plain Spark, from stored records where they are this RDD's own."""
        if self._placement is not None or all(isinstance(part.base, Files) and not part.steps for part in self._parts):
            return self._plain()
        return self._stored().from_store()

    def _stored(self) -> Stage:
        """The stage that keeps exactly these records, in order."""
        if self._stored_stage is None:
            (first, *others) = self._parts
            if not others and not first.steps and isinstance(first.base, Stage):
                return first.base
            self._stored_stage = Stage(
                self._program,
                Work("records", Sink.STORED),
                self._parts,
                lambda: MemoRDD(self._program, self._parts)._plain(),
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
        rdd = other if isinstance(other, MemoRDD) else self._program.imported(other)
        return rdd._as_parent()

    # Narrow steps.

    def _step(self, kind: Kind, function: Function | None = None) -> MemoRDD:
        step = Step(kind, function)
        parts = [Part(part.base, (*part.steps, step)) for part in self._as_parent()]
        at = self._placement
        placement = Placement(at.number, at.placed, (*at.since, step)) if at is not None else None
        return MemoRDD(self._program, parts, placement)

    def map(self, f: Function, preservesPartitioning: bool = False) -> MemoRDD:
        return self._step(Kind.MAP, f)

    def flatMap(self, f: Function, preservesPartitioning: bool = False) -> MemoRDD:
        return self._step(Kind.FLAT_MAP, f)

    def filter(self, f: Function) -> MemoRDD:
        return self._step(Kind.FILTER, f)

    def mapValues(self, f: Function) -> MemoRDD:
        return self._step(Kind.MAP_VALUES, f)

    def flatMapValues(self, f: Function) -> MemoRDD:
        return self._step(Kind.FLAT_MAP_VALUES, f)

    def keyBy(self, f: Function) -> MemoRDD:
        return self._step(Kind.KEY_BY, f)

    def keys(self) -> MemoRDD:
        return self._step(Kind.KEYS)

    def values(self) -> MemoRDD:
        return self._step(Kind.VALUES)

    def mapPartitions(self, f: Function, preservesPartitioning: bool = False) -> RDD[Any]:
        if self._placement is not None:
            return self._plain().mapPartitions(f, preservesPartitioning)
        return self._step(Kind.PARTITION, f)

    def mapPartitionsWithIndex(self, f: Function, preservesPartitioning: bool = False) -> RDD[Any]:
        return self._plain().mapPartitionsWithIndex(f, preservesPartitioning)

    def union(self, other: RDD[Any]) -> RDD[Any]:
        return self._program.union([self, other])

    # Partitions.

    def _placed(self, number: int, place: Callable[[RDD[Any]], RDD[Any]]) -> MemoRDD:
        def placed() -> RDD[Any]:
            return place(self._plain_of_stored())

        return MemoRDD(self._program, self._as_parent(), Placement(number, placed))

    def partitionBy(self, numPartitions: int | None, partitionFunc: Function = portable_hash) -> MemoRDD:
        number = numPartitions if numPartitions is not None else self._defaultReducePartitions()
        return self._placed(number, lambda rdd: rdd.partitionBy(number, partitionFunc))

    def coalesce(self, numPartitions: int, shuffle: bool = False) -> MemoRDD:
        if not numPartitions > 0:
            raise ValueError("Number of partitions must be positive.")
        return self._placed(numPartitions, lambda rdd: rdd.coalesce(numPartitions, shuffle))

    # Wide steps.

    def _wide(
        self, work: Work, recompute: Callable[[RDD[Any]], RDD[Any]], number: int | None, function: Function
    ) -> MemoRDD:
        stage = Stage(
            self._program,
            work,
            self._as_parent(),
            lambda: recompute(self._plain()),
            self._defaultReducePartitions,
        )
        wide = MemoRDD(self._program, [Part(stage)])
        if number is None and function is portable_hash:
            return wide
        return wide.partitionBy(number, function)

    def combineByKey(
        self,
        createCombiner: Function,
        mergeValue: Function,
        mergeCombiners: Function,
        numPartitions: int | None = None,
        partitionFunc: Function = portable_hash,
    ) -> MemoRDD:
        merge = merger(mergeCombiners)
        return self._wide(
            Work("combineByKey", Sink.COMBINED, (createCombiner, mergeValue), merge, merge),
            lambda rdd: rdd.combineByKey(createCombiner, mergeValue, mergeCombiners, numPartitions, partitionFunc),
            numPartitions,
            partitionFunc,
        )

    def reduceByKey(
        self,
        func: Function,
        numPartitions: int | None = None,
        partitionFunc: Function = portable_hash,
    ) -> MemoRDD:
        merge = merger(func)
        added = is_addition(func)
        return self._wide(
            Work("reduceByKey", Sink.ADDED if added else Sink.MERGED, () if added else (None, func), merge, merge),
            lambda rdd: rdd.reduceByKey(func, numPartitions, partitionFunc),
            numPartitions,
            partitionFunc,
        )

    def groupByKey(
        self,
        numPartitions: int | None = None,
        partitionFunc: Function = portable_hash,
    ) -> MemoRDD:
        grouped = self._wide(
            Work("groupByKey", Sink.PAIRS, reducer=as_list),
            lambda rdd: rdd.groupByKey(numPartitions, partitionFunc).mapValues(list),
            numPartitions,
            partitionFunc,
        )
        return grouped._step(Kind.GROUPED)

    def distinct(self, numPartitions: int | None = None) -> MemoRDD:
        return self.map(_with_none).reduceByKey(_first, numPartitions).keys()

    def sortByKey(
        self,
        ascending: bool | None = True,
        numPartitions: int | None = None,
        keyfunc: Function = _itself,
    ) -> RDD[Any]:
        if keyfunc is not _itself:
            return self._plain_of_stored().sortByKey(ascending, numPartitions, keyfunc)  # type: ignore[arg-type]
        parents, least = self._as_parent(), merger(merged)
        ranges = Stage(
            self._program,
            Work("sortByKey.ranges", Sink.SKETCHED, (), least, least, shards=1),
            parents,
            self._plain,
            lambda: 1,
        )
        stage = SortStage(
            ranges,
            self._program,
            Work("sortByKey", Sink.RANGED, (bool(ascending),), reducer=SortedRange(bool(ascending))),
            parents,
            lambda: self._plain().sortByKey(ascending, numPartitions),  # type: ignore[arg-type]
            lambda: numPartitions or self._defaultReducePartitions(),
        )
        in_order = MemoRDD(self._program, [Part(stage)])
        return (
            in_order
            if numPartitions is None
            else MemoRDD(self._program, [Part(stage)], Placement(numPartitions, in_order._plain))
        )

    # Actions.

    def _rows(self) -> Iterator[Any]:
        """All records, in order, read on the driver."""
        if all(part.light for part in self._parts):
            for part in self._parts:
                assert isinstance(part.base, Stage)
                yield from part.base.read(part.steps)
        else:
            yield from self._stored().read()

    def collect(self) -> list[Any]:
        if any(isinstance(part.base, Files) and not part.steps for part in self._parts):
            return self._plain().collect()
        try:
            return list(self._rows())
        except Unmemoized:
            return self._plain().collect()

    def toLocalIterator(self, prefetchPartitions: bool = False) -> Iterator[Any]:
        return iter(self.collect())

    def take(self, num: int) -> list[Any]:
        known = self._stored_stage is not None or all(part.light for part in self._parts)
        try:
            return list(islice(self._rows(), max(0, num))) if known else self._plain().take(num)
        except Unmemoized:
            return self._plain().take(num)

    def isEmpty(self) -> bool:
        return not self.take(1)

    def _single(self, work: Work) -> list[Any]:
        """Run a stage whose result is one value, or none."""
        stage = Stage(self._program, work, self._as_parent(), self._plain, lambda: 1)
        return [value for _, value in stage.result()]

    def reduce(self, f: Function) -> Any:
        merge = merger(f)
        try:
            found = self._single(Work("reduce", Sink.REDUCED, (None, f), merge, merge, shards=1))
        except Unmemoized:
            return self._plain().reduce(f)
        if found:
            return found[0]
        raise ValueError("Can not reduce() empty RDD")

    def _aggregated(self, method: str, zero: Any, add: Function, merge: LawfulCombiner) -> list[Any]:
        return self._single(Work(method, Sink.AGGREGATED, (zero, add), merge, merge, shards=1))

    def fold(self, zeroValue: Any, op: Function) -> Any:
        try:
            found = self._aggregated("fold", zeroValue, op, merger(op))
        except Unmemoized:
            return self._plain().fold(zeroValue, op)
        return reduce(op, found, copy.deepcopy(zeroValue))

    def aggregate(self, zeroValue: Any, seqOp: Function, combOp: Function) -> Any:
        try:
            found = self._aggregated("aggregate", zeroValue, seqOp, merger(combOp))
        except Unmemoized:
            return self._plain().aggregate(zeroValue, seqOp, combOp)
        return reduce(combOp, found, copy.deepcopy(zeroValue))

    def treeAggregate(self, zeroValue: Any, seqOp: Function, combOp: Function, depth: int = 2) -> Any:
        if depth < 1:
            raise ValueError(f"Depth cannot be smaller than 1 but got {depth}.")
        try:
            found = self._aggregated("treeAggregate", zeroValue, seqOp, merger(combOp))
        except Unmemoized:
            return self._plain().treeAggregate(zeroValue, seqOp, combOp, depth)
        return found[0] if found else zeroValue

    def count(self) -> int:
        only = self._parts[0]
        if len(self._parts) == 1 and only.light and isinstance(only.base, Stage) and only.base.one_pair_a_key:
            try:
                return only.base.result().report.keys_total
            except Unmemoized:
                return self._plain().count()
        try:
            added = merger(operator.add)
            return sum(self._single(Work("count", Sink.COUNTED, (), added, added, shards=1)))
        except Unmemoized:
            return self._plain().count()

    def countByValue(self) -> dict[Any, int]:
        counts: dict[Any, int] = defaultdict(int)
        counts.update(self.map(_with_one).reduceByKey(operator.add).collect())
        return counts

    def reduceByKeyLocally(self, func: Function) -> dict[Any, Any]:
        return dict(self.reduceByKey(func).collect())

    def takeOrdered(self, num: int, key: Function | None = None) -> list[Any]:
        if num < 0:
            raise ValueError("top N cannot be negative.")
        return super().takeOrdered(num, key) if num and self._parts else []  # type: ignore[arg-type]

    def lookup(self, key: Any) -> list[Any]:
        return self._plain_of_stored().lookup(key)

    def foreach(self, f: Function) -> None:
        self._plain_of_stored().foreach(f)

    def foreachPartition(self, f: Callable[[Iterable[Any]], None]) -> None:
        self._plain_of_stored().foreachPartition(f)

    def saveAsTextFile(self, path: str, compressionCodecClass: str | None = None) -> None:
        self._plain_of_stored().saveAsTextFile(path, compressionCodecClass)

    def zipWithIndex(self) -> MemoRDD:
        return self._program.imported(self._plain_of_stored().zipWithIndex())


def _costs_nothing(part: Part) -> bool:
    return part.light or (isinstance(part.base, Files) and not part.steps)


def _with_none(record: Any) -> tuple[Any, None]:
    return record, None


def _with_one(record: Any) -> tuple[Any, int]:
    return record, 1


def _first(one: Any, other: Any) -> Any:
    return one


def _stepped(rdd: RDD[Any], steps: Sequence[Step]) -> RDD[Any]:
    """Narrow steps by plain Spark."""
    for step in steps:
        if step.kind is Kind.GROUPED:
            from pyspark.resultiterable import ResultIterable

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
