"""Carries work out: in processes of our own or by Spark tasks, on a cluster beside what they read; or in threads here.

Contract: an answer does not depend on where it was made. Functions are packed once an attempt, and go to workers that
hold no other version of their modules.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from incoop.code import Functions, Shipment, Workplaces, pack
from incoop.engine.events import DidMove, DidStartSpark, Events, WillRunIn
from incoop.engine.running.helpers import Helpers
from incoop.engine.running.nearby import run_nearby
from incoop.engine.running.where import Where, where_to_run
from incoop.engine.running.work import Work
from incoop.engine.running.workforce import Workforce

if TYPE_CHECKING:
    from incoop.engine.running.cluster import Placed


@dataclass(slots=True)
class Runner:
    """Runs the steps of one attempt, and tells what they moved and waited for."""

    job: str
    workforce: Workforce
    events: Events
    #: Whether the code must have a fingerprint, and keep it; not where a version stands for it.
    prove: bool = True
    #: Whether what tasks give is stored.
    stores: bool = True
    #: Parts of the code whose values travel, since importing its modules does not give them.
    amended: frozenset[str] = frozenset()
    #: What the functions are known to read, by digest.
    read: dict[str, bytes] = field(default_factory=dict)
    #: Where relative paths of the functions are from; empty for the workers' own folder.
    folder: str = ""
    #: Arguments of the program; None for those of the workers.
    arguments: tuple[str, ...] | None = None
    #: Whether PySpark sends functions of the program to Spark's workers, too: an RDD program's.
    beside_pyspark: bool = False
    #: On a cluster, where shards ran (shard_places.py).
    places: dict[str, Any] | None = None
    #: By whether PySpark packs for the same workers.
    _packed: dict[bool, Shipment] = field(default_factory=dict)
    _waited: float = 0.0

    def now(self) -> float:
        """The time by a clock that stands while Spark starts."""
        return time.perf_counter() - self._waited

    def prepare(self) -> None:
        """There will be work, it seems: begin to start those who would do it if it is little."""
        if where_to_run(0, None, False, self.workforce.spark.now) is Where.PROCESSES:
            self.workforce.processes.start()

    @property
    def helpers(self) -> Helpers | None:
        """Who can look at a part of the input, where little work is done by processes of our own."""
        here = where_to_run(0, None, False, self.workforce.spark.now) is Where.PROCESSES
        return self.workforce.helpers if here else None

    def run(self, work: Work, on_answer: Callable[[Any], None] | None = None) -> list[Any]:
        """All answers, in the order of the items; `on_answer` sees each as soon as it is there."""
        near = work.nearby
        in_threads, little = (near.bytes, near.little) if near is not None else (None, False)
        where = where_to_run(work.bytes, in_threads, little, self.workforce.spark.now)
        assert isinstance(work.spec.code, Functions)
        if where is Where.PROCESSES and self.packed(work.spec.code).handles:
            where = Where.SPARK  # only Spark's workers have its broadcast variables
        self.events.tell(WillRunIn(work.step, str(where)))
        if where is Where.THREADS:
            assert near is not None
            keep = on_answer if on_answer is not None else lambda _: None
            return run_nearby(partial(work.function, work.spec), near.items, keep)
        return self._by_processes(work, on_answer) if where is Where.PROCESSES else self._by_spark(work, on_answer)

    def _by_processes(self, work: Work, on_answer: Callable[[Any], None] | None) -> list[Any]:
        processes = self.workforce.processes
        task, place = self._task(work, processes.workplaces)
        return processes.run(self._doing(work), task, work.share(processes.cores, False), on_answer, place)

    def _by_spark(self, work: Work, on_answer: Callable[[Any], None] | None) -> list[Any]:
        self._start_spark()
        spark = self.workforce.spark
        items = work.share(spark.cores, spark.clustered)
        groups, places = (items, self.places) if work.keeps_places else ((), None)
        placed = spark.placed(work.spec.worker, groups, places)
        task, place = self._task(work, spark.workplaces, self.beside_pyspark)
        answers = spark.run(self._doing(work), task, items, on_answer, placed, place)
        if placed is not None:
            self._tell_of(work, placed)
        return answers

    def _task(
        self, work: Work, workplaces: Workplaces, beside_pyspark: bool = False
    ) -> tuple[Callable[[Any], Any], dict[str, str]]:
        """The function with its code packed, and the workers that may run it."""
        assert isinstance(work.spec.code, Functions)
        packed = self.packed(work.spec.code, beside_pyspark)
        task = partial(work.function, replace(work.spec, code=packed))  # type: ignore[type-var]
        return task, workplaces.take(packed.versions())

    def _doing(self, work: Work) -> str:
        return f"{self.job}: {work.what}"

    def packed(self, functions: Functions, beside_pyspark: bool = False) -> Shipment:
        """The functions, packed once an attempt."""
        if beside_pyspark not in self._packed:
            self._packed[beside_pyspark] = pack(
                *(self.job, functions, self.prove, self.stores, self.amended, self.read, self.folder),
                arguments=self.arguments,
                beside_pyspark=beside_pyspark,
            )
        return self._packed[beside_pyspark]

    def _start_spark(self) -> None:
        """Start Spark, if nobody has; how long that takes is a figure of its own."""
        started = time.perf_counter()
        self.workforce.spark.start()
        seconds = time.perf_counter() - started
        self._waited += seconds
        self.events.tell(DidStartSpark(seconds))

    def _tell_of(self, work: Work, placed: Placed) -> None:
        local, moved = (sum(getattr(each, kind) for each in placed.ran) for kind in ("local", "moved"))
        self.events.tell(DidMove(work.step, local, moved))
        if work.keeps_places:
            self.places = placed.fact
