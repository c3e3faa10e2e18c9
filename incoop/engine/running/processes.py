"""Worker processes of our own: for work that is done before Spark would have started.

Contract: `run` gives the answers of `function` for all items, in their order. Workers are as isolated as Spark's:
forked from a process that never held user code (zygote.py), kept for the next job while that is for the same place, and
gone when a task fails, on Ctrl-C, and when this process ends, however it does.
"""

from __future__ import annotations

import contextlib
import pickle
import selectors
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from incoop.code import Workplaces
from incoop.engine.running.messages import receive, send
from incoop.engine.running.nearby import cores
from incoop.engine.running.progress import counted_progress
from incoop.engine.running.worker_failed import WorkerFailed, ended_how
from incoop.engine.running.zygote_handle import Worker, Zygote, take_early

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Processes:
    """The worker processes of one session."""

    def __init__(self, preload: Sequence[str] = ()) -> None:
        #: Modules of ours that every worker has from the start.
        self._preload = tuple(preload)
        self._zygote: Zygote | None = None
        self._idle: list[Worker] = []
        self._place: Mapping[str, str] = {}
        self._starting, self._running = threading.Lock(), threading.Lock()
        #: Which workers hold which versions of the user's modules.
        self.workplaces = Workplaces()

    @property
    def cores(self) -> int:
        """How many tasks run at once."""
        return cores()

    def start(self) -> None:
        """Begin to start, if nobody has: it is done in the background."""
        with self._starting:
            if self._zygote is None or not self._zygote.lives:
                self._idle = []
                self._zygote = take_early(self._preload) or Zygote(self._preload)

    def run(
        self,
        description: str,
        function: Callable[[Item], Answer],
        items: Sequence[Item],
        on_answer: Callable[[Answer], None] | None = None,
        place: Mapping[str, str] | None = None,
    ) -> list[Answer]:
        """One task an item; `on_answer` sees each answer when its task is done.

        `place` names the workers that are to run them (`incoop.code.workplaces`).
        """
        with self._running, counted_progress(description, len(items)) as did:
            self.start()
            if self._place != (place or {}):
                self._dismiss(self._idle)
                self._place = place or {}
            job = _Job(self, description, _packed(function), items)
            try:
                for answer in job.answers():
                    did()
                    if on_answer is not None:
                        on_answer(answer)
            except WorkerFailed:  # those that still work, work on what nobody waits for any more
                for worker in job.busy:
                    worker.kill()
                raise
            except BaseException:  # of Ctrl-C perhaps, in the middle of a message
                self.stop()
                raise
            return job.in_order()

    def hired(self) -> Worker:
        """A worker that waits for work."""
        self.zygote.hear_all()
        while self._idle:
            worker = self._idle.pop()
            if self.zygote.status(worker.pid) is None:
                return worker
            worker.channel.close()
        return self.zygote.fork()

    def released(self, worker: Worker) -> None:
        self._idle.append(worker)

    @property
    def zygote(self) -> Zygote:
        assert self._zygote is not None
        return self._zygote

    def _dismiss(self, workers: list[Worker]) -> None:
        while workers:
            workers.pop().channel.close()  # at which it ends

    def stop(self) -> None:
        """End all processes."""
        with self._starting:
            zygote, self._zygote = self._zygote or take_early(self._preload), None
            self._dismiss(self._idle)
        if zygote is not None:
            zygote.stop()


class _Job:
    """The tasks of one call of `run`, on their way."""

    def __init__(self, processes: Processes, description: str, function: bytes, items: Sequence[Any]) -> None:
        self._processes, self._zygote = processes, processes.zygote
        self._description, self._function, self._items = description, function, items
        self._answers: dict[int, Any] = {}
        self._next = 0
        #: What each worker is at.
        self.busy: dict[Worker, int] = {}

    def in_order(self) -> list[Any]:
        return [self._answers[number] for number in range(len(self._items))]

    def answers(self) -> Iterator[Any]:
        """Each answer when it is there."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._zygote.control, selectors.EVENT_READ)
            while len(self.busy) < self._processes.cores and self._next < len(self._items):
                self._begin(ready)
            while self.busy:
                for key, _ in ready.select():
                    if key.data is None:
                        self._zygote.hear()
                        dead = [worker for worker in self.busy if self._zygote.status(worker.pid) is not None]
                    else:
                        dead = [key.data]
                    for worker in dead:
                        if worker in self.busy:
                            yield self._ended(worker, ready)

    def _begin(self, ready: selectors.BaseSelector) -> None:
        worker = self._processes.hired()
        self.busy[worker] = self._next
        ready.register(worker.channel, selectors.EVENT_READ, worker)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end is told when it is listened to
            send(worker.channel, b"f", self._function)
            self._give(worker)

    def _give(self, worker: Worker) -> None:
        self.busy[worker], self._next = self._next, self._next + 1
        send(worker.channel, b"i", _packed(self._items[self.busy[worker]]))

    def _ended(self, worker: Worker, ready: selectors.BaseSelector) -> Any:
        """A task is done, one way or another: its answer."""
        gone = self._zygote.status(worker.pid) is not None
        # Of a worker that is gone, what it said last; someone else may hold its end of the socket.
        message = receive(worker.channel, socket.MSG_DONTWAIT if gone else 0)
        if message is None:
            status = self._zygote.wait_for(worker.pid)
            raise WorkerFailed(self._description, ended_how(status) if status is not None else "stopped answering")
        if message[:1] == b"r":
            trace = message[1:].decode()
            raise WorkerFailed(self._description, "could not go on", trace)
        number = self.busy[worker]
        self._answers[number] = answer = pickle.loads(memoryview(message)[1:])
        if self._next < len(self._items):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._give(worker)
        else:
            del self.busy[worker]
            ready.unregister(worker.channel)
            self._processes.released(worker)
        return answer


def _packed(value: Any) -> bytes:
    """As Spark packs functions and items: what a block is made by may be a function of the program's."""
    from incoop.code import light_cloudpickle

    return light_cloudpickle.dumps(value)
