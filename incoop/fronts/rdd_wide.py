"""Wide steps of memoized RDDs: each becomes a stage of the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from pyspark import RDD
from pyspark.core.rdd import portable_hash

from incoop.fronts.rdd_lineage import Part
from incoop.fronts.rdd_merging import as_list, is_addition, merger
from incoop.fronts.rdd_narrow import Function, NarrowRDD, Placement
from incoop.fronts.rdd_sorting import SortedRange, merged
from incoop.fronts.rdd_stages import SortStage, Stage, Work
from incoop.fronts.rdd_steps import Kind, Sink


def _itself(key: Any) -> Any:
    return key


class WideRDD(NarrowRDD):
    """Joins, groups and the like are PySpark's own, made of these."""

    def _wide(
        self, work: Work, recompute: Callable[[RDD[Any]], RDD[Any]], number: int | None, function: Function
    ) -> Self:
        stage = Stage(
            self.program,
            work,
            self._as_parent(),
            lambda: recompute(self._plain()),
            self._defaultReducePartitions,
        )
        wide = self._made([Part(stage)])
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
    ) -> Self:
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
    ) -> Self:
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
    ) -> Self:
        grouped = self._wide(
            Work("groupByKey", Sink.PAIRS, reducer=as_list),
            lambda rdd: rdd.groupByKey(numPartitions, partitionFunc).mapValues(list),
            numPartitions,
            partitionFunc,
        )
        return grouped._step(Kind.GROUPED)

    def distinct(self, numPartitions: int | None = None) -> Self:
        return self.map(_with_none).reduceByKey(_first, numPartitions).keys()

    def sortByKey(
        self,
        ascending: bool | None = True,
        numPartitions: int | None = None,
        keyfunc: Function = _itself,
    ) -> RDD[Any]:
        if keyfunc is not _itself:
            return self.map(_KeyedBy(keyfunc)).sortByKey(ascending, numPartitions).values()
        parents, least = self._as_parent(), merger(merged)
        ranges = Stage(
            self.program,
            Work("sortByKey.ranges", Sink.SKETCHED, (), least, least, shards=1),
            parents,
            self._plain,
            lambda: 1,
        )
        stage = SortStage(
            ranges,
            self.program,
            Work("sortByKey", Sink.RANGED, (bool(ascending),), reducer=SortedRange(bool(ascending))),
            parents,
            lambda: self._plain().sortByKey(ascending, numPartitions),  # type: ignore[arg-type]
            lambda: numPartitions or self._defaultReducePartitions(),
        )
        in_order = self._made([Part(stage)])
        return (
            in_order
            if numPartitions is None
            else self._made([Part(stage)], Placement(lambda: numPartitions, in_order._plain))
        )


@dataclass(frozen=True, slots=True)
class _KeyedBy:
    """A pair under what a function makes of its key."""

    function: Function

    def __call__(self, pair: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
        return self.function(pair[0]), pair


def _with_none(record: Any) -> tuple[Any, None]:
    return record, None


def _first(one: Any, other: Any) -> Any:
    return one
