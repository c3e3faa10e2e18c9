"""Every kind of combiner against plain PySpark RDD code of the same job: first run, updates, and the store's size.

    python -m bench.bench_combiners                                           # 64 MB, everything: an hour or more
    python -m bench.bench_combiners --jobs sum,top --keys few --rows one,region --repeat 1
    python -m bench.bench_combiners --keys many --repeat 1 --no-check         # the middle of the table, in some minutes

Keys are words, of which there are two thousand (`few`) or some hundred thousand (`many`), or two words in a row, some
million (`most`). Both ways run warm, in one program; sessions are opened as the README does: the Spark that runs for
plain PySpark is used for what is worth it. Every last answer is compared with plain PySpark's; sums of floats
approximately, and to the bit with a run on an empty store.
"""

from __future__ import annotations

import argparse
import functools
import heapq
import math
import operator
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import incoop
from bench import changes, data
from bench.apps.app import fingerprint, rdd_fingerprint
from bench.measuring import (
    Figure,
    folder_size,
    jobs_in,
    number,
    plain_names,
    save_figures,
    show,
    show_figures,
    some_of,
    timed,
)
from bench.paper.laboratory import spark_session
from incoop.cli.options import Size
from incoop.job import Job

#: Where sums of floats may differ from plain PySpark's, which adds in another order.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Kind:
    """One combiner: the file of its jobs, and the same as RDD code."""

    title: str
    file: str
    rdd: Callable[[Any], Any]
    exact: bool = True


def _middle(lengths: Any) -> int:
    found = sorted(lengths)
    return int(found[len(found) // 2])


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _three(one: list[int], other: list[int]) -> list[int]:
    return heapq.nlargest(3, one + other)


KINDS = {
    "sum": Kind("sum", "text_sum.py", lambda pairs: pairs.reduceByKey(operator.add)),
    "loop": Kind("the same sum in a loop", "text_loop.py", lambda pairs: pairs.reduceByKey(operator.add)),
    "pair": Kind(
        "pair of sums",
        "text_mean.py",
        lambda pairs: pairs.reduceByKey(_both).mapValues(lambda share: share[1] / share[0]),
    ),
    "max": Kind("max", "text_max.py", lambda pairs: pairs.reduceByKey(max)),
    "top": Kind("top 3", "text_top.py", lambda pairs: pairs.reduceByKey(_three)),
    "float": Kind("float sum", "text_float.py", lambda pairs: pairs.reduceByKey(operator.add), exact=False),
    "set": Kind("set", "text_set.py", lambda pairs: pairs.reduceByKey(operator.or_).mapValues(sorted)),
    "counter": Kind(
        "Counter",
        "text_counter.py",
        lambda pairs: pairs.reduceByKey(operator.add).mapValues(lambda counter: sorted(counter.items())),
    ),
    "none": Kind("no combiner", "text_median.py", lambda pairs: pairs.groupByKey().mapValues(_middle)),
}

#: How many keys -> how many different words the text is made of, and which of a file's jobs runs.
KEYS = {"few": (2_000, "words"), "many": (500_000, "words"), "most": (500_000, "pairs")}

Change = Callable[[bytes, bytes, int], bytes]

#: Row -> its title, its change, and what is asked for: the speed-up required, and aimed at.
ROWS: dict[str, tuple[str, Change, float, float]] = {
    "one": ("one record", lambda old, new, n: changes.insert_record(old, n), 60, 120),
    "region": ("1 % in a region", lambda old, new, n: changes.replace_region(old, 0.01, new), 25, 60),
    "chunks": ("10 % of the chunks", lambda old, new, n: changes.replace_chunks(old, 0.1, new, n), 7, 9),
    "every": ("one record in every 64 KiB", lambda old, new, n: changes.change_every(old, 64 << 10, n), 8, 15),
    "records": ("1 % of all records", lambda old, new, n: changes.change_records(old, 0.01, new, n), 6, 10),
}
#: What is asked for without a combiner, where it is something else.
UNCOMBINED = {"one": (40, 80), "chunks": (6, 8)}

#: Store / input.
STORE = (1.5, 1.0)


def first_asked(kind: str, keys: str) -> tuple[float, float]:
    """First run / plain: at most, and aimed at."""
    if keys == "most":
        return 0.9, 0.6
    return (0.6, 0.4) if kind == "sum" else (0.9, 0.7)


class WrongAnswer(Exception):
    """An update gave something else than plain PySpark, or than a run from scratch."""


class Bench:
    """One text, and the jobs that run on it."""

    def __init__(
        self, folder: Path, spark: Any, size: int, keys: str, rows: list[str], repeat: int, check: bool
    ) -> None:
        self.folder, self.spark, self.keys, self.rows, self.repeat = folder, spark, keys, rows, repeat
        self.check = check
        self.path = folder / "text.txt"
        vocabulary, self.job_name = KEYS[keys]
        # A little more than asked for: the size of chunks follows from the input's, in steps at powers of two. An input
        # that shrinks below one keeps its chunks; a run from scratch has others, and adds floats in another order.
        self.base = self._text(size + size // 50, 2011, vocabulary)
        # What an earlier change brought is known, and would not be mapped again: each has a portion of its own.
        self.portion = max(size // 8, 1 << 20)
        self.fresh = self._text(self.portion * (repeat * len(rows) + 1), 5, vocabulary)

    def _text(self, size: int, seed: int, vocabulary: int) -> bytes:
        data.write_text(self.path, size, seed, vocabulary)
        content = self.path.read_bytes()
        return content[: content.index(b"\n", size - 1) + 1]

    def measure(self, name: str) -> list[Figure]:
        """All figures of one job."""
        kind = KINDS[name]
        job = jobs_in(kind.file)[self.job_name]
        mapper = plain_names(kind.file)[job.mapper.__name__]
        self.path.write_bytes(self.base)
        plain = functools.partial(self._plain, kind, mapper)
        plain().count()  # the first of its kind also loads code
        plain_runs, first_runs = [], []
        for _ in range(self.repeat):
            seconds, keys = timed(lambda: plain().count())
            plain_runs.append(seconds)
            seconds, store = self._first_run(job, keys)
            first_runs.append(seconds)
        whole = statistics.median(plain_runs)
        details = {"job": name, "keys": self.keys, "distinct": keys, "plain": plain_runs}
        title = f"{kind.title}, {keys:,} keys"
        figures = [
            Figure(
                f"{title}: first run / plain",
                statistics.median(first_runs) / whole,
                *first_asked(name, self.keys),
                less=True,
                details={**details, "row": "first", "runs": first_runs},
            ),
            Figure(
                f"{title}: store / input", store, *STORE, less=True, details={**details, "row": "store", "runs": []}
            ),
        ]
        with incoop.connect(self.folder / "store") as session:
            for place, row in enumerate(self.rows):
                figures.append(self._update(session, job, kind, plain, row, place, whole, title, details))
        shutil.rmtree(self.folder / "store")
        return figures

    def _plain(self, kind: Kind, mapper: Any) -> Any:
        lines = self.spark.sparkContext.textFile(str(self.path))
        return kind.rdd(lines.flatMap(lambda line: mapper(None, line)))

    def _first_run(self, job: Job, keys: int) -> tuple[float, float]:
        """Seconds on an empty store, and the store's size in sizes of the input."""
        with incoop.connect(self.folder / "first") as session:
            seconds, result = timed(lambda: session.run(job, str(self.path)))
            assert result.report.keys_total == keys
            store = folder_size(self.folder / "first") / len(self.base)
        shutil.rmtree(self.folder / "first")
        return seconds, store

    def _update(
        self,
        session: Any,
        job: Job,
        kind: Kind,
        plain: Callable[[], Any],
        row: str,
        place: int,
        whole: float,
        title: str,
        details: dict[str, Any],
    ) -> Figure:
        what, change, *asked = ROWS[row]
        if kind is KINDS["none"]:
            asked = list(UNCOMBINED.get(row, asked))
        runs = []
        for attempt in range(self.repeat):
            self.path.write_bytes(self.base)
            session.run(job, str(self.path))
            at = self.fresh.index(b"\n", self.portion * (place * self.repeat + attempt)) + 1
            self.path.write_bytes(change(self.base, self.fresh[at : at + self.portion], attempt))
            seconds, result = timed(lambda: session.run(job, str(self.path)))
            runs.append(seconds)
        if self.check:
            self._check(kind, job, plain, result, f"{title}, {what}")
        report = result.report.as_dict()
        details = {**details, "row": row, "runs": runs, "report": report}
        return Figure(f"{title}: plain / update, {what}", whole / statistics.median(runs), *asked, details=details)

    def _check(self, kind: Kind, job: Job, plain: Callable[[], Any], result: Any, what: str) -> None:
        if kind.exact:
            found, wanted = fingerprint(result), rdd_fingerprint(plain())
            if found != wanted:
                raise WrongAnswer(f"{what}: {found[0]} pairs, or others, than plain PySpark's {wanted[0]}.")
            return
        pairs, wanted = result.as_dict(), dict(plain().collect())
        near = all(math.isclose(value, wanted.get(key, math.nan), rel_tol=TOLERANCE) for key, value in pairs.items())
        if len(pairs) != len(wanted) or not near:
            raise WrongAnswer(f"{what}: not what plain PySpark gives.")
        with incoop.connect(self.folder / "scratch") as session:
            scratch = session.run(job, str(self.path))
            # A float's repr is exact.
            if fingerprint(scratch) != fingerprint(result) or scratch.root != result.root:
                raise WrongAnswer(f"{what}: an update differs from a run on an empty store.")
        shutil.rmtree(self.folder / "scratch")


def run(
    folder: Path,
    spark: Any,
    size: int,
    names: list[str],
    keys: list[str],
    rows: list[str],
    repeat: int,
    check: bool = True,
) -> list[Figure]:
    """Measure jobs at numbers of keys; print a table for each number, as in the project's requirements."""
    figures = []
    for level in keys:
        bench = Bench(folder, spark, size, level, rows, repeat, check)
        print(f"\n**{level} keys**: {len(bench.base) / 1e6:.0f} MB\n")
        head = ["combiner", "keys", "plain, s", "first run / plain", "store / input", *(ROWS[row][0] for row in rows)]
        show(head, [])
        for name in names:
            found = bench.measure(name)
            figures += found
            plain = found[0].details["plain"]
            cells = [number(figure.value) for figure in found]
            distinct = f"{found[0].details['distinct']:,}"
            row = [KINDS[name].title, distinct, f"{statistics.median(plain):.2f}", *cells]
            print("| " + " | ".join(row) + " |", flush=True)
        for what, place in (("required", 0), ("aim", 1)):
            asked = [f"{ROWS[row][2 + place]:g}" for row in rows]
            of_sums, of_others = (first_asked(name, level)[place] for name in ("sum", "max"))
            print(f"| *{what}* | | | {of_sums:g}; {of_others:g} | {STORE[place]:g} | " + " | ".join(asked) + " |")
    return figures


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="64M")
    parser.add_argument("--jobs", type=some_of(KINDS), default=list(KINDS))
    parser.add_argument("--keys", type=some_of(KEYS), default=list(KEYS))
    parser.add_argument("--rows", type=some_of(ROWS), default=list(ROWS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-check", action="store_true", help="leave out the comparison of answers")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args(arguments)
    size = Size().convert(given.size, None, None)
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, medians of {given.repeat}")
        with spark_session(folder) as spark:
            names, keys, rows = given.jobs, given.keys, given.rows
            figures = run(folder, spark, size, names, keys, rows, given.repeat, not given.no_check)
        print()
        show_figures(figures)
        save_figures(given.json, "combiners", vars(given), figures)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
