"""Unmodified jobs against the tools that they were written for: first run, and a rerun after one inserted record.

    python -m bench.bench_fronts [--size 100M] [--fronts rdd,streaming,mrjob] [--repeat 3]

Every front runs one job on the same text, by its own tool and by incoop; the answers are compared. A first run may take
at most as long as the tool, a rerun at most a twentieth.
"""

from __future__ import annotations

import argparse
import contextlib
import operator
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import incoop
from bench import data
from incoop.cli.options import Size

#: What the project asks for: time of a first run in times of the tool's own, and how many times faster a rerun is.
FIRST_RUN, RERUN = 1.0, 20.0

_WORD = re.compile(r"\w+")


class Front(Protocol):
    """One kind of job: the tool that it was written for, and incoop. Both answer with the same value.

    An answer that lies in files is a function that reads them, which is called when the clock has stopped.
    """

    #: The tool and the job, as the table shows them.
    title: str

    def plain(self, text: Path) -> Any:
        """Run the job by its own tool."""

    def memoized(self, store: Path) -> AbstractContextManager[Callable[[Path], Any]]:
        """Open a store; give a function that runs the job on a text."""


def words(line: str) -> list[str]:
    return _WORD.findall(line.lower())


class RddFront:
    """A PySpark RDD program; both ways in one Spark session, warm."""

    title = "PySpark RDD: count words"

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def _program(self, lines: Any) -> Any:
        return lines.flatMap(words).map(lambda word: (word, 1)).reduceByKey(operator.add).count()

    def plain(self, text: Path) -> Any:
        return self._program(self.spark.sparkContext.textFile(str(text)))

    @contextlib.contextmanager
    def memoized(self, store: Path) -> Iterator[Callable[[Path], Any]]:
        with incoop.connect(store, spark=self.spark) as session:

            def run(text: Path) -> Any:
                session._rdds = None  # a program of its own, as in a new process
                return self._program(session.textFile(str(text)))

            yield run


def rdd_front(spark: Any, _: Path) -> Front:
    return RddFront(spark)


def streaming_front(spark: Any, folder: Path) -> Front:
    from bench.fronts_streaming import StreamingFront

    return StreamingFront(spark, folder)


def mrjob_front(spark: Any, _: Path) -> Front:
    from bench.fronts_mrjob import MrjobFront

    return MrjobFront(spark)


#: Name -> what makes the front, given a warm Spark and a folder that goes away.
FRONTS: dict[str, Callable[[Any, Path], Front]] = {
    "rdd": rdd_front,
    "streaming": streaming_front,
    "mrjob": mrjob_front,
}


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    answer = run()
    seconds = time.perf_counter() - started
    return seconds, answer() if callable(answer) else answer


def measure(front: Front, folder: Path, content: bytes, repeat: int) -> None:
    """Print one row: medians, ratios, and whether they are what is asked for."""
    text = folder / "text.txt"
    plain, first, again = [], [], []
    for attempt in range(repeat):
        text.write_bytes(content)
        seconds, expected = timed(lambda: front.plain(text))
        plain.append(seconds)
        with front.memoized(folder / f"store-{attempt}") as run:
            seconds, answer = timed(lambda run=run: run(text))
            first.append(seconds)
            assert answer == expected, f"{front.title}: {answer!r:.80} is not {expected!r:.80}"
            changed = data.insert_record(content, attempt)
            text.write_bytes(changed)
            seconds, answer = timed(lambda run=run: run(text))
            again.append(seconds)
        if not attempt:  # once: it takes as long as the tool
            assert answer == timed(lambda: front.plain(text))[1], f"{front.title}: wrong after an inserted record"
        shutil.rmtree(folder / f"store-{attempt}")
    tool = statistics.median(plain)
    first_ratio, rerun_ratio = statistics.median(first) / tool, tool / statistics.median(again)
    print(
        f"| {front.title} | {tool:.2f} ({min(plain):.2f}-{max(plain):.2f}) "
        f"| {statistics.median(first):.2f} | {first_ratio:.2f} {_verdict(first_ratio <= FIRST_RUN)} "
        f"| {statistics.median(again):.3f} | {rerun_ratio:.0f} {_verdict(rerun_ratio >= RERUN)} |"
    )
    sys.stdout.flush()


def _verdict(reached: bool) -> str:
    return "" if reached else "(missed)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="100M")
    parser.add_argument("--fronts", default=",".join(FRONTS), help="which, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        data.write_text(folder / "text.txt", Size().convert(given.size, None, None))
        content = (folder / "text.txt").read_bytes()
        print(f"{len(content) / 1e6:.0f} MB of text, {os.cpu_count()} cores, Python {sys.version.split()[0]}")
        print(f"| job | tool, s | first run, s | of the tool's (at most {FIRST_RUN:g}) | rerun, s | ", end="")
        print(f"times faster (at least {RERUN:g}) |\n|---|---|---|---|---|---|")
        with incoop.connect(folder / "warm") as session:
            session.warm_up()
            for name in given.fronts.split(","):
                measure(FRONTS[name](session.spark, folder), folder, content, given.repeat)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
