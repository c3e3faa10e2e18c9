"""A mapper that emits far more pairs from one chunk than memory should hold: time, and peak memory of its worker.

    python -m bench.bench_spill [--pairs 100000000] [--keys 5000000]

The chunk is one line, which says how many pairs to emit; every key's sum is checked.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import incoop
from bench.bench_driver import peak
from bench.jobs.words_job import total
from bench.measuring import timed
from incoop.fronts.streaming.process import descendants


def emit(_: Any, line: str) -> Iterator[tuple[int, int]]:
    pairs, keys = map(int, line.split())
    for number in range(pairs):
        yield number % keys, 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000_000)
    parser.add_argument("--keys", type=int, default=5_000_000)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        (folder / "input.txt").write_text(f"{given.pairs} {given.keys}\n")
        job = incoop.Job("emit much", mapper=emit, combiner=total, reducer=total)
        with incoop.connect(folder / "store") as session:
            session.warm_up()
            seconds, result = timed(lambda: session.run(job, str(folder / "input.txt")))
            workers = descendants(int(session.spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()))
            largest = max(peak(str(worker)) for worker in workers)
            each, more = divmod(given.pairs, given.keys)
            assert all(count == each + (key < more) for key, count in result)
            assert result.report.keys_total == min(given.keys, given.pairs)
        print(f"{given.pairs:,} pairs of {given.keys:,} keys from one chunk: {seconds:.0f} s, worker {largest:.0f} MB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
