"""Spark's entry points, replaced while a program runs: they give memoized RDDs, and do not start Spark by themselves.

Contract: what Spark's classes were before is restored afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

from pyspark import RDD, SparkContext
from pyspark.sql import Row, SparkSession
from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.readwriter import DataFrameReader

from incoop.fronts.rdd.memo_rdd import MemoRDD
from incoop.fronts.rdd.submit import Programs
from incoop.fronts.rdd.unstarted import context as unstarted_context
from incoop.fronts.rdd.unstarted import session as unstarted_session
from incoop.fronts.rdd.unstarted.context import WhenStarted, is_unstarted
from incoop.fronts.rdd.unstarted.local_data import parallelized

#: What a DataFrame that `spark.read.text` made remembers.
_PATHS = "_incoop_paths"
_MADE = "_incoop_rdd"

Replacement = tuple[Any, str, Any]


@contextmanager
def patched(programs: Programs) -> Iterator[None]:
    """Let Spark's entry points give memoized RDDs."""
    replacements = [*_unstarted(programs), *_memoized(programs), *_frames(programs)]
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in replacements]
    for owner, name, function in replacements:
        setattr(owner, name, function)
    try:
        yield
    finally:
        for owner, name, function in before:
            if not isinstance(vars(owner)[name], WhenStarted) and name in _OF_THE_JVM:
                continue  # Spark was started
            setattr(owner, name, function)


#: Variables of SparkContext that are set when Spark starts.
_OF_THE_JVM = ("_gateway", "_jvm")


def _unstarted(programs: Programs) -> Iterator[Replacement]:
    """Contexts and sessions that start when they are needed."""
    make_context, make_session = SparkContext.__init__, SparkSession.__init__

    @wraps(make_context)
    def context(self: SparkContext, *given: Any, **named: Any) -> None:
        if not unstarted_context.unstarted(self, programs.command, *given, **named):
            unstarted_context.made_at_once(self)
            make_context(self, *given, **named)

    @wraps(make_session)
    def session(self: SparkSession, sparkContext: SparkContext, *given: Any, **named: Any) -> None:
        if not unstarted_session.unstarted_session(self, sparkContext, *given, **named):
            make_session(self, sparkContext, *given, **named)

    yield SparkContext, "__init__", context
    yield SparkSession, "__init__", session
    if vars(SparkContext)["_gateway"] is None:
        for name in _OF_THE_JVM:
            yield SparkContext, name, WhenStarted(name)
    yield SparkSession, "stop", unstarted_session.stop(SparkSession.stop)
    builder = SparkSession.Builder
    yield builder, "getOrCreate", unstarted_session.get_or_create(builder.getOrCreate)
    yield builder, "create", unstarted_session.create(builder.create)
    active = vars(SparkSession)["getActiveSession"].__func__
    yield SparkSession, "getActiveSession", unstarted_session.get_active_session(active)


def _memoized(programs: Programs) -> Iterator[Replacement]:
    """What makes RDDs."""
    stop, union_all, union_two = SparkContext.stop, SparkContext.union, RDD.union
    plain_text_file, plain_whole_files = SparkContext.textFile, SparkContext.wholeTextFiles
    plain_data = SparkContext.parallelize

    def text_file(
        self: SparkContext, name: str, minPartitions: int | None = None, use_unicode: bool = True
    ) -> RDD[Any]:
        if _is_stopped(self):
            return plain_text_file(self, name, minPartitions, use_unicode)  # which says so
        return programs.of(self).text_file(name, minPartitions, use_unicode)

    def whole_text_files(
        self: SparkContext, path: str, minPartitions: int | None = None, use_unicode: bool = True
    ) -> RDD[Any]:
        if _is_stopped(self):
            return plain_whole_files(self, path, minPartitions, use_unicode)
        return programs.of(self).whole_text_files(path, minPartitions, use_unicode)

    def parallelize(self: SparkContext, c: Iterable[Any], numSlices: int | None = None) -> RDD[Any]:
        # The engine and PySpark itself have Spark compute what they give it.
        caller = sys._getframe(1).f_globals.get("__name__", "").partition(".")[0]
        if caller in ("incoop", "pyspark") or _is_stopped(self):
            return plain_data(self, c, numSlices)
        return parallelized(self, c, numSlices)

    def numbers(
        self: SparkContext, start: int, end: int | None = None, step: int = 1, numSlices: int | None = None
    ) -> RDD[Any]:
        return parallelized(self, range(0, start, step) if end is None else range(start, end, step), numSlices)

    def union(self: SparkContext, rdds: list[RDD[Any]]) -> RDD[Any]:
        return programs.of(self).union(rdds) if any(isinstance(rdd, MemoRDD) for rdd in rdds) else union_all(self, rdds)

    def union_with(self: RDD[Any], other: RDD[Any]) -> RDD[Any]:
        # A plain RDD joined with a memoized one comes here, too: PySpark's joins begin with a union.
        return other.program.union([self, other]) if isinstance(other, MemoRDD) else union_two(self, other)

    def stop_both(self: SparkContext) -> None:
        programs.close(self)
        if is_unstarted(self):
            unstarted_context.stop(self)
        else:
            stop(self)

    yield SparkContext, "textFile", text_file
    yield SparkContext, "wholeTextFiles", whole_text_files
    yield SparkContext, "parallelize", parallelize
    yield SparkContext, "range", numbers
    yield SparkContext, "union", union
    yield RDD, "union", union_with
    yield SparkContext, "stop", stop_both


def _is_stopped(context: SparkContext) -> bool:
    return not is_unstarted(context) and context._jsc is None


def _frames(programs: Programs) -> Iterator[Replacement]:
    """Lines of text as a DataFrame, whose RDD is memoized."""
    read_text = DataFrameReader.text
    plain_rdd: Callable[[DataFrame], RDD[Any]] = vars(DataFrame)["rdd"].func

    def text(self: DataFrameReader, paths: Any, *options: Any, **named: Any) -> Any:
        by_lines = not options and not named and not getattr(self, "_incoop_options", False)
        frame = read_text(self, paths, *options, **named)
        if by_lines:
            frame.__dict__[_PATHS] = [paths] if isinstance(paths, str) else list(paths)
        return frame

    def rdd(self: DataFrame) -> RDD[Any]:
        made = self.__dict__.get(_MADE)
        if made is None:
            paths = self.__dict__.get(_PATHS)
            if paths is None or any("," in path for path in paths):
                made = plain_rdd(self)
            else:
                program = programs.of(self.sparkSession.sparkContext)
                made = program.rows_of_text(paths, lambda: plain_rdd(self).map(_value))
            self.__dict__[_MADE] = made
        return cast(RDD[Any], made)

    yield DataFrameReader, "text", text
    for name in ("option", "options", "schema"):
        yield DataFrameReader, name, _remembering(getattr(DataFrameReader, name))
    yield DataFrame, "rdd", property(rdd)


def _remembering(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a reader, after which it may read text in another way than line by line."""

    def remembering(self: DataFrameReader, *arguments: Any, **named: Any) -> Any:
        self._incoop_options = True  # type: ignore[attr-defined]
        return method(self, *arguments, **named)

    return remembering


def _value(row: Row) -> Any:
    return row[0]
