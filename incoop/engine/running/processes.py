"""Worker processes of our own: for work that is done before Spark would have started.

Contract: `run` gives the answers of `function` for all items, in their order. Workers are as isolated as Spark's:
forked from a process that never held user code (zygote.py), kept for the next job while that is for the same place, and
gone when a task fails, on Ctrl-C, and when this process ends, however it does. A worker that is lost before it has its
item (killed while it waited) is no failure of the task: another one gets it, once.

Each worker has a seat: in one job after the other it is given the items of the same places first, of which it has at
hand what it read (contraction/parts/at_hand.py). No worker waits for that.
"""

from __future__ import annotations

import contextlib
import pickle
import selectors
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

from incoop.code import Workplaces
from incoop.engine.running.messages import receive, send
from incoop.engine.running.nearby import cores
from incoop.engine.running.progress import counted_progress
from incoop.engine.running.worker_failed import WorkerFailed, ended_how
from incoop.engine.running.zygote_handle import ProcessesFailed, Worker, Zygote, take_early

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
        """A worker that waits for work; it may be gone since, which is found out when it is given some."""
        self.zygote.hear_all()
        while self._idle:
            worker = self._idle.pop(0)
            if self.zygote.status(worker.pid) is None:
                return worker
            worker.channel.close()
        return self.zygote.fork()

    def released(self, worker: Worker) -> None:
        self._idle.append(worker)
        self._idle.sort(key=lambda each: each.seat)

    def fresh(self, most: int) -> list[Worker]:
        """Up to so many workers that hold no user code, if they can be had at once; they are the caller's."""
        if not self._running.acquire(blocking=False):  # the zygote is being listened to elsewhere
            return []
        try:
            if self._zygote is None or not self._zygote.lives:
                return []
            self._zygote.hear_all()
            return [self._zygote.fork() for _ in range(most)] if self._zygote.ready else []
        except ProcessesFailed:  # said where there is no way without
            return []
        finally:
            self._running.release()

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
        #: The items that nobody has, by number.
        self._waiting = deque(range(len(items)))
        #: What each worker is at.
        self.busy: dict[Worker, int] = {}
        #: The workers that said that they have their item, and the items whose first worker did not.
        self._begun: set[Worker] = set()
        self._given_again: set[int] = set()

    def in_order(self) -> list[Any]:
        return [self._answers[number] for number in range(len(self._items))]

    def answers(self) -> Iterator[Any]:
        """Each answer when it is there."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._zygote.control, selectors.EVENT_READ)
            while len(self.busy) < self._processes.cores and self._waiting:
                self._begin(self._processes.hired(), ready)
            while self.busy:
                for key, _ in ready.select():
                    if key.data is None:
                        # Not the next message: a worker that was lost, in this same round, may have taken that in.
                        self._zygote.hear_all()
                        speaking = [worker for worker in self.busy if self._zygote.status(worker.pid) is not None]
                    else:
                        speaking = [key.data]
                    for worker in speaking:
                        if worker in self.busy:
                            yield from self._heard(worker, ready)

    def _begin(self, worker: Worker, ready: selectors.BaseSelector) -> None:
        ready.register(worker.channel, selectors.EVENT_READ, worker)
        taken = {each.seat for each in self.busy}
        if worker.seat in taken or worker.seat >= self._processes.cores:
            worker.seat = next(seat for seat in count() if seat not in taken)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end is told when it is listened to
            self.busy[worker] = self._next(worker.seat)
            send(worker.channel, b"f", self._function)
            self._give(worker)

    def _next(self, seat: int) -> int:
        """The item for a worker: the first that is waiting of those of its seat, else the first of all."""
        cores = self._processes.cores
        number = next((number for number in self._waiting if number % cores == seat), self._waiting[0])
        self._waiting.remove(number)
        return number

    def _give(self, worker: Worker) -> None:
        send(worker.channel, b"i", _packed(self._items[self.busy[worker]]))

    def _heard(self, worker: Worker, ready: selectors.BaseSelector) -> Iterator[Any]:
        """What a worker says, or that it is gone: the answer to its task, if that is there."""
        gone = self._zygote.status(worker.pid) is not None
        # Of a worker that is gone, what it said last; someone else may hold its end of the socket.
        message = receive(worker.channel, socket.MSG_DONTWAIT if gone else 0)
        if message is not None and message[:1] == b"b":
            self._begun.add(worker)
            if gone:
                yield from self._heard(worker, ready)
        elif message is None:
            self._lost(worker, ready)
        elif message[:1] == b"r":
            raise WorkerFailed(self._description, "could not go on", message[1:].decode())
        else:
            self._answers[self.busy[worker]] = answer = pickle.loads(memoryview(message)[1:])
            self._begun.discard(worker)
            if self._waiting and not gone:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.busy[worker] = self._next(worker.seat)
                    self._give(worker)
            else:
                self._part_from(worker, ready)
                self._processes.released(worker)
                if self._waiting:
                    self._begin(self._processes.hired(), ready)
            yield answer

    def _lost(self, worker: Worker, ready: selectors.BaseSelector) -> None:
        """A worker is gone without an answer: the end of the job, unless it never had its item."""
        status, number = self._zygote.wait_for(worker.pid), self.busy[worker]
        if status is None or worker in self._begun or number in self._given_again:
            raise WorkerFailed(self._description, ended_how(status) if status is not None else "stopped answering")
        self._given_again.add(number)
        self._part_from(worker, ready)
        worker.channel.close()
        self._waiting.appendleft(number)
        self._begin(self._zygote.fork(), ready)  # those that wait may have been killed with it

    def _part_from(self, worker: Worker, ready: selectors.BaseSelector) -> None:
        del self.busy[worker]
        ready.unregister(worker.channel)


def _packed(value: Any) -> bytes:
    """As Spark packs functions and items: what a block is made by may be a function of the program's."""
    from incoop.code import light_cloudpickle

    return light_cloudpickle.dumps(value)
