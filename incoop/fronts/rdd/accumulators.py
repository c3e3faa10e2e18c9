"""Spark accumulators in memoized tasks: what a task added is kept with it, and added again when it is reused.

Contract: every task counts once in every run, whether it ran or not. An update travels as the name of an engine
counter, so it may be any value that pickles; the counter's amount is how often it occurs.
"""

from __future__ import annotations

import base64
import io
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pyspark import cloudpickle
from pyspark.accumulators import Accumulator

from incoop.engine.running.counters import counter

#: Sets these counters apart from those of the user.
_PREFIX = "\0accumulator "


class _Finder(cloudpickle.Pickler):
    """Sees what would travel to a worker, in an order that follows from the code."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())  # type: ignore[no-untyped-call]
        self.found: dict[int, Accumulator[Any]] = {}

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Accumulator):
            self.found.setdefault(obj.aid, obj)
        return super().reducer_override(obj)  # type: ignore[no-untyped-call]


def accumulators_in(functions: Iterable[Any]) -> tuple[Accumulator[Any], ...]:
    """The accumulators that functions can reach, each once. Raises what pickling them raises."""
    finder = _Finder()
    finder.dump(list(functions))  # type: ignore[no-untyped-call]
    return tuple(finder.found.values())


@dataclass(frozen=True, slots=True)
class Updates:
    """The accumulators that a task's functions add to."""

    accumulators: tuple[Accumulator[Any], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.accumulators)

    def counted(self, pairs: Callable[[], Iterable[tuple[Any, Any]]]) -> list[tuple[Any, Any]]:
        """Compute the pairs of a chunk; keep what was added on the way. Spark itself finds nothing to add."""
        self._take()
        try:
            computed = list(pairs())
        except BaseException:
            self._take()
            raise
        for number, update in self._take():
            counter(f"{_PREFIX}{number} {base64.b85encode(pickle.dumps(update, 4)).decode()}")
        return computed

    def _take(self) -> list[tuple[int, Any]]:
        taken: list[tuple[int, Any]] = []
        for number, each in enumerate(self.accumulators):
            zero = each.accum_param.zero(each._value)
            if pickle.dumps(each._value, 4) != pickle.dumps(zero, 4):
                taken.append((number, each._value))
            each._value = zero
        return taken

    def replay(self, counters: dict[str, int]) -> None:
        """On the driver: add what all tasks of a run added, and take it out of the run's counters."""
        for name in [name for name in counters if name.startswith(_PREFIX)]:
            number, _, encoded = name.removeprefix(_PREFIX).partition(" ")
            amount = counters.pop(name)
            for _ in range(amount):
                self.accumulators[int(number)].add(pickle.loads(base64.b85decode(encoded)))
