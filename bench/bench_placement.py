"""Planning time: 100,000 tasks on 1,000 hosts, and smaller.

    python -m bench.bench_placement

Every plan is checked: each task once, no slot idle while a task waits.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np

from incoop.scheduler.placement import Host, Task, place


def cluster(task_count: int, host_count: int, seed: int = 1) -> tuple[list[Task], list[Host]]:
    """Tasks of uneven cost whose data lies on one or two hosts, on some hosts more than on others; a tenth nowhere."""
    rng = np.random.default_rng(seed)
    names = [f"host-{number}" for number in range(host_count)]
    sizes = rng.integers(1, 64 << 20, task_count).tolist()
    costs = rng.lognormal(0, 0.7, task_count).tolist()
    # A triangular choice: the busiest hosts hold about twice the average.
    homes = np.minimum(*rng.integers(0, host_count, (2, task_count)))
    seconds = rng.integers(0, host_count, task_count).tolist()
    nowhere = (rng.random(task_count) < 0.1).tolist()
    tasks = [
        Task(size, {} if unheld else {names[second]: size // 4, names[home]: size}, cost)
        for size, cost, home, second, unheld in zip(sizes, costs, homes.tolist(), seconds, nowhere, strict=True)
    ]
    return tasks, [Host(name, slots=2) for name in names]


def main() -> None:
    print("| tasks | hosts | seconds | stolen |")
    print("|---|---|---|---|")
    for task_count, host_count in ((1_000, 20), (10_000, 100), (100_000, 1_000)):
        tasks, hosts = cluster(task_count, host_count)
        started = time.process_time()
        assigned = place(tasks, hosts)
        seconds = time.process_time() - started
        assert Counter(each.task for each in assigned) == Counter(range(task_count))
        last_start = max(each.start for each in assigned)
        busy = sum(min(each.end, last_start) - each.start for each in assigned)
        assert busy == last_start * sum(host.slots for host in hosts)
        stolen = sum(each.stolen for each in assigned)
        print(f"| {task_count:,} | {host_count:,} | {seconds:.2f} | {stolen / task_count:.0%} |")


if __name__ == "__main__":
    main()
