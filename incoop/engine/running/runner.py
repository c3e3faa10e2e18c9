"""Carries work out: by Spark tasks, on a cluster beside what they read; in threads of this process where that is less.

Contract: an answer does not depend on where it was made. Functions are packed once an attempt, and go to workers that
hold no other version of their modules.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from incoop.code import Functions, Shipment, pack
from incoop.engine.events import DidMove, DidStartSpark, Events
from incoop.engine.running.nearby import run_nearby
from incoop.engine.running.spark import Spark
from incoop.engine.running.work import Nearby, Work

if TYPE_CHECKING:
    from incoop.engine.running.cluster import Placed

#: What is done in the driver's process has at most so many bytes: it is in one memory, and begins without Spark.
_NEARBY_BYTES = 32 << 20


@dataclass(slots=True)
class Runner:
    """Runs the steps of one attempt, and tells what they moved and waited for."""

    job: str
    spark: Spark
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
    #: On a cluster, where shards ran (placing.py).
    places: dict[str, Any] | None = None
    _packed: Shipment | None = None
    _waited: float = 0.0

    def now(self) -> float:
        """The time by a clock that stands while Spark starts."""
        return time.perf_counter() - self._waited

    def run(self, work: Work, on_answer: Callable[[Any], None] | None = None) -> list[Any]:
        """All answers, in the order of the items; `on_answer` sees each as soon as it is there."""
        if work.nearby is not None and self._is_nearby(work.nearby):
            keep = on_answer if on_answer is not None else lambda _: None
            return run_nearby(partial(work.function, work.spec), work.nearby.items, keep)
        self._start_spark()
        items = work.share(self.spark.cores, self.spark.clustered)
        groups, places = (items, self.places) if work.keeps_places else ((), None)
        placed = self.spark.placed(work.spec.worker, groups, places)
        assert isinstance(work.spec.code, Functions)
        packed = self.packed(work.spec.code)
        task = partial(work.function, replace(work.spec, code=packed))  # type: ignore[type-var]
        place = self.spark.workplaces.take(packed.versions())
        answers = self.spark.run(f"{self.job}: {work.what}", task, items, on_answer, placed, place)
        if placed is not None:
            self._tell_of(work, placed)
        return answers

    def packed(self, functions: Functions) -> Shipment:
        """The functions, packed once an attempt."""
        if self._packed is None:
            self._packed = pack(
                *(self.job, functions, self.prove, self.stores, self.amended, self.read, self.folder),
                arguments=self.arguments,
            )
        return self._packed

    def _is_nearby(self, nearby: Nearby) -> bool:
        """Whether to do something in this process: that needs little work, or less than starting Spark."""
        fits = nearby.bytes <= _NEARBY_BYTES and not self.spark.clustered
        return fits and (nearby.little or not self.spark.running)

    def _start_spark(self) -> None:
        """Start Spark, if nobody has; how long that takes is a figure of its own."""
        started = time.perf_counter()
        self.spark.start()
        seconds = time.perf_counter() - started
        self._waited += seconds
        self.events.tell(DidStartSpark(seconds))

    def _tell_of(self, work: Work, placed: Placed) -> None:
        local, moved = (sum(getattr(each, kind) for each in placed.ran) for kind in ("local", "moved"))
        self.events.tell(DidMove(work.step, local, moved))
        if work.keeps_places:
            self.places = placed.fact
