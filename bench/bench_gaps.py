"""What a Spark task costs beside its work: empty tasks, by plain PySpark and by incoop, on the same workers.

    python -m bench.bench_gaps

Plain PySpark goes first: workers that have run a task of incoop's stay as they are then (running/worker_process.py).
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable

import incoop
from incoop.engine.running.spark import Spark

#: Tasks of a job, and jobs of which the median is shown.
TASKS, JOBS = 16, 9


def nothing(item: int) -> int:
    return item


def milliseconds(run: Callable[[list[int]], list[int]], cores: int) -> float:
    """From one empty task of a core to the next, median of some jobs."""
    items = list(range(TASKS))
    taken = []
    for _ in range(JOBS + 1):
        started = time.perf_counter()
        assert run(items) == items
        taken.append((time.perf_counter() - started) / TASKS * cores * 1000)
    return statistics.median(taken[1:])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, incoop.connect(folder) as session:
        context = session.spark.sparkContext
        cores = context.defaultParallelism
        plain = milliseconds(lambda items: context.parallelize(items, len(items)).map(nothing).collect(), cores)
        ours = Spark(session.spark, None)
        settled = milliseconds(lambda items: ours.run("empty", nothing, items), cores)
        print(f"{TASKS} empty tasks on {cores} cores, from one task to the next, median of {JOBS} jobs:")
        print(f"plain PySpark {plain:.0f} ms, incoop {settled:.0f} ms, ratio {plain / settled:.1f}")
        ours.stop()


if __name__ == "__main__":
    main()
