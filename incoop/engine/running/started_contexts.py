"""Which Spark contexts are ours to stop, and when: several sessions in one process share one.

Contract: a context that was there before any session of ours is never stopped; one that we started is stopped by the
last session that uses it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext


class StartedContexts:
    """The contexts that sessions of this process started, and how many use each: the last one stops it."""

    def __init__(self) -> None:
        self._users: dict[SparkContext, int] = {}
        self._lock = threading.Lock()

    @contextmanager
    def whoever_starts(self) -> Iterator[Callable[[SparkContext], None]]:
        """Inside, a context is got that perhaps was there, and told: a new one is ours."""
        from pyspark import SparkContext

        with self._lock:
            there = SparkContext._active_spark_context

            def note(context: SparkContext) -> None:
                if context is not there:
                    self._users[context] = 0

            yield note

    def join(self, context: SparkContext) -> bool:
        """Use a context; whether it is one of ours."""
        with self._lock:
            if context not in self._users:
                return False
            self._users[context] += 1
            return True

    def leave(self, context: SparkContext) -> bool:
        """Use it no more; whether it is to be stopped."""
        with self._lock:
            self._users[context] -= 1
            if self._users[context]:
                return False
            del self._users[context]
            return True


#: Those of this process.
started = StartedContexts()
