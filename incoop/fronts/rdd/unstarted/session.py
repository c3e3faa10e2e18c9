"""A SparkSession that nobody has needed yet.

Contract: as for a context: it is a SparkSession, and becomes PySpark's own at the first question that needs Spark. Its
context may be started alone. `spark.read.text(path)` of local files needs no Spark, until more is asked than its RDD.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyspark
from pyspark import SparkContext
from pyspark.errors.exceptions.captured import install_exception_handler
from pyspark.sql import SparkSession
from pyspark.sql.context import SQLContext
from pyspark.sql.session import _monkey_patch_RDD

from incoop.fronts.rdd.unstarted.context import is_unstarted, start
from incoop.fronts.rdd.unstarted.text_frame import UnstartedReader

#: PySpark's own, before anything replaces them.
_INIT = SparkSession.__init__

#: The names under which an unstarted session keeps what it will be started with.
_OPTIONS, _LATER = "_incoop_options", "_incoop_later"


class UnstartedSession(SparkSession):
    """What `SparkSession.builder.getOrCreate()` gives, as long as nobody needs Spark."""

    def __getattribute__(self, name: str) -> Any:
        if name in _KNOWN or name in object.__getattribute__(self, "__dict__") or _is_special(name):
            return object.__getattribute__(self, name)
        start_session(self)
        return getattr(self, name)

    @property
    def version(self) -> str:
        return pyspark.__version__

    @property
    def read(self) -> Any:
        return UnstartedReader.of(self)


UnstartedSession.__name__ = UnstartedSession.__qualname__ = SparkSession.__name__
UnstartedSession.__module__ = SparkSession.__module__

#: What is answered without Spark.
_KNOWN = frozenset(
    {
        *("version", "read", "stop", "sparkContext", "builder", "Builder", "getActiveSession", "active"),
        *("_instantiatedSession", "_activeSession", "_should_update_active_session"),
    }
)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_unstarted_session(session: Any) -> bool:
    """Whether it is a session that is not running yet, and not stopped."""
    return type(session) is UnstartedSession


def unstarted_session(session: SparkSession, context: Any, *given: Any, **named: Any) -> bool:
    """Make an object an unstarted session of an unstarted context; False where Spark runs, or has to."""
    options = named.pop("options", {})
    if type(session) is not SparkSession or not is_unstarted(context) or given or named:
        return False
    session.__dict__.update({"_sc": context, _OPTIONS: dict(options), _LATER: []})
    session.__class__ = UnstartedSession
    _monkey_patch_RDD(session)
    install_exception_handler()
    if _is_stopped(SparkSession._instantiatedSession):
        SparkSession._instantiatedSession = SparkSession._activeSession = session
    return True


def _is_stopped(session: SparkSession | None) -> bool:
    return session is None or (not is_unstarted(session._sc) and session._sc._jsc is None)


def start_session(session: SparkSession) -> None:
    """Start Spark for a session that is not running yet; no other is touched."""
    with SparkContext._lock:
        if not is_unstarted_session(session):
            return
        first = SparkSession._instantiatedSession
        if first is not None and first is not session and first.__dict__.get("_sc") is session._sc:
            start_session(first)
        context, options, later = session._sc, session.__dict__.pop(_OPTIONS), session.__dict__.pop(_LATER)
        start(context)
        session.__class__ = SparkSession
        if first is session:
            # PySpark makes a session the default one where there is none.
            SparkSession._instantiatedSession = SparkSession._activeSession = None
        _INIT(session, context, options=options)
        for more in later:
            module = SparkSession._get_j_spark_session_module(session._jvm)
            module.applyModifiableSettings(session._jsparkSession, more)


def stop(original: Callable[[SparkSession], None]) -> Callable[[SparkSession], None]:
    """`SparkSession.stop`, which leaves of a session that was never started what PySpark leaves of one."""

    def stop(self: SparkSession) -> None:
        if not is_unstarted_session(self):
            original(self)
            return
        self._sc.stop()
        self.__class__ = SparkSession
        self.__dict__.update(_jsc=None, _jvm=None, _jsparkSession=None)
        SparkSession._instantiatedSession = SparkSession._activeSession = None
        SQLContext._instantiatedContext = None

    return stop


def get_or_create(original: Callable[[Any], SparkSession]) -> Callable[[Any], SparkSession]:
    """`SparkSession.builder.getOrCreate`, which gives an unstarted session as it is."""

    def getOrCreate(self: Any) -> SparkSession:
        session, context = SparkSession._instantiatedSession, SparkContext._active_spark_context
        if not is_unstarted(context) or _is_connect(self._options):
            if session is not None and is_unstarted_session(session) and not _is_stopped(session):
                start_session(session)  # its context runs
            return original(self)
        assert context is not None
        if session is None or _is_stopped(session):
            return SparkSession(context, options=self._options)
        session.__dict__[_LATER].append(dict(self._options))
        return session

    return getOrCreate


def _is_connect(options: Mapping[str, Any]) -> bool:
    return "spark.remote" in options or options.get("spark.api.mode", "classic") != "classic"


def create(original: Callable[[Any], SparkSession]) -> Callable[[Any], SparkSession]:
    """`SparkSession.builder.create`, another session beside one that is there."""

    def create(self: Any) -> SparkSession:
        if SparkSession._instantiatedSession is not None:
            start_session(SparkSession._instantiatedSession)
        return original(self)

    return create


def get_active_session(original: Callable[..., SparkSession | None]) -> Any:
    """`SparkSession.getActiveSession`: one that is not started is active all the same."""

    def getActiveSession(cls: type[SparkSession]) -> SparkSession | None:
        active, context = SparkSession._activeSession, SparkContext._active_spark_context
        if is_unstarted_session(active) and active is not None and active._sc is context:
            return active
        return None if is_unstarted(context) else original(cls)

    return classmethod(getActiveSession)
