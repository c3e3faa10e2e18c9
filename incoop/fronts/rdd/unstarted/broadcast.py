"""Broadcast variables and accumulators of a context that is not running yet.

Contract: a broadcast's value is what PySpark gives on the driver, a copy made when the program broadcast it. A worker
of ours is told the file that holds the copy; once Spark runs, the same object is PySpark's own. Accumulators are
PySpark's. Neither is a handle that only workers of Spark's can be given: their classes are of this module.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pyspark import Accumulator, Broadcast, SparkContext

#: PySpark's own, before anything replaces it.
_INIT: Callable[..., None] = Broadcast.__init__


class UnstartedBroadcast(Broadcast[Any]):
    """What `sc.broadcast(value)` gives, as long as nobody needs Spark."""

    def __init__(self, context: SparkContext, value: Any, started: Callable[[SparkContext], SparkContext]) -> None:
        self._path = str(_folder() / f"broadcast{uuid.uuid4()}")
        self._sc, self._context, self._started = None, context, started
        self._destroyed = False
        with Path(self._path).open("wb") as file:
            self.dump(value, file)

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_SPARK:
            raise AttributeError(f"'Broadcast' object has no attribute {name!r}")
        self._started(self._context)
        return self.__dict__.get(name)

    def unpersist(self, blocking: bool = False) -> None:
        """No worker of Spark's has it."""

    def destroy(self, blocking: bool = False) -> None:
        self._refuse_destroyed()
        self._destroyed = True

    def __reduce__(self) -> Any:
        self._refuse_destroyed()
        return _from_file, (self._path,)

    def _refuse_destroyed(self) -> None:
        if self._destroyed and self._jbroadcast is not None:
            self._jbroadcast.value()  # raises what Spark raises

    def start(self, context: SparkContext) -> None:
        """Become PySpark's own."""
        value, kept, destroyed = self.load_from_path(self._path), self.__dict__.get("_value"), self._destroyed
        self.__dict__.clear()
        self.__class__ = Broadcast  # type: ignore[assignment]
        _INIT(self, context, value, context._pickled_broadcast_vars)
        if kept is not None:
            self._value = kept  # the program may hold it
        if destroyed:
            self.destroy()


#: What only Spark gives a broadcast variable.
_OF_SPARK = frozenset({"_jbroadcast", "_python_broadcast", "_pickle_registry"})


class UnstartedAccumulator(Accumulator[Any]):
    """What `sc.accumulator(…)` gives: PySpark's own needs no Spark."""


UnstartedBroadcast.__name__ = UnstartedBroadcast.__qualname__ = Broadcast.__name__
UnstartedAccumulator.__name__ = UnstartedAccumulator.__qualname__ = Accumulator.__name__


@cache
def _folder() -> Path:
    """Where values are, as long as this process runs; it has a name of Spark's, since broadcasts count by content."""
    folder = Path(tempfile.gettempdir(), f"spark-{uuid.uuid4()}")
    folder.mkdir(mode=0o700)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


#: What this process was told of broadcast variables, by file: a value is loaded once, as in a worker of Spark's.
_loaded: dict[str, Broadcast[Any]] = {}


def _from_file(path: str) -> Broadcast[Any]:
    if path not in _loaded:
        _loaded[path] = Broadcast(path=path)
    return _loaded[path]
