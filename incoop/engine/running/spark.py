"""The SparkSession that a run works in: the user's own, or one started when first needed."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from incoop.code import Workplaces, workplaces_of
from incoop.engine.running.doors import closed_doors, warning_of
from incoop.engine.running.progress import task_progress
from incoop.engine.running.started_contexts import started
from incoop.engine.running.where import SparkNow
from incoop.engine.running.worker_failed import of_spark, without_us
from incoop.engine.running.worker_process import settled
from incoop.inchdfs.cutting.parallel import Segment, SegmentCuts, SegmentRunner
from incoop.inchdfs.cutting.spark_segments import spark_segments

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from incoop.engine.running.cluster import Caches, Placed
    from incoop.memo import WorkerConfig

log = logging.getLogger("incoop")

_MASTER = "local[*]"

#: A session of ours says nothing that a user could not act on.
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties").as_uri()
_QUIET = {
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOG_SETTINGS}",
}

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Spark:
    """Starts Spark at the first job, so that a run that reuses everything does not wait for it."""

    def __init__(self, given: SparkSession | None, master: str | None) -> None:
        self._session = given
        #: Whether the user asked for Spark, by a session or by an address to start one at.
        self._given = given is not None or master is not None
        #: The context of the session, where that is ours to stop when nobody else uses it.
        self._ours: SparkContext | None = None
        self._master = master
        self._caller: ThreadPoolExecutor | None = None
        self._caches: Caches | None = None
        self._warned = False

    @property
    def session(self) -> SparkSession:
        if self._session is None:
            self._session = self._found() or self._apart(self._start)
            context = self._session.sparkContext
            if started.join(context):
                self._ours = context
        return self._session

    def _found(self) -> SparkSession | None:
        """The session that is there: given, started, or the user's own."""
        if self._session is not None or "pyspark" not in sys.modules:
            return self._session
        from pyspark.sql import SparkSession

        return SparkSession.getActiveSession()

    def _start(self) -> SparkSession:
        from pyspark.sql import SparkSession

        # Workers must run the Python that runs us, whatever PATH says.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.appName("incoop").master(self._master or _MASTER)
        for key, value in (_QUIET | closed_doors(self._master or _MASTER)).items():
            builder = builder.config(key, value)
        # One that another thread started is not active in this one.
        with started.whoever_starts() as note:
            session = builder.getOrCreate()
            note(session.sparkContext)
        return session

    def start(self) -> None:
        """Start Spark, if nobody has."""
        assert self.session is not None

    @property
    def running(self) -> bool:
        """Whether there is a session already."""
        return self._found() is not None

    @property
    def now(self) -> SparkNow:
        """What `where_to_run` has to know."""
        return SparkNow(self.running, self._given, self.clustered)

    @property
    def cores(self) -> int:
        """How many tasks run at once."""
        return int(self.session.sparkContext.defaultParallelism)

    @property
    def clustered(self) -> bool:
        """Whether tasks run on executors of their own, so that it matters where. Spark is not started to find out."""
        session = self._found()
        master = str(session.sparkContext.master) if session is not None else self._master or _MASTER
        return not (master == "local" or master.startswith("local["))

    def placed(
        self, worker: WorkerConfig, groups: Sequence[Sequence[int]] = (), fact: Mapping[str, Any] | None = None
    ) -> Placed | None:
        """For `run`: place and measure its tasks by the caches of a cluster. None where there is no cluster.

        `groups` are the shards of each task, `fact` what the last generation recorded of them.
        """
        if not self.clustered:
            return None
        from incoop.engine.running.cluster import Caches, Placed

        self._warn_of_doors()
        self._caches = self._caches or Caches()
        return Placed(self._caches, worker, groups, fact)

    def _warn_of_doors(self) -> None:
        context = self.session.sparkContext
        said = warning_of(str(context.master), dict(context.getConf().getAll()))
        if said and not self._warned:
            log.warning("%s", said)
        self._warned = True

    def run(
        self,
        description: str,
        function: Callable[[Item], Answer],
        items: Sequence[Item],
        on_answer: Callable[[Answer], None] | None = None,
        placed: Placed | None = None,
        place: Mapping[str, str] | None = None,
    ) -> list[Answer]:
        """Run one Spark task an item; `on_answer` sees each answer when its task is done.

        `place` are variables of the Python workers that are to run them (`incoop.code.workplaces`).
        """
        context = self.session.sparkContext

        def call() -> list[Answer]:
            with (
                _described(context, description),
                task_progress(context, description, len(items)),
                _in_workers_with(context, place or {}),
            ):
                task: Callable[[Item], Answer] = partial(settled, function)
                if on_answer is not None:
                    task = _reporting(context, task, on_answer)
                if placed is not None:
                    return placed(context, task, items)
                return context.parallelize(items, len(items)).map(task).collect()

        try:
            return self._apart(call)
        except Exception as error:
            if (failed := of_spark(description, error)) is not None:
                raise self._apart(partial(without_us, context)) or failed from None
            raise

    @property
    def workplaces(self) -> Workplaces:
        """Which Python workers hold which versions of the user's modules."""
        return workplaces_of(self.session.sparkContext)

    def segments(self) -> SegmentRunner | None:
        """What searches large files for chunks as Spark tasks; None while Spark is not up, which is not waited for."""
        session = self._session
        if session is None:
            return None

        def run(segments: list[Segment]) -> list[SegmentCuts]:
            def call() -> list[SegmentCuts]:
                with _described(session.sparkContext, "find chunks"):
                    return list(spark_segments(session)(segments))

            return self._apart(call)

        return run

    def _apart(self, call: Callable[[], Answer]) -> Answer:
        """Call Spark from a thread of its own, and wait for it here.

        On Ctrl-C the main thread is then free to cancel jobs, rather than in the middle of an answer from the JVM.
        """
        if self._caller is None:
            self._caller = ThreadPoolExecutor(1, thread_name_prefix="incoop-spark")
        try:
            return self._caller.submit(call).result()
        except KeyboardInterrupt:
            if self._session is not None:
                self._session.sparkContext.cancelAllJobs()
            raise

    def stop(self) -> None:
        """Stop what we started; a session that was there before stays."""
        if self._caller is not None:
            self._caller.shutdown(wait=False, cancel_futures=True)
            self._caller = None
        if self._session is not None and self._ours is not None and started.leave(self._ours):
            self._session.stop()
        self._session, self._ours = None, None


def _reporting(
    context: Any, function: Callable[[Item], Answer], on_answer: Callable[[Answer], None]
) -> Callable[[Item], Answer]:
    from incoop.engine.running.early_results import arrivals

    arrived = arrivals(context, on_answer)

    def task(item: Item) -> Answer:
        answer = function(item)
        arrived.add([answer])
        return answer

    return task


@contextmanager
def _in_workers_with(context: Any, variables: Mapping[str, str]) -> Iterator[None]:
    """Jobs inside run in Python workers that were started with these variables."""
    before = {name: context.environment.get(name) for name in variables}
    context.environment.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                context.environment.pop(name, None)
            else:
                context.environment[name] = value


@contextmanager
def _described(context: Any, description: str) -> Iterator[None]:
    """What the Spark UI shows for the jobs inside."""
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(description)
    try:
        yield
    finally:
        context.setJobDescription(before)
