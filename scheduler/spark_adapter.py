"""Placement on a real Spark: its executors as hosts, assignments as preferred locations.

Contract: a location is a wish. An executor that is lost before its task starts, or that stays busy for longer than the
wait, leaves the task to any other one: that is Spark's delay scheduling, and the stealing at run time. On `local[N]`
there is nothing to place, and the engine does not even import this file.

Everything that reaches into the JVM through py4j is in this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incoop.scheduler.placement import GIGABIT, Host, Task, place

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

#: A task waits for its own executor about as long as moving its data would take, within these bounds: Spark looks at
#: waiting tasks once a second, or when a task ends; its own default is the upper one.
SHORTEST_WAIT, LONGEST_WAIT = 0.3, 3.0

#: The setting, and those that override it for a level. Past the first level there is nothing left to wait for.
_WAIT = "spark.locality.wait"
_PROCESS, _NODE, _RACK = (f"{_WAIT}.{level}" for level in ("process", "node", "rack"))


@dataclass(frozen=True, slots=True)
class Executor:
    """One of Spark's executors."""

    id: str
    host: str
    #: Tasks that it runs at the same time.
    slots: int

    @property
    def location(self) -> str:
        """How Spark addresses this executor among preferred locations."""
        return f"executor_{self.host}_{self.id}"


def executors(context: SparkContext) -> list[Executor]:
    """The living executors, by id."""
    jvm_context: Any = context._jsc.sc()
    cores_of_a_task = max(1, int(jvm_context.conf().get("spark.task.cpus", "1")))
    listed = jvm_context.statusStore().executorList(True)
    found = []
    for number in range(listed.size()):
        it = listed.apply(number)
        host = (it.hostPort() or "").rpartition(":")[0]
        # An executor without an address has only just announced itself.
        if it.id() != "driver" and host:
            found.append(Executor(it.id(), host, max(1, it.totalCores() // cores_of_a_task)))
    return sorted(found, key=lambda executor: (len(executor.id), executor.id))


def choose_locations(tasks: Sequence[Task], hosts: Mapping[str, Sequence[Executor]]) -> list[list[str]]:
    """The preferred locations of each task; none for a task of which no living host holds anything.

    `hosts` are the executors by the name of the cache beside them, the name that tasks' `memoized` uses.
    """
    locations: list[list[str]] = [[] for _ in tasks]
    if not hosts:
        return locations
    slots = [Host(name, sum(executor.slots for executor in beside)) for name, beside in sorted(hosts.items())]
    for each in place(tasks, slots):
        if any(tasks[each.task].memoized.get(name, 0) for name in hosts):
            locations[each.task] = [executor.location for executor in hosts[each.host]]
    return locations


def wait_for(tasks: Sequence[Task]) -> float:
    """Seconds that a task should wait for its own executor."""
    most = max((max(task.memoized.values(), default=0) for task in tasks), default=0)
    return min(LONGEST_WAIT, max(SHORTEST_WAIT, most / GIGABIT))


def located(context: SparkContext, items: Sequence[Any], locations: Sequence[Sequence[str]]) -> RDD[Any]:
    """One partition an item, with its preferred locations: `parallelize` has no such argument in Python."""
    from pyspark import RDD

    jvm: Any = context._jvm
    jvm_context: Any = context._jsc.sc()
    serializer: Any = context._unbatched_serializer
    pairs = jvm.java.util.ArrayList()
    for item, where in zip(items, locations, strict=True):
        wanted = jvm.java.util.ArrayList()
        for location in where:
            wanted.add(location)
        pairs.add(jvm.scala.Tuple2(bytearray(serializer.dumps(item)), jvm.PythonUtils.toSeq(wanted)))
    byte_array = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("[B"))
    made = jvm_context.makeRDD(jvm.PythonUtils.toSeq(pairs), byte_array)
    return RDD(made.toJavaRDD(), context, serializer)


@contextmanager
def locality_wait(context: SparkContext, seconds: float) -> Iterator[None]:
    """How long tasks of jobs that begin inside wait for their own executor; a user's own setting stands."""
    settings: Any = context._jsc.sc().conf()
    if any(settings.contains(key) for key in (_WAIT, _PROCESS, _NODE, _RACK)):
        yield
        return
    # Spark reads these when a job's tasks are made ready, not only when it starts.
    settings.set(_PROCESS, f"{round(seconds * 1000)}ms")
    settings.set(_NODE, "0")
    settings.set(_RACK, "0")
    try:
        yield
    finally:
        for key in (_PROCESS, _NODE, _RACK):
            settings.remove(key)


def where_stage_ran(context: SparkContext, stage: int) -> dict[int, str]:
    """The executor of each partition of a finished stage, as Spark's own records say; those that are gone are not."""
    jvm_context: Any = context._jsc.sc()
    jvm_context.listenerBus().waitUntilEmpty()
    listed = jvm_context.statusStore().taskList(stage, 0, 1 << 30)
    ran = (listed.apply(number) for number in range(listed.size()))
    return {it.index(): it.executorId() for it in ran if it.status() == "SUCCESS"}
