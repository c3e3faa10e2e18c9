"""A large list, day after day: what an update costs when lines come and go everywhere.

    python -m bench.bench_days                                  # 117 MB, five days of 2,800 changed lines
    python -m bench.bench_days --data real                      # lists that people keep, as they really changed
    python -m bench.bench_days --size 64M,512M --jobs sums      # the same changes in a small and in a large list

Each day three jobs run, by plain PySpark and by incoop, both warm, in one program: a sum by key, a maximum by key, and
grouping without a combiner. Every answer is compared with a dict that plain Python fills.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import operator
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import incoop
from bench import changes, data
from bench.measuring import (
    Figure,
    Snapshot,
    folder_size,
    jobs_in,
    number,
    plain_names,
    save_figures,
    show,
    show_figures,
    some_of,
    spread,
    timed,
)
from bench.paper.laboratory import spark_session
from incoop.cli.options import Size

#: Where lists lie that were not made for benchmarks: a folder each, with v1, v2 … in it.
EVOLVING = Path(__file__).resolve().parents[2] / "shared" / "data" / "evolving"

#: Real list -> the file of jobs for it.
REAL = {
    "hosts": "blocked_hosts.py",
    "us-counties": "county_cases.py",
    "airports": "airport_heights.py",
    "cities": "city_fields.py",
}

#: Job -> what it is as RDD code of pairs, as plain Python for one key's values, and the speed-ups asked for.
KINDS: dict[str, tuple[Callable[[Any], Any], Callable[[list[Any]], Any], float, float]] = {
    "sums": (lambda pairs: pairs.reduceByKey(operator.add), sum, 12, 25),
    "maxima": (lambda pairs: pairs.reduceByKey(max), max, 7, 14),
    "groups": (lambda pairs: pairs.groupByKey().mapValues(sorted), sorted, 7, 14),
}

#: Bytes written to the store for each byte of the lines that changed: at most, and aimed at.
WRITTEN = (100, 30)
#: An update of a list eight times as large, with the same changes, takes so many times as long.
LARGER = (2, 1.3)

#: A small list is the same story with small figures: Spark's own time for a job is most of what is measured.
SMALL = 50e6


@dataclass(frozen=True)
class Day:
    """The list on one day, and how it differs from the day before."""

    content: bytes
    lines: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Series:
    """A list's days, and the file of jobs that run on it."""

    name: str
    jobs: str
    days: Iterable[Day]


def made_days(folder: Path, size: int, count: int, lines: int, seed: int = 2011) -> Iterator[Day]:
    """A list from its seed, and what becomes of it."""
    path = folder / "list.txt"
    data.write_list(path, size, seed)
    content = path.read_bytes()
    yield Day(content)
    for day in range(count):
        edits = changes.scattered_edits(content, lines, seed + day, data.new_list_line)
        content = changes.edited(content, edits)
        yield Day(content, len(edits), sum(edit.end - edit.start + len(edit.new) for edit in edits))


def real_days(folder: Path, count: int) -> Iterator[Day]:
    """The versions that lie in a folder, in order."""
    versions = sorted(folder.glob("v*"), key=lambda path: int(path.stem.removeprefix("v")))
    contents = [path.read_bytes() for path in versions[: count + 1]]
    yield Day(contents[0])
    for old, new in itertools.pairwise(contents):
        yield Day(new, *changes.difference(old, new))


def expected(mapper: Callable[[Any, str], Iterable[tuple[Any, Any]]], content: bytes, kind: str) -> dict[Any, Any]:
    """The answer by plain Python."""
    groups: dict[Any, list[Any]] = {}
    for line in content.decode().removesuffix("\n").split("\n"):
        for key, value in mapper(None, line):
            groups.setdefault(key, []).append(value)
    answer = KINDS[kind][1]
    return {key: answer(values) for key, values in groups.items()}


def assert_same(result: Iterable[tuple[Any, Any]], wanted: dict[Any, Any], what: str) -> None:
    found = 0
    for key, value in result:
        assert key in wanted and wanted[key] == value, f"{what}: {key!r} has {value!r:.80}, not {wanted.get(key)!r:.80}"
        found += 1
    assert found == len(wanted), f"{what}: {found} keys, not {len(wanted)}"


def measure_series(
    series: Series, kinds: list[str], spark: Any, folder: Path, check: bool
) -> dict[str, dict[str, Any]]:
    """Run all days; by job the figures of its first run and of every day."""
    path = folder / "today.txt"
    jobs, plain_functions = jobs_in(series.jobs), plain_names(series.jobs)
    measured: dict[str, dict[str, Any]] = {kind: {"days": []} for kind in kinds}
    with contextlib.ExitStack() as stack:
        # A store for each: what one job found out about the input would help the next.
        stores = {kind: folder / f"store-{kind}" for kind in kinds}
        # Opened as the README does: Spark, which runs for plain PySpark, is used for what is worth it.
        sessions = {kind: stack.enter_context(incoop.connect(stores[kind])) for kind in kinds}
        for number_of_day, day in enumerate(series.days):
            path.write_bytes(day.content)
            if not number_of_day:
                size, lines = len(day.content), day.content.count(b"\n")
                print(f"\n**{series.name}**: {size / 1e6:.1f} MB, {lines:,} lines", flush=True)
            for kind in kinds:
                job = jobs[kind]
                # The function that the job was given, as plain PySpark would have it from a script of its own.
                mapper = plain_functions[job.mapper.__name__]
                plain = functools.partial(plain_run, spark, path, mapper, kind)
                if not number_of_day:
                    plain()  # the first of its kind also loads code
                plain_seconds, keys = timed(plain)
                before = Snapshot.of(stores[kind])
                seconds, result = timed(functools.partial(sessions[kind].run, job, str(path)))
                written = Snapshot.of(stores[kind]).written_since(before)
                what = f"{series.name}, {kind}, day {number_of_day}"
                assert result.report.keys_total == keys, f"{what}: {result.report.keys_total} keys, not {keys}"
                if check:
                    assert_same(result, expected(mapper, day.content, kind), what)
                one = {
                    "plain": plain_seconds,
                    "seconds": seconds,
                    "changed_lines": day.lines,
                    "changed_bytes": day.bytes,
                    "written_bytes": written,
                    "report": result.report.as_dict(),
                }
                if number_of_day:
                    measured[kind]["days"].append(one)
                    print(f"day {number_of_day}, {day_text(kind, one)}", flush=True)
                else:
                    measured[kind]["first"] = {
                        **one,
                        "store": folder_size(stores[kind]) / size,
                        "input_bytes": size,
                    }
                    print(f"first run, {kind}: plain {plain_seconds:.2f} s, incoop {seconds:.2f} s", flush=True)
    for kind in kinds:
        measured[kind]["store_in_the_end"] = folder_size(stores[kind]) / size
        shutil.rmtree(stores[kind])
    return measured


def plain_run(spark: Any, path: Path, mapper: Callable[[Any, str], Iterable[tuple[Any, Any]]], kind: str) -> int:
    """The job as RDD code, up to its last pair; the number of pairs."""
    lines = spark.sparkContext.textFile(str(path))
    return int(KINDS[kind][0](lines.flatMap(lambda line: mapper(None, line))).count())


def day_text(kind: str, day: dict[str, Any]) -> str:
    report = day["report"]
    stages = " ".join(f"{name} {seconds:.2f}" for name, seconds in report["seconds"].items() if seconds >= 0.005)
    return (
        f"{kind}: plain {day['plain']:.2f} s / update {day['seconds']:.3f} s = {day['plain'] / day['seconds']:.1f} "
        f"({day['changed_lines']:,} lines, {day['changed_bytes']:,} bytes changed; "
        f"mapped {report['map']['executed']} of {report['map']['tasks']} chunks, {report['fresh_bytes']:,} bytes; "
        f"reduced {report['keys']['reduced']:,} of {report['keys']['total']:,} keys; "
        f"wrote {day['written_bytes']:,} bytes; {stages})"
    )


def figures_of(series: Series, measured: dict[str, dict[str, Any]]) -> list[Figure]:
    """What the project asks for is asked for of the large list; real ones are small, and are shown."""
    found = []
    for kind, runs in measured.items():
        days, first = runs["days"], runs["first"]
        asked = KINDS[kind][2:] if first["input_bytes"] >= SMALL else (None, None)
        ratio = statistics.median(day["plain"] / day["seconds"] for day in days)
        found.append(Figure(f"{series.name}, {kind}: plain / update, median", ratio, *asked, details=runs))
        found.append(
            Figure(
                f"{series.name}, {kind}: bytes written / bytes of changed lines, median",
                written_share(days),
                *(WRITTEN if asked[0] else (None, None)),
                less=True,
            )
        )
        found.append(Figure(f"{series.name}, {kind}: first run / plain", first["seconds"] / first["plain"], less=True))
        found.append(Figure(f"{series.name}, {kind}: store / input after the first run", first["store"], less=True))
    return found


def compared(sizes: list[int], by_size: dict[int, dict[str, dict[str, Any]]]) -> list[Figure]:
    """Times of updates with the same changes in the largest list, in those of the smallest."""
    small, large = min(sizes), max(sizes)
    if small == large:
        return []
    return [
        Figure(
            f"{kind}: update of {large / 1e6:.0f} MB / update of {small / 1e6:.0f} MB",
            median_seconds(by_size[large][kind]) / median_seconds(by_size[small][kind]),
            *LARGER,
            less=True,
        )
        for kind in by_size[small]
    ]


def written_share(days: list[dict[str, Any]]) -> float:
    """Bytes written to the store for each byte that changed, on days that changed something."""
    shares = [day["written_bytes"] / day["changed_bytes"] for day in days if day["changed_bytes"]]
    return statistics.median(shares) if shares else 0.0


def median_seconds(runs: dict[str, Any]) -> float:
    return statistics.median(day["seconds"] for day in runs["days"])


def show_series(series: Series, measured: dict[str, dict[str, Any]]) -> None:
    rows = []
    for kind, runs in measured.items():
        days = runs["days"]
        reports = [day["report"] for day in days]
        median = lambda values: statistics.median(list(values))  # noqa: E731
        seconds, plain = [day["seconds"] for day in days], [day["plain"] for day in days]
        rows.append(
            [
                kind,
                f"{median(plain):.2f} ({spread(plain)})",
                f"{median(seconds):.3f} ({spread(seconds)})",
                number(median(day["plain"] / day["seconds"] for day in days)),
                *(f"{asked:g}" for asked in KINDS[kind][2:]),
                f"{median(report['fresh_bytes'] for report in reports):,.0f}",
                f"{median(report['keys']['reduced'] for report in reports):,.0f} of {reports[-1]['keys']['total']:,}",
                number(written_share(days)),
                f"{runs['first']['seconds'] / runs['first']['plain']:.2f}",
                f"{runs['first']['store']:.2f}",
            ]
        )
    print()
    head = ("job", "plain, s", "update, s", "plain / update", "required", "aim", "mapped bytes", "keys reduced")
    written = f"written / changed (at most {WRITTEN[0]}, aim {WRITTEN[1]})"
    show((*head, written, "first run / plain", "store / input"), rows)


def run(
    folder: Path,
    spark: Any,
    sizes: list[int],
    real: list[str],
    kinds: list[str],
    days: int,
    lines: int,
    check: bool = True,
    evolving: Path = EVOLVING,
) -> list[Figure]:
    """Measure made lists of some sizes, and real ones; print as it goes."""
    figures, by_size = [], {}
    for size in sizes:
        made = Series(f"list of {size / 1e6:.0f} MB", "package_sizes.py", made_days(folder, size, days, lines))
        by_size[size] = measure_series(made, kinds, spark, folder, check)
        show_series(made, by_size[size])
        figures += figures_of(made, by_size[size])
    for name in real:
        found = Series(name, REAL[name], real_days(evolving / name, days))
        measured = measure_series(found, kinds, spark, folder, check)
        show_series(found, measured)
        figures += figures_of(found, measured)
    return figures + (compared(sizes, by_size) if by_size else [])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="112M", help="of the made list; several, separated by commas, are compared")
    parser.add_argument("--data", default="made,real", help="made, real, or names of real lists: " + ", ".join(REAL))
    parser.add_argument("--jobs", type=some_of(KINDS), default=list(KINDS))
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--lines", type=int, default=2800, help="changed lines a day in the made list")
    parser.add_argument("--evolving", type=Path, default=EVOLVING, help="where real lists lie")
    parser.add_argument("--no-check", action="store_true", help="leave out the comparison with plain Python")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args(arguments)
    wanted = given.data.split(",")
    real = [name for name in REAL if name in wanted or "real" in wanted]
    if real and not given.evolving.is_dir():
        print(f"{given.evolving} is not there: real lists are left out.", file=sys.stderr)
        real = []
    sizes = [Size().convert(size, None, None) for size in given.size.split(",")] if "made" in wanted else []
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, medians of {given.days} days")
        with spark_session(folder) as spark:
            kinds = given.jobs
            figures = run(
                folder, spark, sizes, real, kinds, given.days, given.lines, not given.no_check, given.evolving
            )
        if asked := [figure for figure in figures if figure.required is not None]:
            print()
            show_figures(asked)
        save_figures(given.json, "days", vars(given), figures)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
