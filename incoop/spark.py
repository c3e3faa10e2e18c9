"""The SparkSession that a run works in: the user's own, or one started when first needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
        self._given = given is not None
        self._master = master

    @property
    def session(self) -> SparkSession:
        if self._session is None:
            from pyspark.sql import SparkSession

            # Workers must run the Python that runs us, whatever PATH says.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            builder = SparkSession.builder.appName("incoop")
            for key, value in _QUIET.items():
                builder = builder.config(key, value)
            if self._master or "SPARK_MASTER" not in os.environ:
                builder = builder.master(self._master or "local[*]")
            self._session = builder.getOrCreate()
        return self._session

    def start(self) -> None:
        """Start Spark, if nobody has."""
        assert self.session is not None

    @property
    def cores(self) -> int:
        """How many tasks run at once."""
        return int(self.session.sparkContext.defaultParallelism)

    def run(self, description: str, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Run one Spark task an item."""
        context = self.session.sparkContext
        with _described(context, description):
            return context.parallelize(items, len(items)).map(function).collect()

    def stop(self) -> None:
        """Stop what we started; a session that was given stays."""
        if self._session is not None and not self._given:
            self._session.stop()
        self._session = None


@contextmanager
def _described(context: Any, description: str) -> Iterator[None]:
    """What the Spark UI shows for the jobs inside."""
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(description)
    try:
        yield
    finally:
        context.setJobDescription(before)
