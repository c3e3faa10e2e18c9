"""Which host should run which task. Pure: no Spark, Redis or clock; time is counted, in whole microseconds.

Contract: every task is assigned once; no slot stays empty while any queue holds a task; where the queues are equally
long, every task runs where its memoized data lies. The same arguments give the same answer.

    (1) a task queues at the host that holds most of its input; a task that nobody holds, at the shortest queue;
    (2) a host takes its own tasks, those with the most memoized data first;
    (3) a host without any steals from the longest queue (in seconds); among equally long ones, and inside a queue, the
        task with the least memoized data;
    (4) of hosts that ask at the same time, owners are served before thieves.

Reference: Bhatotia et al., "Incoop", SoCC 2011, section 5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace
from typing import NamedTuple

#: Bytes a second that one task gets from another host, unless the caller knows better: gigabit Ethernet.
GIGABIT = 125_000_000

#: Times are whole microseconds, so that sums are exact and equal queues are equal.
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Task:
    """One task, as far as placing it goes."""

    #: Bytes of its input.
    size: int = 0
    #: How many of them each host holds.
    memoized: Mapping[str, int] = field(default_factory=dict)
    #: Seconds on a host of speed 1 that holds all of its input; from the memo entries of earlier runs.
    cost: float = 1.0


@dataclass(frozen=True, slots=True)
class Host:
    """A machine, or a part of one, with a cache of its own."""

    name: str
    #: Tasks that it runs at the same time.
    slots: int = 1
    #: Against other hosts; 0.2 takes five times as long.
    speed: float = 1.0

    def __post_init__(self) -> None:
        if self.slots < 1 or not self.speed > 0:
            raise ValueError(f"host {self.name}: slots and speed must be above zero, not {self.slots}, {self.speed}")


class Assignment(NamedTuple):
    """A task at its place, and when the plan expects it to run."""

    #: The task's place in the sequence that was given.
    task: int
    host: str
    #: Microseconds from the beginning.
    start: int
    end: int
    #: Whether another host's queue held it.
    stolen: bool = False


class Served(NamedTuple):
    """A host that asked, and the task it got."""

    host: int
    task: int
    stolen: bool
    #: Expected microseconds, there.
    duration: int


class _Queued(NamedTuple):
    """A task in a queue; the most memoized sorts first."""

    #: Bytes that the queue's host holds, negative.
    minus_held: int
    task: int
    #: Expected microseconds on the queue's host.
    duration: int


class Queues:
    """One queue a host. Hosts are named by their place in the sequence given."""

    def __init__(self, tasks: Sequence[Task], hosts: Sequence[Host], bandwidth: float = GIGABIT) -> None:
        if tasks and not hosts:
            raise ValueError("there are tasks, but no host to place them on")
        self._tasks, self._hosts, self._bandwidth = tasks, hosts, bandwidth
        self._number = {host.name: number for number, host in enumerate(hosts)}
        if len(self._number) < len(hosts):
            raise ValueError("two hosts have the same name")
        self._waiting: list[deque[_Queued]] = [deque() for _ in hosts]
        self._work = [0] * len(hosts)
        #: (-length, held bytes of the last task, host), longest first. Taking tasks only moves a queue back, so an
        #: item may be out of date in that direction until it comes to the front.
        self._longest: list[tuple[float, int, int]] = []
        self._gone: set[int] = set()
        self._left = 0
        self._put(range(len(tasks)))

    def __len__(self) -> int:
        """How many tasks wait."""
        return self._left

    def duration(self, task: int, host: int) -> int:
        """Expected microseconds of a task on a host, with moving what is not there."""
        it, where = self._tasks[task], self._hosts[host]
        missing = max(0, it.size - it.memoized.get(where.name, 0))
        return round(it.cost / where.speed * SECOND + missing / self._bandwidth * SECOND)

    def serve(self, asking: Sequence[int], steal: bool = True) -> list[Served]:
        """Give a task to each free slot that asks, as far as there are any; a host may ask for several slots."""
        served, thieves = [], []
        for host in asking:
            if self._waiting[host]:
                own = self._waiting[host].popleft()  # step (2)
                served.append(Served(host, self._take(host, own), False, own.duration))
            else:
                thieves.append(host)  # step (4)
        for host in thieves if steal else ():
            victim = self._find_longest()
            if victim is None:
                break
            task = self._take(victim, self._waiting[victim].pop())  # step (3)
            served.append(Served(host, task, True, self.duration(task, host)))
        return served

    def lose(self, host: int, running: Sequence[int] = ()) -> None:
        """Take a host out: its waiting tasks, and those that it was `running`, queue elsewhere."""
        self._gone.add(host)
        if len(self._gone) == len(self._hosts):
            raise ValueError("no host is left")
        orphans = [*(queued.task for queued in self._waiting[host]), *running]
        self._left -= len(self._waiting[host])
        self._waiting[host].clear()
        self._work[host] = 0
        self._put(orphans)

    def _put(self, tasks: Iterable[int]) -> None:
        """Queue tasks: step (1)."""
        unheld, touched = [], set()
        for task in tasks:
            host = self._holder(self._tasks[task])
            if host is None:
                unheld.append(task)
            else:
                self._add(host, task)
                touched.add(host)
        if unheld:
            # The longest first, so that the short ones level out what those leave.
            unheld.sort(key=lambda task: -self._tasks[task].cost)
            shortest = [(self._length(host), host) for host in range(len(self._hosts)) if host not in self._gone]
            heapify(shortest)
            for task in unheld:
                host = shortest[0][1]
                self._add(host, task)
                touched.add(host)
                heapreplace(shortest, (self._length(host), host))
        for host in touched:
            self._waiting[host] = deque(sorted(self._waiting[host]))
            heappush(self._longest, self._description(host))

    def _holder(self, task: Task) -> int | None:
        """The living host that holds most; of equals the one with the shortest queue."""
        best: tuple[int, float, int] | None = None
        for name, held in task.memoized.items():
            host = self._number.get(name)
            if host is not None and host not in self._gone and held > 0 and (best is None or held >= -best[0]):
                rank = (-held, self._length(host), host)
                if best is None or rank < best:
                    best = rank
        return best[2] if best is not None else None

    def _add(self, host: int, task: int) -> None:
        held = self._tasks[task].memoized.get(self._hosts[host].name, 0)
        duration = self.duration(task, host)
        self._waiting[host].append(_Queued(-held, task, duration))
        self._work[host] += duration
        self._left += 1

    def _take(self, host: int, queued: _Queued) -> int:
        self._work[host] -= queued.duration
        self._left -= 1
        return queued.task

    def _length(self, host: int) -> float:
        return self._work[host] / self._hosts[host].slots

    def _description(self, host: int) -> tuple[float, int, int]:
        return -self._length(host), -self._waiting[host][-1].minus_held, host

    def _find_longest(self) -> int | None:
        while self._longest:
            host = self._longest[0][2]
            if not self._waiting[host]:
                heappop(self._longest)
            elif self._longest[0] == (now := self._description(host)):
                return host
            else:
                heapreplace(self._longest, now)
        return None


def place(
    tasks: Sequence[Task], hosts: Sequence[Host], *, bandwidth: float = GIGABIT, steal: bool = True
) -> list[Assignment]:
    """Assign every task, in the order in which they are expected to start.

    Without `steal` a host runs its own queue and nothing else: strict affinity.

    Example:
        >>> held = [Task(10, {"ash": 10}), Task(10, {"ash": 10}), Task(10, {"oak": 10})]
        >>> [(each.task, each.host) for each in place(held, [Host("ash"), Host("oak")])]
        [(0, 'ash'), (2, 'oak'), (1, 'ash')]
    """
    queues = Queues(tasks, hosts, bandwidth)
    free = [(0, host) for host, it in enumerate(hosts) for _ in range(it.slots)]
    assigned: list[Assignment] = []
    while free and queues:
        now = free[0][0]
        asking = []
        while free and free[0][0] == now:
            asking.append(heappop(free)[1])
        for got in queues.serve(asking, steal):
            end = now + got.duration
            assigned.append(Assignment(got.task, hosts[got.host].name, now, end, got.stolen))
            heappush(free, (end, got.host))
    return assigned
