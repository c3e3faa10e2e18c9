"""Where the work of a step is carried out: a pure decision, in one place.

Contract: results do not depend on it. Spark is used where the user asked for it, and where there is so much to do that
its start, or where it runs already its jobs, are a small part of it; everything else is done without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: What is done in threads of the driver's process has at most so many bytes: they are in its memory.
THREAD_BYTES = 32 << 20

#: Up to so many fresh bytes, processes of our own are done about when Spark would have begun: it needs 7 to 8 seconds
#: to start, to load its first workers and to stop, in which two processes count the words of some 100 MB
#: (docs/decisions/0010-small-work-without-spark.md). On one machine Spark is not faster from then on, either: the bound
#: keeps its share of a run below a half, and leaves long runs to what shows and restarts them.
PROCESS_BYTES = 96 << 20

#: While a Spark of our own runs on this machine, its start costs nothing any more; of small work its jobs are still the
#: larger part: 0.2 seconds, of an update that takes 0.4 (bench/bench_days.py).
BESIDE_SPARK_BYTES = 32 << 20


class Where(StrEnum):
    """Who carries work out."""

    THREADS = "threads"
    PROCESSES = "processes"
    SPARK = "spark"


@dataclass(frozen=True, slots=True)
class SparkNow:
    """What is known of Spark, which is not started to find out."""

    #: Whether there is a session.
    running: bool = False
    #: Whether the user gave a session, or said where one is to be started.
    given: bool = False
    #: Whether its tasks run on other machines, or in executors of their own.
    clustered: bool = False


def where_to_run(fresh: int, in_threads: int | None, little: bool, spark: SparkNow) -> Where:
    """Where work on so many fresh bytes goes.

    `in_threads` are the bytes that the driver's own process would hold, None for work that must not be done there;
    `little` is such work that asking a running Spark would cost more.

    Example:
        >>> where_to_run(1 << 20, None, False, SparkNow()), where_to_run(1 << 30, None, False, SparkNow())
        (<Where.PROCESSES: 'processes'>, <Where.SPARK: 'spark'>)
    """
    if in_threads is not None and in_threads <= THREAD_BYTES and not spark.clustered and (little or not spark.running):
        return Where.THREADS
    if spark.given or spark.clustered:
        return Where.SPARK
    return Where.PROCESSES if fresh <= (BESIDE_SPARK_BYTES if spark.running else PROCESS_BYTES) else Where.SPARK
