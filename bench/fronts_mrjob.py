"""An unmodified mrjob job for `bench.bench_fronts`: mrjob's own example of counting words, `-r inline` and by incoop.

Both run in this process, incoop with a warm Spark session; both give their output as bytes.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mrjob.examples

import incoop
from incoop.fronts.mrjob.load import loaded_job
from incoop.fronts.mrjob.run import made_job, run_job

JOB = Path(mrjob.examples.__file__).parent / "mr_word_freq_count.py"


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

    def plain(self, text: Path) -> Callable[[], list[bytes]]:
        with _captured() as out, loaded_job(JOB, ["-r", "inline", "--quiet", str(text)]) as loaded:
            loaded.job().run_job()
        return lambda: sorted(out.getvalue().splitlines())  # inline prints its part files as the file system lists them

    @contextlib.contextmanager
    def memoized(self, store: Path) -> Iterator[Callable[[Path], Callable[[], list[bytes]]]]:
        with incoop.connect(store, spark=self.spark) as session:

            def run(text: Path) -> Callable[[], list[bytes]]:
                with _captured() as out, loaded_job(JOB, ["--quiet", str(text)]) as loaded:
                    run_job(session, loaded, made_job(loaded))
                return lambda: sorted(out.getvalue().splitlines())

            yield run
