"""Small work whose better part other programs do, in threads of this process rather than in a Spark job.

Contract: answers come in the order of the items. On Ctrl-C, or when one fails, what the threads wait for is ended.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from incoop.engine.running.counters import counting_apart

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def cores() -> int:
    """How many programs this machine runs at once."""
    return os.cpu_count() or 1


def run_nearby(
    function: Callable[[Item], Answer], items: Sequence[Item], on_answer: Callable[[Answer], object] = lambda _: None
) -> list[Answer]:
    """Call the function for every item; `on_answer` sees each answer as soon as those before it are there."""
    work = _Work()

    def call(item: Item) -> Answer:
        _own_work.set(work)
        with counting_apart():
            return function(item)

    # More threads than cores: while a program reads, the one before it ends.
    with ThreadPoolExecutor(2 * cores(), thread_name_prefix="incoop-nearby") as threads:
        answers = [threads.submit(call, item) for item in items]
        try:
            done = []
            for answer in answers:
                done.append(answer.result())
                on_answer(done[-1])
            return done
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            work.end()
            raise


@contextmanager
def ended_on_failure(end: Callable[[], object]) -> Iterator[None]:
    """While this goes on, `end` is called when work beside it fails, or the user interrupts it."""
    work = _own_work.get()
    if work is None:
        yield
        return
    work.begin(end)
    try:
        yield
    finally:
        work.forget(end)


class _Work:
    """What the threads of one call wait for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._endings: list[Callable[[], object]] = []
        self._ended = False

    def begin(self, end: Callable[[], object]) -> None:
        with self._lock:
            self._endings.append(end)
            late = self._ended
        if late:
            end()

    def forget(self, end: Callable[[], object]) -> None:
        with self._lock:
            self._endings.remove(end)

    def end(self) -> None:
        """End all, also what begins from now on."""
        with self._lock:
            self._ended = True
            endings = list(self._endings)
        for end in endings:
            end()


#: Of the thread that asks.
_own_work: ContextVar[_Work | None] = ContextVar("_own_work", default=None)
