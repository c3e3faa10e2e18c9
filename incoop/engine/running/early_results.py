"""Answers of a Spark job's tasks, one by one as they finish, rather than all at the end.

Contract: `on_answer` is called on the driver, in a thread of Spark's, with the answer of every task that succeeded, in
any order; a task that Spark ran twice may be reported twice. So that what was finished before a crash, a failure or
Ctrl-C can be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import AccumulatorParam

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext


class _Arrivals(AccumulatorParam[list[Any]]):
    """Spark adds a task's term to an accumulator on the driver when the task is done: that is the moment."""

    def __init__(self, on_answer: Callable[[Any], None] | None) -> None:
        self._on_answer = on_answer

    def __reduce__(self) -> tuple[type[_Arrivals], tuple[None]]:
        return _Arrivals, (None,)  # the callback stays on the driver

    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:  # noqa: N802 - Spark's name
        if self._on_answer is None:
            return value1 + value2
        for answer in value2:
            self._on_answer(answer)
        return value1


def arrivals(context: SparkContext, on_answer: Callable[[Any], None]) -> Accumulator[list[Any]]:
    """An accumulator: tasks add `[answer]`, and `on_answer` gets it."""
    return context.accumulator([], _Arrivals(on_answer))
