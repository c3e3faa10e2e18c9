"""A SparkContext that nobody has needed yet.

Contract: it is a SparkContext, and says what one says. A question that only a running Spark answers starts it, with
what was asked for, in the environment and folder in which the program made it; from then on the same object is
PySpark's own. Stopped before that, it is as PySpark leaves one that was stopped.
"""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkConf, SparkContext, SparkFiles
from pyspark.core.broadcast import BroadcastPickleRegistry
from pyspark.serializers import AutoBatchedSerializer, CPickleSerializer
from pyspark.traceback_utils import CallSite, first_spark_call

from incoop.engine.running.doors import closed_doors
from incoop.fronts.rdd.unstarted.asked import Asked
from incoop.fronts.rdd.unstarted.broadcast import UnstartedAccumulator, UnstartedBroadcast
from incoop.fronts.rdd.unstarted.settings import Command, SparkSettings

#: PySpark's own, before anything replaces them.
_INIT = SparkContext.__init__
_STOP = SparkContext.stop
_PARAMETERS = inspect.signature(_INIT)

#: What the program may give and Spark still be started later; anything else says how Spark is to be made.
_PLAIN_ARGUMENTS = frozenset({"self", "master", "appName", "conf"})

#: Levels that Spark accepts, in any case of letters.
_LOG_LEVELS = frozenset({"ALL", "DEBUG", "ERROR", "FATAL", "INFO", "OFF", "TRACE", "WARN"})

#: The name under which an unstarted context keeps what it will be started with.
_ASKED = "_incoop_asked"

#: The name under which any context keeps the folder that it was made in.
_FOLDER = "_incoop_folder"


class UnstartedContext(SparkContext):
    """What `SparkContext(…)` gives, as long as nobody needs Spark."""

    def __getattribute__(self, name: str) -> Any:
        if name in _KNOWN or name in object.__getattribute__(self, "__dict__") or _is_special(name):
            return object.__getattribute__(self, name)
        start(self)
        return getattr(self, name)

    @property
    def version(self) -> str:
        return pyspark.__version__

    @property
    def defaultParallelism(self) -> int:
        known = asked_of(self).settings.parallelism()
        return known if known is not None else started(self).defaultParallelism

    @property
    def defaultMinPartitions(self) -> int:
        return min(self.defaultParallelism, 2)

    def setLogLevel(self, logLevel: str) -> None:
        if isinstance(logLevel, str) and logLevel.upper() in _LOG_LEVELS:
            asked_of(self).log_level = logLevel
        else:
            started(self).setLogLevel(logLevel)  # which says what is wrong

    def broadcast(self, value: Any) -> Any:
        made = UnstartedBroadcast(self, value, started)
        asked_of(self).broadcasts.append(made)
        return made

    def accumulator(self, value: Any, accum_param: Any = None) -> Any:
        made = SparkContext.accumulator(self, value, accum_param)
        made.__class__ = UnstartedAccumulator
        return made


# PySpark says its name: so do programs that look at it.
UnstartedContext.__name__ = UnstartedContext.__qualname__ = SparkContext.__name__
UnstartedContext.__module__ = SparkContext.__module__

#: What is answered without Spark: PySpark's own code for it needs none, or what stands above does it.
_KNOWN = frozenset(
    {
        *("version", "defaultParallelism", "defaultMinPartitions", "setLogLevel", "broadcast", "accumulator"),
        *("textFile", "wholeTextFiles", "union", "parallelize", "range", "stop", "getOrCreate"),
        *("_active_spark_context", "_next_accum_id", "_lock", "_assert_on_driver", "PACKAGE_EXTENSIONS"),
    }
)


class WhenStarted:
    """A variable of the class SparkContext that a running Spark sets: who looks at it needs Spark."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, context: SparkContext | None, owner: type[SparkContext]) -> Any:
        active = SparkContext._active_spark_context
        if not is_unstarted(active):
            return None
        assert active is not None
        start(active)
        return getattr(SparkContext, self.name)


def has_jvm() -> bool:
    """Whether a JVM was started in this process; nothing is started to find out."""
    return not isinstance(vars(SparkContext)["_gateway"], WhenStarted | None)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def asked_of(context: SparkContext) -> Asked:
    """What an unstarted context will be started with."""
    asked: Asked = context.__dict__[_ASKED]
    return asked


def folder_of(context: SparkContext) -> str | None:
    """The folder that Spark is started in, if it is started for this context."""
    folder: str | None = context.__dict__.get(_FOLDER)
    return folder


def made_at_once(context: SparkContext) -> None:
    """Note where Spark is started for a context that it is started for at once."""
    if not has_jvm():
        context.__dict__[_FOLDER] = str(Path.cwd())


def is_unstarted(context: Any) -> bool:
    """Whether it is a context that is not running yet, and not stopped."""
    return type(context) is UnstartedContext


def unstarted(context: SparkContext, command: Command, *given: Any, **named: Any) -> bool:
    """Make an object the unstarted context that was asked for; False where Spark has to be started at once."""
    if type(context) is not SparkContext or has_jvm():
        return False
    if SparkContext._active_spark_context is not None:
        return False  # PySpark says that there is one
    try:
        bound = _PARAMETERS.bind(context, *given, **named)
    except TypeError:
        return False
    arguments = {name: value for name, value in bound.arguments.items() if name != "self"}
    if not {name for name, value in arguments.items() if value} <= _PLAIN_ARGUMENTS:
        return False
    settings = _settings(command, arguments)
    if settings is None:
        return False
    if arguments.get("conf") is not None:
        arguments["conf"] = SparkConf().setAll(arguments["conf"].getAll())  # the program may change its own
    asked = Asked(settings, arguments, callsite=_callsite())
    context.__dict__.update(
        {
            _ASKED: asked,
            "master": settings.master,
            "appName": settings.name,
            "sparkHome": settings.known.get("spark.home"),
            "pythonExec": os.environ.get("PYSPARK_PYTHON", "python3"),
            "pythonVer": f"{sys.version_info[0]}.{sys.version_info[1]}",
            "_callsite": asked.callsite,
            _FOLDER: asked.folder,
        }
    )
    context.__class__ = UnstartedContext
    SparkContext._active_spark_context = SparkFiles._sc = context
    return True


def _callsite() -> Any:
    return first_spark_call() or CallSite(None, None, None)  # type: ignore[no-untyped-call]


def _settings(command: Command, arguments: dict[str, Any]) -> SparkSettings | None:
    conf = arguments.get("conf")
    if conf is not None and (not isinstance(conf, SparkConf) or conf._jconf is not None):
        return None
    program = dict(conf.getAll()) if conf is not None else {}
    for name, key in (("master", "spark.master"), ("appName", "spark.app.name")):
        value = arguments.get(name)
        if value is not None and not isinstance(value, str):
            return None
        if value:
            program[key] = value
    return SparkSettings.of(command, program)


def start(context: SparkContext) -> None:
    """Start Spark for a context that is not running yet; no other is touched."""
    with SparkContext._lock:
        if not is_unstarted(context):
            return
        asked = asked_of(context)
        del context.__dict__[_ASKED]
        context.__class__ = SparkContext
        try:
            with asked.surroundings():
                _INIT(context, **_behind_closed_doors(asked))
        except BaseException:
            if not has_jvm():  # whoever asks next is told the same
                context.__dict__[_ASKED] = asked
                context.__class__ = UnstartedContext
            raise
        context._callsite = asked.callsite
        if asked.log_level is not None:
            context.setLogLevel(asked.log_level)
        for made in asked.broadcasts:
            made.start(context)


def _behind_closed_doors(asked: Asked) -> dict[str, Any]:
    """The arguments of the context, with what keeps others out of a Spark that we start."""
    if has_jvm():
        return asked.arguments
    conf = SparkConf(loadDefaults=False).setAll(list(closed_doors(asked.settings.master, asked.settings.known).items()))
    given = asked.arguments.get("conf")
    return {**asked.arguments, "conf": conf.setAll(given.getAll()) if given is not None else conf}


def started(context: SparkContext) -> SparkContext:
    """The same context, running."""
    start(context)
    return context


def stop(context: SparkContext) -> None:
    """Stop a context that was not started: nothing is left of it but what PySpark leaves."""
    asked = asked_of(context)
    del context.__dict__[_ASKED]
    context.__class__ = SparkContext
    context.__dict__.update(
        _jsc=None,
        _accumulatorServer=None,
        _conf=SparkConf(loadDefaults=False).setAll(list(asked.settings.known.items())),
        environment={"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")},
        serializer=AutoBatchedSerializer(CPickleSerializer()),  # type: ignore[no-untyped-call]
        _pickled_broadcast_vars=BroadcastPickleRegistry(),
        _python_includes=[],
        profiler_collector=None,
    )
    _STOP(context)
