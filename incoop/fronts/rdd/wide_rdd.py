"""Wide steps of memoized RDDs: each becomes a stage of the engine.

Contract: the side that maps is bound when the step is defined, the side that merges with what follows, as in PySpark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark import RDD
from pyspark.core.rdd import Partitioner, portable_hash

from incoop.fronts.rdd.bound_rdd import Late
from incoop.fronts.rdd.frozen_functions import Frozen, NotLoaded
from incoop.fronts.rdd.lineage import RddPart
from incoop.fronts.rdd.mergers import as_list, is_addition, merger
from incoop.fronts.rdd.narrow_rdd import Function, NarrowRDD
from incoop.fronts.rdd.plain_spark import Placement
from incoop.fronts.rdd.sort_ranges import PlainSort, SortedRange, merged
from incoop.fronts.rdd.stages import RddStage, SortStage, StageWork
from incoop.fronts.rdd.steps import RecordSink, StepKind


def _itself(key: Any) -> Any:
    return key


@dataclass(frozen=True, slots=True)
class _Shuffle:
    """A step that brings equal keys together, in PySpark's two halves."""

    method: str
    #: Functions of the side that maps and of the side that merges.
    mapping: tuple[Any, ...]
    merging: tuple[Any, ...]
    #: What the engine does, and what plain Spark does to an RDD, with these functions.
    work: Callable[..., StageWork]
    follow: Callable[..., RDD[Any]]


class WideRDD(NarrowRDD):
    """Joins, groups and the like are PySpark's own, made of these."""

    def _wide(self, shuffle: _Shuffle, number: int | None, function: Function) -> RDD[Any]:
        """The result of a stage; in partitions, where the program asks for some."""
        live = *shuffle.mapping, function
        parent = self._parent()
        try:
            mapping, merging = Frozen(live), Frozen(shuffle.merging)
        except NotLoaded as why:
            self.program.note(shuffle.method, why)
            return shuffle.follow(self._plain_later(), number, function, *shuffle.mapping, *shuffle.merging)

        def follow(rdd: RDD[Any], merging_functions: tuple[Any, ...]) -> RDD[Any]:
            *functions, placing = mapping.functions
            return shuffle.follow(rdd, number, placing, *functions, *merging_functions)

        def shuffles() -> bool:
            if not above._may_be_by_key:
                return True
            rdd = above._exact()
            partitions = number if number is not None else rdd._defaultReducePartitions()
            return rdd.partitioner != Partitioner(partitions, function)

        def exact() -> RDD[Any]:
            if shuffles():
                return follow(parent._exact(), shuffle.merging)
            return shuffle.follow(above._exact(), number, function, *shuffle.mapping, *shuffle.merging)

        stage = RddStage(
            self.program,
            lambda: shuffle.work(*mapping.functions[:-1], *merging.functions),
            parent,
            lambda rdd: follow(rdd, merging.functions),
            self._defaultReducePartitions,
        )
        above = self._above(parent)
        late = Late(
            *(shuffle.method, merging, shuffle.merging, parent, above, mapping, live),
            unbound=lambda: not shuffles(),
            exact=exact,
        )
        if number is None and function is portable_hash:
            return self._made([RddPart(stage)], late=late)
        partitions = number if number is not None else self._defaultReducePartitions()
        placement = Placement(
            lambda: partitions,
            lambda: stage.from_store().partitionBy(partitions, mapping.functions[-1]),
            stage.exact,
            Partitioner(partitions, function),
        )
        return self._made([RddPart(stage)], placement, late)

    def combineByKey(
        self,
        createCombiner: Function,
        mergeValue: Function,
        mergeCombiners: Function,
        numPartitions: int | None = None,
        partitionFunc: Function = portable_hash,
    ) -> RDD[Any]:
        shuffle = _Shuffle(
            *("combineByKey", (createCombiner, mergeValue), (mergeCombiners,)), _work_of_combine, _combine_by_key
        )
        return self._wide(shuffle, numPartitions, partitionFunc)

    def reduceByKey(
        self,
        func: Function,
        numPartitions: int | None = None,
        partitionFunc: Function = portable_hash,
    ) -> RDD[Any]:
        shuffle = _Shuffle("reduceByKey", (func,), (func,), _work_of_reduce, _reduce_by_key)
        return self._wide(shuffle, numPartitions, partitionFunc)

    def groupByKey(
        self,
        numPartitions: int | None = None,
        partitionFunc: Function = portable_hash,
    ) -> RDD[Any]:
        shuffle = _Shuffle("groupByKey", (), (), _work_of_group, _group_by_key)
        grouped = self._wide(shuffle, numPartitions, partitionFunc)
        if not isinstance(grouped, WideRDD):
            return self._plain_later().groupByKey(numPartitions, partitionFunc)
        return grouped._step(StepKind.GROUPED)

    def distinct(self, numPartitions: int | None = None) -> RDD[Any]:
        return self.map(_with_none).reduceByKey(_first, numPartitions).keys()

    def sortByKey(
        self,
        ascending: bool | None = True,
        numPartitions: int | None = None,
        keyfunc: Function = _itself,
    ) -> RDD[Any]:
        by_key = keyfunc is _itself
        try:
            late = self._late_sort(PlainSort(ascending, numPartitions, by_key), keyfunc)
        except NotLoaded as why:
            self.program.note("sortByKey", why)
            return self._plain_later().sortByKey(ascending, numPartitions, keyfunc)  # type: ignore[arg-type]
        keyed = self if by_key else self.map(_KeyedBy(keyfunc))
        above, least = keyed._parent(), merger(merged)
        find_ranges = StageWork("sortByKey.ranges", RecordSink.SKETCHED, (), least, least, shards=1)
        sort = StageWork("sortByKey", RecordSink.RANGED, (bool(ascending),), reducer=SortedRange(bool(ascending)))
        stage = SortStage(
            RddStage(self.program, lambda: find_ranges, above, _as_it_is, lambda: 1),
            self.program,
            lambda: sort,
            above,
            lambda rdd: rdd.sortByKey(ascending, numPartitions),
            lambda: numPartitions or self._defaultReducePartitions(),
        )
        in_order = self._made([RddPart(stage)], late=late)
        if numPartitions is not None:
            placement = Placement(lambda: numPartitions, self._made([RddPart(stage)])._plain, stage.exact)
            in_order = self._made([RddPart(stage)], placement, late)
        return in_order if by_key else in_order.values()

    def _late_sort(self, order: PlainSort, keyfunc: Function) -> Late:
        parent, key = self._parent(), Frozen((keyfunc,))
        above, nothing = self._above(parent), Frozen(())

        def unbound() -> bool:
            rdd = parent._exact()
            return order.of_one_partition(rdd) or rdd.isEmpty()

        def exact() -> RDD[Any]:
            if unbound():
                return order.marked(order.sorted(above._exact(), keyfunc))
            return order.marked(order.sorted_late(parent._exact(), key.functions[0], keyfunc))

        return Late(*("sortByKey", key, (keyfunc,), parent, above, nothing, ()), unbound=unbound, exact=exact)


def _as_it_is(rdd: RDD[Any]) -> RDD[Any]:
    return rdd


def _work_of_combine(create: Function, add: Function, merge: Function) -> StageWork:
    merging = merger(merge)
    return StageWork("combineByKey", RecordSink.COMBINED, (create, add), merging, merging)


def _combine_by_key(
    rdd: RDD[Any], number: int | None, function: Function, create: Function, add: Function, merge: Function
) -> RDD[Any]:
    return rdd.combineByKey(create, add, merge, number, function)


def _work_of_reduce(add: Function, merge: Function) -> StageWork:
    merging, added = merger(merge), is_addition(add)
    return StageWork(
        "reduceByKey", RecordSink.ADDED if added else RecordSink.MERGED, () if added else (None, add), merging, merging
    )


def _reduce_by_key(rdd: RDD[Any], number: int | None, function: Function, add: Function, merge: Function) -> RDD[Any]:
    return rdd.combineByKey(lambda value: value, add, merge, number, function)


def _work_of_group() -> StageWork:
    return StageWork("groupByKey", RecordSink.PAIRS, reducer=as_list)


def _group_by_key(rdd: RDD[Any], number: int | None, function: Function) -> RDD[Any]:
    return rdd.groupByKey(number, function).mapValues(list)


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
