"""Logs that arrive: what taking them costs, and what they cost when they are taken bit by bit.

    python -m bench.bench_logs [--only appended,ingest,appends,days,minute] [--size 256M] [--made FILE] [--json FILE]

Contract: one function an experiment, which asserts its answer and gives figures; both sides of a ratio are measured in
one run, by turns, on one file system, with fsync.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench import log_appends, log_windows
from bench.measuring import Figure, folder_size, save_figures, show_figures, some_of
from incoop.cli.options import Size
from incoop.inchdfs import Dataset, DatasetStore, collect
from incoop.inchdfs.ingest.follow import IngestOptions, ingest

ROUNDS = 3
MB = 1 << 20

#: Appends of the second experiment, and how large each is.
APPENDS, APPENDED = 100, 1 * MB


def write_access_log(path: Path, size: int, seed: int = 2011, mode: str = "wb") -> None:
    """Lines of an access log, some 150 bytes each; later ones are earlier ones in another order, with other times."""
    rng = random.Random(seed)
    agents = ["Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0", "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"]
    lines = []
    for _ in range(20_000):
        client = ".".join(str(rng.randrange(256)) for _ in range(3))
        page = f"{rng.choice(['article', 'image', 'user', 'search'])}/{rng.randrange(100_000)}"
        answer = f"{rng.choice([200, 200, 200, 304, 404, 500])} {rng.randrange(100_000)}"
        lines.append(f'10.{client} - - [%s +0000] "GET /{page} HTTP/1.1" {answer} "-" "{rng.choice(agents)}"\n')
    second = seed * 100_000
    with path.open(mode) as file:
        left = size
        while left > 0:
            rng.shuffle(lines)
            second += 60
            stamp = time.strftime("%d/%b/%Y:%H:%M:%S", time.gmtime(second))
            block = "".join(line % stamp for line in lines).encode()
            if len(block) > left:
                block = block[: block.index(b"\n", left - 1) + 1] if b"\n" in block[left - 1 :] else block
            file.write(block)
            left -= len(block)
        file.flush()
        os.fsync(file.fileno())


def take(store: Path, source: Path, **options: object) -> int:
    """An ingest of what is there, in this process; bytes that were taken."""
    wanted = IngestOptions(**options)  # type: ignore[arg-type]
    done = ingest(DatasetStore(store), [str(source)], "logs", wanted, tell=print, stop=threading.Event())
    return done.bytes


def cat(source: Path, target: Path) -> None:
    """What a person would do: cat, and sync of that file."""
    with target.open("wb") as output:
        subprocess.run(["cat", str(source)], stdout=output, check=True)
        os.fsync(output.fileno())


def timed(action: Callable[[], object]) -> float:
    gc.collect()
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def ingest_against_cat(folder: Path, size: int) -> list[Figure]:
    """MB/s of an ingest from a file, against `cat` to the same disk with fsync."""
    source = folder / "access.log"
    write_access_log(source, size)
    size = source.stat().st_size
    plain, ours, cpu = [], [], [0.0, 0.0]
    for number in range(ROUNDS):
        os.sync()
        before = os.times()
        plain.append(timed(lambda n=number: cat(source, folder / f"copy-{n}")))  # type: ignore[misc]
        os.sync()
        between = os.times()
        ours.append(timed(lambda n=number: take(folder / f"store-{n}", source)))  # type: ignore[misc]
        after = os.times()
        cpu[0] += sum(between[:4]) - sum(before[:4])
        cpu[1] += sum(after[:4]) - sum(between[:4])
    for number in range(ROUNDS):
        stored = Dataset(DatasetStore(folder / f"store-{number}"), "logs").chunks()
        with source.open("rb") as file:
            assert all(file.read(len(chunk)) == chunk for chunk in stored) and not file.read(1)
    rates = {"ingest": size / statistics.median(ours) / 1e6, "cat": size / statistics.median(plain) / 1e6}
    # On a machine that is busy with other things, time of the processor says more than the clock.
    details = {
        "MB/s": rates,
        "seconds": {"ingest": ours, "cat": plain},
        "processor seconds": {"ingest": cpu[1] / ROUNDS, "cat": cpu[0] / ROUNDS},
    }
    what = f"ingest of {size / MB:.0f} MB, {rates['ingest']:.0f} MB/s, against cat with fsync, {rates['cat']:.0f} MB/s"
    return [Figure(what, rates["ingest"] / rates["cat"], 0.3, 0.7, details=details)]


def appends(folder: Path, size: int) -> list[Figure]:
    """100 appends of 1 MB: whether the last ones cost what the first did, and how the store grows."""
    source, store = folder / "access.log", folder / "store"
    write_access_log(source, size)
    take(store, source)
    seconds, sizes = [], {}
    for number in range(APPENDS):
        write_access_log(source, APPENDED, seed=number, mode="ab")
        seconds.append(timed(lambda: take(store, source)))
        if number + 1 in (10, APPENDS):
            collect(DatasetStore(store))
            sizes[number + 1] = folder_size(store)
    assert Dataset(DatasetStore(store), "logs").manifest.size == source.stat().st_size
    # Single ones are some 50 ms, most of it waiting for the disk.
    first, last = statistics.median(seconds[:10]), statistics.median(seconds[-10:])
    what = f"{APPENDS} appends of 1 MB to {size / MB:.0f} MB: ingest of the last / of the first ({first * 1000:.0f} ms)"
    grown = f"store after collection, after {APPENDS} appends / after the tenth ({sizes[10] / MB:.0f} MB)"
    return [
        Figure(what, last / first, 1.3, 1.1, less=True, details={"seconds": seconds}),
        Figure(grown, sizes[APPENDS] / sizes[10], 1.5, 1.2, less=True, details={"bytes": sizes}),
    ]


EXPERIMENTS: dict[str, Callable[..., list[Figure]]] = {
    "appended": log_appends.appended,
    "ingest": ingest_against_cat,
    "appends": appends,
    "days": log_windows.by_a_day,
    "minute": log_windows.by_a_minute,
}


def run(folder: Path, size: int, wanted: list[str], made: Path | None = None) -> list[Figure]:
    figures = []
    for name in wanted:
        (folder / name).mkdir()
        kept = {"made": made} if name == "appended" else {}
        figures += EXPERIMENTS[name](folder / name, size, **kept)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=some_of(EXPERIMENTS), default=list(EXPERIMENTS), help="some experiments")
    parser.add_argument("--size", default="500M", help="of the logs to begin with, as in 64M or 1G")
    parser.add_argument("--folder", default=None, help="where to work; a temporary folder unless given")
    parser.add_argument("--made", type=Path, default=None, help="of appended: a log to use again, made if not there")
    parser.add_argument("--json", type=Path, default=None, help="file to keep the figures in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="incoop-bench-", dir=options.folder) as folder:
        figures = run(Path(folder), Size().convert(options.size, None, None), options.only, options.made)
    show_figures(figures)
    save_figures(options.json, "bench_logs", vars(options), figures)
    return 0 if all(figure.reached for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
