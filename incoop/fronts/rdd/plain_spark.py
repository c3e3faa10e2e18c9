"""Narrow steps and partitions, as plain Spark makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark import RDD
from pyspark.core.rdd import Partitioner
from pyspark.resultiterable import ResultIterable

from incoop.fronts.rdd.steps import LIGHT, NarrowStep, StepKind


@dataclass(frozen=True, slots=True)
class Placement:
    """Partitions that the program asked for: how plain Spark makes them, and how many steps there were since."""

    number: Callable[[], int]
    #: Of stored records, where there are any; and of PySpark's own.
    placed: Callable[[], RDD[Any]]
    exact: Callable[[], RDD[Any]]
    partitioner: Partitioner | None = None
    since: int = 0

    def after(self, step: NarrowStep) -> Placement:
        """The same partitions after a step; where keys may change, nobody knows any more which partition has which."""
        partitioner = self.partitioner if step.kind in _KEEP_KEYS else None
        return replace(self, partitioner=partitioner, since=self.since + 1)


#: Steps after which a record is where its key says.
_KEEP_KEYS = frozenset({StepKind.MAP_VALUES, StepKind.FLAT_MAP_VALUES, StepKind.FILTER, StepKind.GROUPED})


def stepped(rdd: RDD[Any], steps: Sequence[NarrowStep]) -> RDD[Any]:
    """Narrow steps by plain Spark."""
    for step in steps:
        if step.kind is StepKind.GROUPED:
            rdd = rdd.mapValues(ResultIterable)
        elif step.kind in LIGHT:
            rdd = rdd.keys() if step.kind is StepKind.KEYS else rdd.values()
        else:
            rdd = getattr(rdd, _METHODS[step.kind])(step.function)
    return rdd


_METHODS = {
    StepKind.MAP: "map",
    StepKind.FLAT_MAP: "flatMap",
    StepKind.FILTER: "filter",
    StepKind.MAP_VALUES: "mapValues",
    StepKind.FLAT_MAP_VALUES: "flatMapValues",
    StepKind.KEY_BY: "keyBy",
    StepKind.PARTITION: "mapPartitions",
}


def pickled_now(rdd: RDD[Any]) -> RDD[Any]:
    """A plain RDD whose functions are pickled, also for what is made of it."""
    bound: RDD[Any] = RDD(rdd._jrdd, rdd.ctx, rdd._jrdd_deserializer)
    bound.partitioner = rdd.partitioner
    return bound
