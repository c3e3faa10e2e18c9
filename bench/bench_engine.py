"""The engine against plain PySpark RDD code of the same job: first run, and what an update costs.

    python -m bench.bench_engine [--size 256M] [--job words|bigrams] [--rows one,region,...]

Both run in one Spark session, warm, on the same data, the answers compared. Prints a table with the ratio for each
row and where its time went.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import operator
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import incoop
from bench import data
from bench.jobs.bigrams import bigrams
from bench.jobs.words_job import total, words
from bench.measuring import SETTLES, folder_size, spread, timed
from incoop.cli.options import Size

JOBS = {"words": words, "bigrams": bigrams}

#: Row -> (its change, required speed-up, aim), as the project asks for them.
ROWS: dict[str, tuple[str, Callable[[bytes, bytes, int], bytes], float, float]] = {
    "one": ("one record inserted in the middle", lambda old, new, n: data.insert_record(old, n), 50, 100),
    "region": (
        "1 % replaced in one region",
        lambda old, new, n: data.replace_region(old, 0.01, new),
        25,
        60,
    ),
    "chunks": ("10 % of the chunks replaced", lambda old, new, n: data.replace_chunks(old, 0.1, new, n), 6, 8),
    "append": ("5 % appended", lambda old, new, n: data.append(old, 0.05, new), 12, 18),
    "every": ("one record in every 64 KiB changed", lambda old, new, n: data.change_every(old, 64 << 10, n), 3, 8),
}


def plain(spark: Any, path: Path, job: str) -> int:
    """The same job as RDD code, up to its last pair; the number of pairs."""
    mapper = JOBS[job]
    lines = spark.sparkContext.textFile(str(path))
    return int(lines.flatMap(lambda line: mapper(None, line)).reduceByKey(operator.add).count())


def expected(content: bytes, job: str) -> collections.Counter[Any]:
    counts: collections.Counter[Any] = collections.Counter()
    for line in content.decode().split("\n"):
        found = line.split()
        counts.update(found if job == "words" else itertools.pairwise(found))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="256M")
    parser.add_argument("--job", choices=sorted(JOBS), default="words")
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-check", action="store_true", help="leave out the comparison with a count in Python")
    given = parser.parse_args()
    size = Size().convert(given.size, None, None)
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        measure(folder, size, given.job, given.rows.split(","), given.repeat, not given.no_check)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(folder: Path, size: int, job_name: str, rows: list[str], repeat: int, check: bool) -> None:
    text, other = folder / "text.txt", folder / "other.txt"
    data.write_text(text, size)
    portion = max(size // 8, 8 << 20)
    data.write_text(other, portion * repeat * len(rows), seed=5)
    base, fresh = text.read_bytes(), other.read_bytes()
    job = incoop.Job(f"count {job_name}", mapper=JOBS[job_name], combiner=total, reducer=total)
    print(f"{len(base) / 1e6:.0f} MB of text, {os.cpu_count()} cores, {sys.version.split()[0]}, job {job_name}")
    with incoop.connect(folder / "store") as session:
        session.warm_up()
        spark = session.spark
        plain_runs, first_runs = [], []
        for attempt in range(repeat):
            plain_seconds, count = timed(lambda: plain(spark, text, job_name))
            plain_runs.append(plain_seconds)
            with incoop.connect(folder / f"first-{attempt}", spark=spark) as empty:
                first_seconds, first = timed(lambda empty=empty: empty.run(job, str(text)))
                first_runs.append(first_seconds)
                assert first.report.keys_total == count
                first_report = first.report
                store = folder_size(folder / f"first-{attempt}")
            shutil.rmtree(folder / f"first-{attempt}")
        plain_median = statistics.median(plain_runs)
        first_median = statistics.median(first_runs)
        print(f"plain PySpark: {plain_median:.2f} s ({spread(plain_runs)}), {count:,} distinct keys")
        print(f"{'run':38} {'seconds':>9} {'spread':>14} {'ratio':>9} {'required':>9} {'aim':>7}   where the time went")
        show("first run", first_runs, first_median / plain_median, "<= 0.8", "0.5", first_report)
        print(f"{'store size / input size':38} {'':>9} {'':>14} {store / len(base):>9.2f} {'<= 1.0':>9} {'0.5':>7}")

        result = session.run(job, str(text))
        unchanged = []
        time.sleep(SETTLES)
        session.run(job, str(text))
        for _ in range(repeat * 3):
            seconds, result = timed(lambda: session.run(job, str(text)))
            unchanged.append(seconds)
        show("nothing changed", unchanged, plain_median / statistics.median(unchanged), "200", "1000", result.report)
        for number, row in enumerate(rows):
            title, change, required, aim = ROWS[row]
            seconds_of, report = [], None
            for attempt in range(repeat):
                text.write_bytes(base)
                session.run(job, str(text))
                # What an earlier change brought is known, and would not be mapped again.
                at = fresh.index(b"\n", portion * (number * repeat + attempt)) + 1
                changed = change(base, fresh[at : at + portion], attempt)
                text.write_bytes(changed)
                seconds, result = timed(lambda: session.run(job, str(text)))
                seconds_of.append(seconds)
                report = result.report
            if check:
                assert result.as_dict() == expected(changed, job_name), f"{title}: wrong result"
            show(title, seconds_of, plain_median / statistics.median(seconds_of), f"{required:g}", f"{aim:g}", report)
        text.write_bytes(base)


def show(title: str, runs: list[float], ratio: float, required: str, aim: str, report: Any) -> None:
    where = " ".join(f"{stage} {seconds:.2f}" for stage, seconds in report.seconds.items() if seconds >= 0.005)
    ran = f"mapped {report.map.executed}/{report.map.tasks}, reduced {report.keys_reduced:,} keys"
    figures = f"{statistics.median(runs):>9.3f} {spread(runs):>14} {ratio:>9.2f} {required:>9} {aim:>7}"
    print(f"{title:38} {figures}   {where}; {ran}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
