"""What every runner offers, and how its time and work are measured.

Time is by the clock, from the call to the last pair of the output. Work is the summed time of all Spark tasks, as
Spark's own records have it, plus the processor time of the process that drives them; a tool without Spark has only the
latter.
"""

from __future__ import annotations

import importlib.util
import resource
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bench.apps.app import Answer, App

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Measured:
    """One timed run."""

    seconds: float
    #: Summed task time and the driver's own processor time.
    work: float
    #: What the tool itself says of the run: incoop's report.
    report: dict[str, Any] = field(default_factory=dict)


class Runner(Protocol):
    """One way to run the applications from scratch."""

    name: str
    title: str

    def can(self, app: App) -> bool:
        """Whether the application can be said in it."""
        ...

    def run(self, app: App, path: Path) -> Measured:
        """Run it on a file, up to the last pair of its output."""
        ...

    def answer(self, app: App, path: Path) -> Answer:
        """Run it, untimed, for what to compare."""
        ...


class Stopwatch:
    """Measures what happens inside its `with`."""

    def __init__(self, spark: SparkSession | None = None) -> None:
        self._spark = spark

    def __enter__(self) -> Stopwatch:
        self._before = {stage.stageId() for stage in self._stages()}
        self._processor = processor_seconds()
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        seconds = time.perf_counter() - self._started
        work = processor_seconds() - self._processor
        own = [stage for stage in self._stages() if stage.stageId() not in self._before]
        self.measured = Measured(seconds, work + sum(stage.executorRunTime() for stage in own) / 1000)

    def _stages(self) -> list[Any]:
        """What Spark recorded of all stages, of which it keeps the last thousand."""
        if self._spark is None:
            return []
        python_context: Any = self._spark.sparkContext
        context = python_context._jsc.sc()
        context.listenerBus().waitUntilEmpty()
        jvm, no_quantiles = python_context._jvm, python_context._gateway.new_array(python_context._jvm.double, 0)
        # All statuses, and neither tasks nor summaries of them.
        listed = context.statusStore().stageList(None, False, False, no_quantiles, jvm.java.util.ArrayList())
        return [listed.apply(number) for number in range(listed.size())]


def processor_seconds() -> float:
    """Of this process and the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
