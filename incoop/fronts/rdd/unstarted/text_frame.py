"""`spark.read.text(path)` of local files, before Spark is started: a DataFrame whose RDD is all that was asked for.

Contract: anything but `read.text(paths)` and `.rdd` makes the reader, or the frame, PySpark's own, which starts Spark.
Paths that are not certainly local files of text are Spark's to read.
"""

from __future__ import annotations

from collections.abc import Callable
from glob import has_magic
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.readwriter import DataFrameReader

from incoop.fronts.rdd.hadoop_paths import local_files
from incoop.fronts.rdd.unstarted.context import folder_of

#: PySpark's own, before anything replaces them.
_INIT = DataFrameReader.__init__
_TEXT: Callable[..., Any] = DataFrameReader.text

#: The names under which objects keep what they are made of.
_SESSION, _PATHS = "_incoop_session", "_incoop_paths"


class UnstartedReader(DataFrameReader):
    """What `spark.read` gives."""

    def __getattribute__(self, name: str) -> Any:
        if name == "text" or (name.startswith("__") and name.endswith("__")):
            return object.__getattribute__(self, name)
        _start_reader(self)
        return getattr(self, name)

    @classmethod
    def of(cls, session: SparkSession) -> UnstartedReader:
        made = object.__new__(cls)
        made.__dict__[_SESSION] = session
        return made

    def text(self, paths: Any, *options: Any, **named: Any) -> Any:
        folder = folder_of(self.__dict__[_SESSION].sparkContext)
        listed = [paths] if isinstance(paths, str) else list(paths) if isinstance(paths, list) else []
        if options or named or not listed or not all(_is_text(path, folder) for path in listed):
            _start_reader(self)
            return self.text(paths, *options, **named)
        made = object.__new__(UnstartedFrame)
        made.__dict__.update({_SESSION: self.__dict__[_SESSION], _PATHS: listed})
        return made


def _is_text(path: Any, folder: str | None) -> bool:
    # A pattern may name folders, which may name columns.
    return isinstance(path, str) and "," not in path and not has_magic(path) and bool(local_files(path, folder))


def _start_reader(reader: DataFrameReader) -> None:
    if type(reader) is UnstartedReader:
        session = reader.__dict__.pop(_SESSION)
        reader.__class__ = DataFrameReader  # type: ignore[assignment]
        _INIT(reader, session)


class UnstartedFrame(DataFrame):
    """What `spark.read.text(paths)` gives."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("rdd", "sparkSession") or (name.startswith("__") and name.endswith("__")):
            return object.__getattribute__(self, name)
        _start_frame(self)
        return getattr(self, name)

    @property
    def sparkSession(self) -> SparkSession:
        session: SparkSession = self.__dict__[_SESSION]
        return session


def _start_frame(frame: DataFrame) -> None:
    """Read what it is made of by Spark."""
    if type(frame) is UnstartedFrame:
        reader = object.__new__(DataFrameReader)
        _INIT(reader, frame.__dict__[_SESSION])
        real = _TEXT(reader, frame.__dict__[_PATHS])
        del frame.__dict__[_SESSION]
        frame.__class__ = DataFrame  # type: ignore[assignment]
        frame.__dict__.update(real.__dict__)


for _ours, _theirs in ((UnstartedReader, DataFrameReader), (UnstartedFrame, DataFrame)):
    _ours.__name__, _ours.__qualname__, _ours.__module__ = _theirs.__name__, _theirs.__qualname__, _theirs.__module__
