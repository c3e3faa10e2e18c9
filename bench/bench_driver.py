"""What the driver needs: memory against plain PySpark, and a one-record update on inputs of two sizes.

    python -m bench.bench_driver [--size 256M] [--small 64M] [--large 512M] [--repeat 3]

The driver is the Python process and the JVM it starts. Each measurement of memory is a process of its own, so that none
sees what another has left; peak memory is what the kernel recorded (VmHWM).
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import incoop
from bench import data
from bench.bench_engine import plain
from bench.jobs.words_job import total, words
from bench.measuring import timed
from incoop.cli.options import Size

JOB = incoop.Job("count words", mapper=words, combiner=total, reducer=total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="256M")
    parser.add_argument("--small", default="64M")
    parser.add_argument("--large", default="512M")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--one", choices=["incoop", "plain"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one_driver(given.one, Path(given.folder))))
        return
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        memory(folder, _bytes(given.size), given.repeat)
        growth(folder, _bytes(given.small), _bytes(given.large), given.repeat)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bytes(text: str) -> int:
    return int(Size().convert(text, None, None))


def one_driver(kind: str, folder: Path) -> dict[str, Any]:
    """Run once; the peaks of this process and its JVM, in MB, and the number of keys."""
    text = folder / "text.txt"
    with incoop.connect(folder / f"store-{kind}") as session:
        counted = (
            plain(session.spark, text, "words") if kind == "plain" else session.run(JOB, str(text)).report.keys_total
        )
        jvm = int(session.spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
        return {"keys": counted, "python": peak("self"), "jvm": peak(str(jvm))}


def peak(process: str) -> float:
    """The most memory that a process had, in MB; 0 for one that has ended and is still listed."""
    status = Path(f"/proc/{process}/status").read_text()
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def memory(folder: Path, size: int, repeat: int) -> None:
    data.write_text(folder / "text.txt", size)
    found: dict[str, list[dict[str, Any]]] = {"plain": [], "incoop": []}
    for _ in range(repeat):
        for kind, runs in found.items():
            command = [sys.executable, "-m", "bench.bench_driver", "--one", kind, "--folder", str(folder)]
            out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            runs.append(json.loads(out.splitlines()[-1]))
            shutil.rmtree(folder / f"store-{kind}")
    assert len({run["keys"] for runs in found.values() for run in runs}) == 1
    print(f"first run on {size >> 20} MiB of text; peak memory of the driver in MB, median of {repeat}")
    print("| | Python | JVM | both |")
    print("|---|---|---|---|")
    both = {}
    for kind, runs in found.items():
        python, jvm = (statistics.median(run[part] for run in runs) for part in ("python", "jvm"))
        both[kind] = statistics.median(run["python"] + run["jvm"] for run in runs)
        print(f"| {kind} | {python:.0f} | {jvm:.0f} | {both[kind]:.0f} |")
    print(f"incoop / plain: {both['incoop'] / both['plain']:.2f} (required: at most 1.2, aim: 1.0)")


def growth(folder: Path, small: int, large: int, repeat: int) -> None:
    """The time of a one-record update must not grow with the input."""
    medians = {}
    with incoop.connect(folder / "start") as start:
        start.warm_up()
        for size in (small, large):
            text = folder / f"text-{size}.txt"
            data.write_text(text, size)
            base = text.read_bytes()
            seconds = []
            with incoop.connect(folder / f"store-{size}", spark=start.spark) as session:
                session.run(JOB, str(text))
                for attempt in range(repeat * 2 + 1):
                    text.write_bytes(data.insert_record(base, attempt))
                    took, result = timed(lambda session=session, text=text: session.run(JOB, str(text)))
                    assert 0 < result.report.map.executed <= 3
                    seconds.append(took)
            medians[size] = statistics.median(seconds[1:])
            print(f"one record, {size >> 20} MiB: {medians[size]:.3f} s ({min(seconds):.3f}-{max(seconds):.3f})")
            shutil.rmtree(folder / f"store-{size}")
            text.unlink()
    print(f"large / small: {medians[large] / medians[small]:.2f} (required: at most 2.0, aim: 1.3)")


if __name__ == "__main__":
    main()
