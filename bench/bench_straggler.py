"""A slow executor on a real Spark cluster: tasks that wait for it are taken by others.

    python -m bench.bench_straggler [--tasks 160] [--seconds 0.2] [--slow 5]

Four executors (`local-cluster`), every task wished for one of them, as many for each. A task is a sleep, so that four
executors fit on two cores; on the slow executor it sleeps longer. Every answer is checked.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark import SparkContext

from incoop.scheduler.placement import Task
from incoop.scheduler.spark_adapter import choose_locations, executors, locality_wait, located, wait_for
from tests.scheduler.clusters import prepare, session, spark_home, wait_for_executors

EXECUTORS = 4
#: Longer than any run: nothing is ever stolen.
FOREVER = 3600.0


def sleeper(seconds: float, slow: float) -> Callable[[int], tuple[int, str]]:
    """A task; on executor 0 it takes `slow` times as long."""

    def task(item: int) -> tuple[int, str]:
        # An executor that Spark starts itself works in a folder named after its id.
        executor = Path.cwd().name
        time.sleep(seconds * (slow if executor == "0" else 1))
        return item, executor

    return task


def timed(context: SparkContext, tasks: int, seconds: float, slow: float, wait: float | None) -> tuple[float, int]:
    """Seconds of one job, and tasks that ran elsewhere than wished."""
    living = executors(context)
    names = {executor.id: [executor] for executor in living}
    placed = [Task(1, {living[number % EXECUTORS].id: 1}, seconds) for number in range(tasks)]
    locations = choose_locations(placed, names)
    started = time.monotonic()
    with locality_wait(context, wait_for(placed) if wait is None else wait):
        answers = located(context, range(tasks), locations).map(sleeper(seconds, slow)).collect()
    took = time.monotonic() - started
    assert [item for item, _ in answers] == list(range(tasks))
    homes = [living[number % EXECUTORS].id for number in range(tasks)]
    return took, sum(executor != home for (_, executor), home in zip(answers, homes, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=160)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--slow", type=float, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="incoop-bench-") as folder:
        prepare(Path(folder), spark_home(Path(folder)))
        with session(f"local-cluster[{EXECUTORS},1,512]") as spark:
            wait_for_executors(spark, EXECUTORS)
            context = spark.sparkContext
            context.parallelize(range(EXECUTORS * 4), EXECUTORS * 4).map(sleeper(0.1, 1)).collect()  # warm
            calm, strays = timed(context, asked.tasks, asked.seconds, 1, None)
            stealing, stolen = timed(context, asked.tasks, asked.seconds, asked.slow, None)
            strict, none = timed(context, asked.tasks, asked.seconds, asked.slow, FOREVER)
    print("| run | seconds | against no straggler | elsewhere than wished |")
    print("|---|---|---|---|")
    for name, took, elsewhere in (
        ("no straggler", calm, strays),
        (f"one executor {asked.slow:g} times slower, stealing", stealing, stolen),
        (f"one executor {asked.slow:g} times slower, strict affinity", strict, none),
    ):
        print(f"| {name} | {took:.1f} | {took / calm:.2f} | {elsewhere} of {asked.tasks} |")
    assert none == 0
    assert stealing < 1.5 * calm, "stealing did not help enough"


if __name__ == "__main__":
    main()
