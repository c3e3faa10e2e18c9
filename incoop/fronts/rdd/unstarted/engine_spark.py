"""The engine's view of a program's context: what Spark is to it, without starting it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from pyspark import SparkContext
from pyspark.sql import SparkSession

from incoop.engine.running.spark import Spark
from incoop.fronts.rdd.unstarted.context import is_unstarted, start


@dataclass(frozen=True, slots=True)
class _ContextOnly:
    """What the engine needs of a SparkSession; a program that has a SparkContext alone does not wait for Spark SQL."""

    sparkContext: SparkContext  # noqa: N815 - as PySpark


class ProgramSpark(Spark):
    """Runs tasks in a program's context, which belongs to the program: it is started when needed, and never stopped."""

    def __init__(self, context: SparkContext, master: str | None) -> None:
        """`master` is what the user asked for in so many words."""
        self._context = context
        super().__init__(None if is_unstarted(context) else self._view(), master)

    def _view(self) -> SparkSession:
        return cast(SparkSession, _ContextOnly(self._context))

    @property
    def session(self) -> SparkSession:
        """Started, if it was not, in the thread of the program, as PySpark does."""
        if self._session is None:
            start(self._context)
            self._session = self._view()
        return self._session

    def _found(self) -> SparkSession | None:
        if self._session is None and not is_unstarted(self._context):
            self._session = self._view()
        return self._session
