"""A discrete-event simulation of a cluster that runs an incremental update, under three policies.

Contract: the decisions are those of `incoop.scheduler.placement`, the code that places real tasks; only the cluster is
simulated. The same arguments give the same outcome. What is modelled:

    hosts     map and reduce slots; a disk and a network card (in and out apart), each serving requests in order;
              a straggler computes and reads its disk more slowly; a failed host is gone, its tasks begin again
    map       a task reads its chunk where it lies (every policy knows that, as Hadoop does), then computes
    contract  begins when all maps are done; a task reads its memoized input from its own disk or from the shared store,
              and its share of the fresh map output over the network, then computes; what came over the network is
              spooled: it passes the task's own disk too
    store     the shared store of packs and chunks lies on the hosts' own disks, two copies of everything

What is not: racks, memory, page cache, writing of results, time to start tasks, and speculative execution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from random import Random

from incoop.scheduler.placement import GIGABIT, Host, Queues, Task


class Policy(StrEnum):
    """How contract tasks are placed."""

    #: Spread evenly, any free slot takes the next: what Hadoop and Spark do when they know no location.
    DEFAULT = "default"
    #: Only where the memoized data lies.
    STRICT = "strict affinity"
    STEALING = "affinity with stealing"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The machines. The defaults are those of the Incoop paper (section 7.3), as far as it gives them."""

    hosts: int = 19
    map_slots: int = 2
    reduce_slots: int = 2
    #: Bytes a second of each host's network card, in each direction.
    network: float = GIGABIT
    #: Bytes a second of each host's disk. Not in the paper: a SATA disk of that time.
    disk: float = 80e6
    #: How often fetched bytes pass the fetching host's disk. Hadoop's copy phase writes them and its merge reads them
    #: back; a node cache of ours writes them only.
    spool: int = 2
    #: Speed of hosts that are not as fast as the others.
    speeds: Mapping[int, float] = field(default_factory=dict)
    #: When hosts fail, in seconds.
    failures: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SimulatedTask:
    """One simulated task."""

    #: The host that holds its stored input: it has the chunk, or the memoized results in its cache.
    home: int
    #: Bytes of stored input: a chunk, or memoized results.
    stored: int
    #: Bytes of fresh map output, from everywhere.
    fresh: int
    #: Seconds of computation on a host of speed 1.
    cost: float


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """What a simulated run came to."""

    #: Seconds until the last task ended.
    makespan: float
    #: Stored bytes that contract tasks read from the shared store.
    moved: int
    #: Stored bytes that contract tasks read.
    read: int
    #: Share of the reduce slots' time, from the first contract task to the end, in which they had no task.
    idle: float
    #: Contract tasks that ran elsewhere than in the queue they were put in.
    stolen: int
    #: Tasks that began again because their host failed.
    repeated: int


class Simulation:
    """One run. Times are seconds."""

    def __init__(self, cluster: Cluster, policy: Policy, seed: int = 1) -> None:
        self.cluster, self.policy = cluster, policy
        self._random = Random(seed)
        self._disk = [0.0] * cluster.hosts
        self._inward = [0.0] * cluster.hosts
        self._outward = [0.0] * cluster.hosts
        self._living = list(range(cluster.hosts))
        self._failures = sorted((when, host) for host, when in cluster.failures.items())
        self.repeated = 0

    def run(self, maps: Sequence[SimulatedTask], contracts: Sequence[SimulatedTask]) -> SimulatedRun:
        """Map, then contract."""
        mapped, _, _, _ = self._stage(maps, self.cluster.map_slots, 0.0, knows_homes=True, steal=True)
        ended, busy, moved, stolen = self._stage(
            contracts,
            self.cluster.reduce_slots,
            mapped,
            knows_homes=self.policy is not Policy.DEFAULT,
            steal=self.policy is not Policy.STRICT,
        )
        slot_time = (ended - mapped) * self.cluster.hosts * self.cluster.reduce_slots
        return SimulatedRun(
            ended,
            moved,
            sum(work.stored for work in contracts),
            1 - busy / slot_time if slot_time else 0.0,
            stolen,
            self.repeated,
        )

    def _stage(
        self, works: Sequence[SimulatedTask], slots: int, begin: float, *, knows_homes: bool, steal: bool
    ) -> tuple[float, float, int, int]:
        """Run tasks from `begin` on; the end, the slots' busy seconds, stored bytes moved, tasks stolen."""
        hosts = [Host(str(host), slots) for host in range(self.cluster.hosts)]
        tasks = [
            Task(work.stored, {str(work.home): work.stored} if knows_homes else {}, _estimate(work, self.cluster))
            for work in works
        ]
        queues = Queues(tasks, hosts, self.cluster.network)
        for host in set(range(self.cluster.hosts)) - set(self._living):
            queues.lose(host)
        free = dict.fromkeys(self._living, slots)
        running: dict[int, tuple[int, float]] = {}
        ends: list[tuple[float, int, int]] = []
        now, last, busy, moved, stolen = begin, begin, 0.0, 0, 0

        def start(asking: list[int]) -> None:
            nonlocal busy, moved, stolen
            for got in queues.serve(asking, steal):
                work = works[got.task]
                end, fetched = self._execute(work, got.host, now)
                free[got.host] -= 1
                running[got.task] = (got.host, now)
                busy += end - now
                stolen += got.stolen
                moved += fetched
                heappush(ends, (end, got.task, got.host))

        def all_free() -> list[int]:
            asking = [host for host in sorted(free) for _ in range(free[host])]
            self._random.shuffle(asking)  # heartbeats come in any order
            return asking

        start(all_free())
        while ends:
            if self._failures and self._failures[0][0] <= ends[0][0]:
                when, lost = self._failures.pop(0)
                now = max(now, when)
                again = [task for task, (host, _) in running.items() if host == lost]
                # What they would have been busy for does not happen.
                busy -= sum(end - now for end, task, host in ends if host == lost)
                ends = sorted(each for each in ends if each[2] != lost)
                for task in again:
                    del running[task]
                self.repeated += len(again)
                self._living.remove(lost)
                free.pop(lost, None)
                queues.lose(lost, again)
                start(all_free())
            else:
                now, task, host = heappop(ends)
                last = now
                del running[task]
                free[host] += 1
                start([host])  # others that are free found nothing, and there is nothing new
        return last, busy, moved, stolen

    def _execute(self, work: SimulatedTask, host: int, now: float) -> tuple[float, int]:
        """When a task that starts now will end, and the stored bytes that it fetches."""
        source = host if work.home == host else self._copy()
        ready = _reserve(self._disk, source, now, work.stored / (self.cluster.disk * self._speed(source)))
        moved = work.stored if source != host else 0
        fetched = work.fresh + moved
        if moved:
            ready = max(ready, _reserve(self._outward, source, now, moved / self.cluster.network))
        if fetched:
            ready = max(ready, _reserve(self._inward, host, now, fetched / self.cluster.network))
            spooled = self.cluster.spool * fetched / (self.cluster.disk * self._speed(host))
            ready = max(ready, _reserve(self._disk, host, now, spooled))
        return ready + work.cost / self._speed(host), moved

    def _copy(self) -> int:
        """A host to read something from the shared store: of the two that have it, the one whose disk is free first."""
        living = self._living
        return min(self._random.choice(living), self._random.choice(living), key=lambda host: self._disk[host])

    def _speed(self, host: int) -> float:
        return self.cluster.speeds.get(host, 1.0)


def _reserve(resource: list[float], host: int, now: float, seconds: float) -> float:
    """Queue for a disk or a card; when it will be done."""
    resource[host] = max(resource[host], now) + seconds
    return resource[host]


def _estimate(work: SimulatedTask, cluster: Cluster) -> float:
    """What earlier runs would have told the scheduler: computing, and reading the stored input from a disk."""
    return work.cost + work.stored / cluster.disk


def compare(
    cluster: Cluster, job: Callable[[int, Random], tuple[list[SimulatedTask], list[SimulatedTask]]], seed: int = 1
) -> dict[Policy, SimulatedRun]:
    """The same job under every policy. `job` makes (maps, contracts) for a number of hosts."""
    maps, contracts = job(cluster.hosts, Random(seed))
    return {policy: Simulation(cluster, policy, seed).run(maps, contracts) for policy in Policy}
