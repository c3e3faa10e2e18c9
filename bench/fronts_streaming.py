"""A Hadoop Streaming job against a shell pipeline of the same programs: first run, and after one inserted record.

    python -m bench.fronts_streaming [--size 100M] [--repeat 3] [--reducers 16]

Word count in Python with a combiner, beside `map | LC_ALL=C sort | reduce` on the same file; outputs are compared.
Spark runs already, as it does for a second job of a session. A reducer runs again for all of its partition, so that the
number of reducers decides what an update costs: see also `--reducers 1`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import incoop
from bench import data
from incoop.cli.options import Size
from incoop.fronts.streaming import CHUNKS, run_streaming
from incoop.fronts.streaming_options import parse_options

MAP = """\
import sys
for line in sys.stdin:
    for word in line.split():
        print(word, 1, sep="\\t")
"""
SUM = """\
import sys
current, count = None, 0
for line in sys.stdin:
    word, number = line.rstrip("\\n").split("\\t", 1)
    if word != current:
        if current is not None:
            print(current, count, sep="\\t")
        current, count = word, 0
    count += int(number)
if current is not None:
    print(current, count, sep="\\t")
"""

#: What is asked of the front: the first run's share of the pipeline's time, and how much faster a rerun is.
FIRST_AT_MOST, RERUN_AT_LEAST = 1.0, 20.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Medians, in seconds."""

    pipeline: float
    first: float
    rerun: float
    #: What ran for the inserted record, and where its time went.
    report: Any

    @property
    def first_ratio(self) -> float:
        return self.first / self.pipeline

    @property
    def speed_up(self) -> float:
        return self.pipeline / self.rerun


def measure(size: int, repeat: int = 3, reducers: int = 16) -> Figures:
    """Run both on a text of this many bytes; the outputs must be the same."""
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        return _measure(folder, size, repeat, reducers)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(folder: Path, size: int, repeat: int, reducers: int) -> Figures:
    text = folder / "text.txt"
    data.write_text(text, size)
    base = text.read_bytes()
    (folder / "map.py").write_text(MAP)
    (folder / "sum.py").write_text(SUM)
    with incoop.connect(folder / "store", chunks=CHUNKS) as session:
        session.warm_up()
        pipeline, first, rerun = [], [], []
        for attempt in range(repeat):
            text.write_bytes(base)
            seconds, expected = _pipeline(folder)
            pipeline.append(seconds)
            # A changed line in both programs makes nothing of the run before fit.
            (folder / "map.py").write_text(f"# {attempt}\n{MAP}")
            (folder / "sum.py").write_text(f"# {attempt}\n{SUM}")
            seconds, output, _ = _job(session, folder, f"first-{attempt}", reducers)
            assert output == expected
            first.append(seconds)
            text.write_bytes(data.insert_record(base, attempt))
            seconds, output, report = _job(session, folder, f"rerun-{attempt}", reducers)
            rerun.append(seconds)
            if attempt == 0:
                assert output == _pipeline(folder)[1]
    return Figures(statistics.median(pipeline), statistics.median(first), statistics.median(rerun), report)


def _pipeline(folder: Path) -> tuple[float, list[bytes]]:
    """Seconds and sorted lines of output of the plain pipeline."""
    command = f"{sys.executable} map.py < text.txt | LC_ALL=C sort | {sys.executable} sum.py > expected"
    started = time.perf_counter()
    # Unbuffered, Python would write every word by itself; the job's programs are not told to either.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, check=True, env=env)
    seconds = time.perf_counter() - started
    return seconds, sorted((folder / "expected").read_bytes().splitlines())


def _job(session: Any, folder: Path, name: str, reducers: int) -> tuple[float, list[bytes], Any]:
    """Seconds, sorted lines of output and report of the job."""
    options = parse_options(
        [
            *("-files", f"{folder}/map.py,{folder}/sum.py", "-input", f"{folder}/text.txt"),
            *("-mapper", f"{sys.executable} map.py", "-combiner", f"{sys.executable} sum.py"),
            *("-reducer", f"{sys.executable} sum.py", "-output", str(folder / name)),
            *("-numReduceTasks", str(reducers)),
        ]
    )
    started = time.perf_counter()
    report = run_streaming(session, options)
    seconds = time.perf_counter() - started
    parts = sorted((folder / name).glob("part-*"))
    assert len(parts) == reducers
    return seconds, sorted(line for part in parts for line in part.read_bytes().splitlines()), report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="100M")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--reducers", type=int, default=16)
    given = parser.parse_args()
    figures = measure(Size().convert(given.size, None, None), given.repeat, given.reducers)
    print(f"{given.size} of text, {os.cpu_count()} cores, Hadoop Streaming word count with a combiner")
    print(f"{given.reducers} reducers")
    print(f"map | sort | reduce          {figures.pipeline:8.2f} s")
    print(f"first run                    {figures.first:8.2f} s   {figures.first_ratio:.2f} of it (<= {FIRST_AT_MOST})")
    print(
        f"after one inserted record    {figures.rerun:8.2f} s   {figures.speed_up:.1f} times faster "
        f"(>= {RERUN_AT_LEAST})"
    )
    print(figures.report)


if __name__ == "__main__":
    main()
