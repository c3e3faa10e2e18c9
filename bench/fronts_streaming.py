"""A Hadoop Streaming job for `bench.bench_fronts`: word count with a combiner, by a shell pipeline and by incoop.

The pipeline is `map | LC_ALL=C sort | reduce`. A reducer runs again for all of its partition, so that the number of
reducers decides what an update costs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import incoop
from bench.measuring import JOBS
from incoop.fronts.streaming.options import parse_options
from incoop.fronts.streaming.run import CHUNKS, run_streaming

#: Reducers of the job.
REDUCERS = 4

#: The programs, as a user has them.
MAP, SUM = "words_map.py", "words_reduce.py"


class StreamingFront:
    """The same programs in a pipeline and in a job; the answer is the sorted lines of output."""

    title = f"Hadoop Streaming: count words with a combiner, {REDUCERS} reducers"

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        for program in (MAP, SUM):
            shutil.copy(JOBS / program, folder)

    def plain(self, text: Path) -> Callable[[], list[bytes]]:
        command = f"{sys.executable} {MAP} < {text} | LC_ALL=C sort | {sys.executable} {SUM} > expected"
        # Unbuffered, Python would write every word by itself; the job's programs are not told to either.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, check=True, env=env)
        return lambda: sorted((self.folder / "expected").read_bytes().splitlines())

    @contextlib.contextmanager
    def memoized(self, store: Path) -> Iterator[Callable[[Path], Callable[[], list[bytes]]]]:
        with incoop.connect(store, spark=self.spark, chunks=CHUNKS) as session:
            yield lambda text: self._job(session, text)

    def _job(self, session: Any, text: Path) -> Callable[[], list[bytes]]:
        output = self.folder / "output"
        shutil.rmtree(output, ignore_errors=True)
        files = f"{self.folder}/{MAP},{self.folder}/{SUM}"
        program = f"{sys.executable} {SUM}"
        options = parse_options(
            [
                *("-files", files, "-input", str(text), "-output", str(output)),
                *("-mapper", f"{sys.executable} {MAP}", "-combiner", program, "-reducer", program),
                *("-numReduceTasks", str(REDUCERS)),
            ]
        )
        run_streaming(session, options)
        parts = sorted(output.glob("part-*"))
        assert len(parts) == REDUCERS
        return lambda: sorted(line for part in parts for line in part.read_bytes().splitlines())
