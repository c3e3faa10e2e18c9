"""Methods that plain Spark runs, on memoized stages where there are any: each is noted once in a program.

Contract: what they give is PySpark's own, because it is PySpark's own code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark import RDD

if TYPE_CHECKING:
    from incoop.fronts.rdd.program import RddProgram

#: Samples and pairings follow partitions, approximations the clock; DataFrames lead out of Python.
_FALL_BACK = (
    *("sample", "takeSample", "randomSplit", "sampleByKey", "zip", "zipWithUniqueId", "cartesian", "toDF"),
    *("countApprox", "sumApprox", "meanApprox", "countApproxDistinct"),
    *("repartitionAndSortWithinPartitions", "barrier", "withResources"),
)


class PlainRDD(RDD[Any]):
    """An RDD that says which of its methods are not memoized."""

    program: RddProgram


def _noted(name: str) -> Callable[..., Any]:
    def fall_back(self: PlainRDD, *arguments: Any, **named: Any) -> Any:
        # Asked for at the call: `toDF` is there once a SparkSession is. Some of these are made of others.
        with self.program.falling_back(name):
            return getattr(RDD, name)(self, *arguments, **named)

    fall_back.__name__ = fall_back.__qualname__ = name
    fall_back.__doc__ = f"As `RDD.{name}`, which plain Spark runs."
    return fall_back


for _name in _FALL_BACK:
    setattr(PlainRDD, _name, _noted(_name))
