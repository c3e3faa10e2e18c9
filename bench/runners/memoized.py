"""incoop: the application's mapper, combiner and reducer in a store of its own, which later runs find again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import incoop
from bench.apps.app import Answer, App, Pairs
from bench.runners.base import Measured, Stopwatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def contraction_job(app: App) -> incoop.Job:
    """The application as it is: chunks are combined, and so is the tree above them."""
    return incoop.Job(app.name, mapper=app.mapper, combiner=app.combiner, reducer=app.reducer)


def task_job(app: App) -> incoop.Job:
    """Memoized tasks without a contraction tree: the combiner runs inside each chunk's map task, nowhere else.

    A changed key's values are then gathered from all chunks and reduced again. That is finer than the paper's variant
    of this name, in which a reduce task that anything changed for runs again as a whole.
    """
    mapper = incoop.ChunkMapper(combining_mapper(app.mapper, app.combiner))
    return incoop.Job(f"{app.name} by task", mapper=mapper, reducer=app.reducer)


def combining_mapper(
    mapper: Callable[[Any, Any], Pairs], combiner: Callable[[Any, Iterable[Any]], Pairs]
) -> Callable[[Sequence[Any]], Iterator[tuple[Any, Any]]]:
    """A mapper of whole chunks that gives what the combiner makes of the chunk's pairs."""

    def map_chunk(records: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        groups: dict[Any, list[Any]] = {}
        for record in records:
            for key, value in mapper(None, record):
                groups.setdefault(key, []).append(value)
        for key, values in groups.items():
            yield from combiner(key, values)

    return map_chunk


class Memoized:
    """incoop with one store. `run` on an input it knows is an update."""

    name = "incoop"
    title = "incoop"

    def __init__(self, spark: SparkSession, store: Path, job_of: Callable[[App], incoop.Job] = contraction_job) -> None:
        self._spark = spark
        self._store = store
        self._session = incoop.connect(store, spark=spark)
        self.job_of = job_of
        self._result: incoop.Result | None = None

    def can(self, app: App) -> bool:
        return True

    def run(self, app: App, path: Path) -> Measured:
        job = self.job_of(app)
        with Stopwatch(self._spark) as watch:
            self._result = self._session.run(job, str(path))
        return dataclasses.replace(watch.measured, report=self._result.report.as_dict())

    def last_answer(self, app: App) -> Answer:
        """What the last run gave."""
        assert self._result is not None
        # A partition of its own for each of the result's parts would cost more than reading them.
        return app.answer(self._result.rdd().coalesce(self._spark.sparkContext.defaultParallelism))

    def answer(self, app: App, path: Path) -> Answer:
        self.run(app, path)
        return self.last_answer(app)

    @property
    def root(self) -> bytes:
        """Hash of the last run's tree: equal to that of a run from scratch."""
        assert self._result is not None
        return self._result.root

    def stored_bytes(self) -> int:
        """The size of everything in the store."""
        return sum(path.stat().st_size for path in self._store.rglob("*") if path.is_file())

    def __enter__(self) -> Memoized:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()
