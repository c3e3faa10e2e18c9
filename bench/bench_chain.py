"""A job on another job's result, after one line changed: what the second one maps, and how long it takes.

    python -m bench.bench_chain                   # words of 24 MB of text, then their counts in several ways
    python -m bench.bench_chain --size 96 --updates 9

Each second job runs twice: with leaves, and without any, so that blocks that changed are mapped whole. In processes of
our own, without Spark. Every answer is compared with plain Python's; seconds are medians.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import incoop
from bench.changes import insert_record
from bench.data import write_text
from bench.measuring import timed


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def total(key: Any, values: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum(values)


def by_length(word: str, count: int) -> Iterator[tuple[int, int]]:
    """Few keys, a sum."""
    yield len(word), count


def words_by_count(word: str, count: int) -> Iterator[tuple[int, str]]:
    """Some thousand keys, no combiner."""
    yield count, word


def how_many(count: int, found: Iterable[str]) -> Iterator[tuple[int, tuple[int, str]]]:
    given = list(found)
    yield count, (len(given), min(given))


def counts_by_length(word: str, count: int) -> Iterator[tuple[int, tuple[int, str]]]:
    """Few keys, a combiner that is no fold."""
    yield len(word), (count, word)


def most(length: int, found: Iterable[tuple[int, str]]) -> Iterator[tuple[int, tuple[int, str]]]:
    yield length, max(found)


FIRST = incoop.Job("words", words, total, total)

SECONDS = {
    "sum": incoop.Job("by length", by_length, total, total),
    "maximum": incoop.Job("most by length", counts_by_length, most, most),
    "no combiner": incoop.Job("histogram", words_by_count, how_many),
}


def by_whole_blocks(job: incoop.Job) -> incoop.Job:
    """The same job without leaves; by its version another, which reuses nothing of this one's."""
    return replace(job, name=f"{job.name} whole", leaf=0, version="whole")


BOTH = SECONDS | {f"{name}, whole blocks": by_whole_blocks(job) for name, job in SECONDS.items()}


def expected(counts: Counter[str], job: incoop.Job) -> dict[Any, Any]:
    assert callable(job.mapper) and job.reducer is not None
    groups: dict[Any, list[Any]] = defaultdict(list)
    for word, count in counts.items():
        for key, value in job.mapper(word, count):
            groups[key].append(value)
    return {key: value for given, values in groups.items() for key, value in job.reducer(given, values)}


def measure(folder: Path, size: int, updates: int) -> None:
    path = folder / "text.txt"
    write_text(path, size)
    content = path.read_bytes()
    took: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    with incoop.connect(store=folder / "store") as inc:
        for number in range(updates + 1):
            if number:
                content = insert_record(content, number)
                path.write_bytes(content)
            first_seconds, first = timed(partial(inc.run, FIRST, str(path)))
            counts = Counter(content.decode().split())
            print(f"{'update' if number else 'first'}: words {first_seconds:.3f} s, {len(counts):,} keys")
            for name, job in BOTH.items():
                seconds, second = timed(partial(inc.run, job, first))
                assert second.as_dict() == expected(counts, job), name
                report = second.report
                share = report.fresh_bytes / report.input_bytes
                phases = " ".join(f"{what} {spent:.3f}" for what, spent in report.seconds.items() if spent)
                print(
                    f"  {name}: {seconds:.3f} s ({phases}); chunks {report.map.executed}/{report.map.tasks}, "
                    f"about {share * len(counts):,.0f} of {len(counts):,} pairs, {report.fresh_bytes:,} bytes mapped; "
                    f"{report.keys_reduced} keys reduced"
                )
                if number:
                    took[name].append((seconds, report.seconds["map"], share * len(counts)))
    for name, runs in took.items():
        whole, mapping, pairs = (statistics.median(each) for each in zip(*runs, strict=True))
        print(f"{name}: median of {updates} updates {whole:.3f} s, map step {mapping:.3f} s, {pairs:,.0f} pairs mapped")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=24, help="of the text, in MB")
    parser.add_argument("--updates", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="incoop-bench-") as name:
        measure(Path(name), given.size << 20, given.updates)


if __name__ == "__main__":
    main()
