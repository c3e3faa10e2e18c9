"""An unmodified mrjob job with a combiner: `mrjob -r inline` against `incoop mrjob`, first run and rerun.

    python -m bench.fronts_mrjob [--size 100M] [--repeat 3]

The job is mrjob's own example of counting words. Both run in this process, incoop with a warm Spark session; both give
their output as bytes, and these are compared. A first run may take at most as long as mrjob's own runner, a rerun after
one inserted record at most a twentieth of that.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mrjob.examples

import incoop
from bench import data
from incoop.cli.options import Size
from incoop.fronts.mrjob import made_job, run_job
from incoop.fronts.mrjob_load import loaded_job

JOB = Path(mrjob.examples.__file__).parent / "mr_word_freq_count.py"

#: What the project asks for: time of a first run in times of mrjob's own, and how many times faster a rerun is.
FIRST_RUN, RERUN = 1.0, 20.0


@contextlib.contextmanager
def _captured() -> Iterator[io.BytesIO]:
    before, out = sys.stdout, io.BytesIO()
    text = io.TextIOWrapper(out, write_through=True)
    sys.stdout = text
    try:
        yield out
    finally:
        sys.stdout = before
        text.detach()  # or the bytes go with it


class MrjobFront:
    """mrjob's example of counting words; the answer is its output, as sorted lines."""

    title = "mrjob: count words with a combiner"

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def plain(self, text: Path) -> list[bytes]:
        with _captured() as out, loaded_job(JOB, ["-r", "inline", "--quiet", str(text)]) as loaded:
            loaded.job().run_job()
        return sorted(out.getvalue().splitlines())  # inline prints its part files as the file system lists them

    @contextlib.contextmanager
    def memoized(self, store: Path) -> Iterator[Callable[[Path], list[bytes]]]:
        with incoop.connect(store, spark=self.spark) as session:

            def run(text: Path) -> list[bytes]:
                with _captured() as out, loaded_job(JOB, ["--quiet", str(text)]) as loaded:
                    run_job(session, loaded, made_job(loaded))
                return out.getvalue().splitlines()

            yield run


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds of each run, and how many lines the answer has."""

    plain: list[float]
    first: list[float]
    rerun: list[float]
    lines: int

    @property
    def first_ratio(self) -> float:
        return statistics.median(self.first) / statistics.median(self.plain)

    @property
    def speed_up(self) -> float:
        return statistics.median(self.plain) / statistics.median(self.rerun)


def measure(size: int, repeat: int = 3) -> Figures:
    """Run the job both ways on a text of this size; the answers must be the same."""
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    text = folder / "text.txt"
    plain_runs, first_runs, reruns = [], [], []
    try:
        data.write_text(text, size)
        base = text.read_bytes()
        with incoop.connect(folder / "warm") as warm:
            warm.warm_up()
            front = MrjobFront(warm.spark)
            for attempt in range(repeat):
                text.write_bytes(base)
                seconds, expected = _timed(lambda: front.plain(text))
                plain_runs.append(seconds)
                with front.memoized(folder / f"store-{attempt}") as run:
                    seconds, answer = _timed(lambda run=run: run(text))
                    first_runs.append(seconds)
                    assert sorted(answer) == expected, "another answer than mrjob's"
                    text.write_bytes(data.insert_record(base, attempt))
                    seconds, answer = _timed(lambda run=run: run(text))
                    reruns.append(seconds)
                    if attempt == 0:
                        assert sorted(answer) == front.plain(text), "another answer than mrjob's after the change"
                shutil.rmtree(folder / f"store-{attempt}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Figures(plain_runs, first_runs, reruns, len(expected))


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    answer = run()
    return time.perf_counter() - started, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="100M")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    figures = measure(Size().convert(given.size, None, None), given.repeat)
    print(f"{MrjobFront.title}, {given.size}, {os.cpu_count()} cores, {figures.lines:,} lines of output")
    rows = (
        ("mrjob -r inline", figures.plain, ""),
        ("first run", figures.first, f"{figures.first_ratio:.2f} of its time (required <= {FIRST_RUN:g})"),
        ("one record inserted", figures.rerun, f"{figures.speed_up:.1f} times faster (required {RERUN:g})"),
    )
    for title, seconds, ratio in rows:
        spread = f"({min(seconds):.3g}-{max(seconds):.3g})"
        print(f"{title:20} {statistics.median(seconds):9.3f} s {spread:>16}  {ratio}")


if __name__ == "__main__":
    main()
