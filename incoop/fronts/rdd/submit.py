"""Run an unmodified PySpark program: Spark's entry points give memoized RDDs while it runs.

Contract: the program is `__main__`, with `sys.argv` and `sys.path` as spark-submit sets them; its exit code and its
traceback are its own. What Spark's classes were before is restored afterwards.
"""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pyspark import RDD, SparkContext
from pyspark.sql import Row, SparkSession
from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.readwriter import DataFrameReader

from incoop.fronts.rdd.memo_rdd import MemoRDD
from incoop.fronts.rdd.program import RddProgram
from incoop.fronts.rdd.steps import NarrowStep, StepKind
from incoop.job_session import JobSession

#: What a DataFrame that `spark.read.text` made remembers.
_PATHS = "_incoop_paths"
_MADE = "_incoop_rdd"


@dataclass(frozen=True, slots=True)
class _ContextOnly:
    """What the engine needs of a SparkSession; a program that has a SparkContext alone does not wait for Spark SQL."""

    sparkContext: SparkContext  # noqa: N815 - as PySpark


class Programs:
    """One memoized program for each SparkContext that a script makes, opened when it first reads something."""

    def __init__(self, name: str, **options: Any) -> None:
        self.name, self._options = name, options
        self._open: dict[SparkContext, RddProgram] = {}
        #: Those that are closed, too.
        self.all: list[RddProgram] = []

    def of(self, context: SparkContext) -> RddProgram:
        if context not in self._open:
            session = JobSession(spark=cast(SparkSession, _ContextOnly(context)), **self._options)
            # The second context of a script has names of its own.
            name = self.name if not self.all else f"{self.name} ({len(self.all) + 1})"
            self._open[context] = RddProgram(session, name)
            self.all.append(self._open[context])
        return self._open[context]

    def close(self, context: SparkContext) -> None:
        program = self._open.pop(context, None)
        if program is not None:
            program.session.close()

    def close_all(self) -> None:
        for context in list(self._open):
            self.close(context)


@contextmanager
def patched(programs: Programs) -> Iterator[None]:
    """Let Spark's entry points give memoized RDDs."""
    stop, read_text = SparkContext.stop, DataFrameReader.text
    union_all, union_two = SparkContext.union, RDD.union
    plain_rdd: Callable[[DataFrame], RDD[Any]] = vars(DataFrame)["rdd"].func

    def text_file(
        self: SparkContext,
        name: str,
        minPartitions: int | None = None,
        use_unicode: bool = True,
    ) -> RDD[Any]:
        return programs.of(self).text_file(name, minPartitions, use_unicode)

    def whole_text_files(
        self: SparkContext,
        path: str,
        minPartitions: int | None = None,
        use_unicode: bool = True,
    ) -> RDD[Any]:
        return programs.of(self).whole_text_files(path, minPartitions, use_unicode)

    def union(self: SparkContext, rdds: list[RDD[Any]]) -> RDD[Any]:
        return programs.of(self).union(rdds) if any(isinstance(rdd, MemoRDD) for rdd in rdds) else union_all(self, rdds)

    def union_with(self: RDD[Any], other: RDD[Any]) -> RDD[Any]:
        # A plain RDD joined with a memoized one comes here, too: PySpark's joins begin with a union.
        return other.program.union([self, other]) if isinstance(other, MemoRDD) else union_two(self, other)

    def stop_both(self: SparkContext) -> None:
        programs.close(self)
        stop(self)

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
                made = _rows_of_text(programs.of(self.sparkSession._sc), self, paths, plain_rdd)
            self.__dict__[_MADE] = made
        return cast(RDD[Any], made)

    replacements: list[tuple[Any, str, Any]] = [
        (SparkContext, "textFile", text_file),
        (SparkContext, "wholeTextFiles", whole_text_files),
        (SparkContext, "union", union),
        (RDD, "union", union_with),
        (SparkContext, "stop", stop_both),
        (DataFrameReader, "text", text),
        (DataFrameReader, "option", _remembering(DataFrameReader.option)),
        (DataFrameReader, "options", _remembering(DataFrameReader.options)),
        (DataFrameReader, "schema", _remembering(DataFrameReader.schema)),
        (DataFrame, "rdd", property(rdd)),
    ]
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in replacements]
    for owner, name, function in replacements:
        setattr(owner, name, function)
    try:
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


def _remembering(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a reader, after which it may read text in another way than line by line."""

    def remembering(self: DataFrameReader, *arguments: Any, **named: Any) -> Any:
        self._incoop_options = True  # type: ignore[attr-defined]
        return method(self, *arguments, **named)

    return remembering


def _row(line: str) -> Row:
    return Row(value=line)


def _rows_of_text(
    program: RddProgram, frame: DataFrame, paths: Sequence[str], plain_rdd: Callable[[DataFrame], RDD[Any]]
) -> RDD[Any]:
    return program.text_file(
        ",".join(paths), steps=(NarrowStep(StepKind.MAP, _row),), plain=lambda: plain_rdd(frame).map(_value)
    )


def _value(row: Row) -> Any:
    return row[0]


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Run a file as `__main__`; its exit code."""
    source = Path(script).read_bytes()
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__)
    argv, path, main = sys.argv, sys.path[:], sys.modules["__main__"]
    sys.argv = [script, *arguments]
    sys.path[0:1] = [str(Path(script).resolve().parent)]
    sys.modules["__main__"] = module
    try:
        exec(compile(source, script, "exec"), module.__dict__)
    except SystemExit as ended:
        return _exit_code(ended)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Without the frame of this function, the traceback is the one that Python itself prints.
        trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error.with_traceback(trace), trace)
        return 1
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = argv, path, main
    return 0


def _exit_code(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    if isinstance(ended.code, int):
        return ended.code & 0xFF
    sys.stderr.write(f"{ended.code}\n")
    return 1


def stop_spark() -> None:
    """Stop what a program left running."""
    context = SparkContext._active_spark_context
    if context is not None:
        context.stop()
