"""Where experiments run: one Spark session, inputs that are made once, and answers that are compared."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import incoop
from bench.apps.app import App, same
from bench.measuring import SETTLES
from bench.paper.results import Sample
from bench.paper.sizes import Size
from bench.runners.base import Measured
from bench.runners.memoized import Memoized, contraction_job
from bench.runners.plain import PlainRdd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seeds of the input, and of content that takes the place of some of it.
SEED, FRESH_SEED = 2011, 2012

#: Of incoop's report, what a sample keeps.
_REPORTED = ("seconds", "map", "keys")

#: Workers that have run for a while are larger than the 512 MB from which on PySpark's shuffle goes to disk: plain
#: PySpark then took six times as long in a second round as in the first.
_WORKER_MEMORY = "4g"


class TooLittleText(Exception):
    """A text of the user's own that is shorter than what an experiment changes and what it puts in its place."""

    def __init__(self, found: int, needed: int) -> None:
        super().__init__(
            f"the text holds {found} bytes, but {needed} are needed: choose a smaller size or a longer text."
        )


class WrongAnswer(Exception):
    """An answer that is not the one plain PySpark gives."""


@dataclass(frozen=True)
class Input:
    """An application's input: a file, what is in it at first, and what may come into it."""

    path: Path
    base: bytes
    fresh: bytes

    def write(self, content: bytes) -> None:
        self.path.write_bytes(content)

    def fresh_for(self, change: int, changes: Sequence[int]) -> bytes:
        """The part of the fresh content that one of several changes in percent takes: nothing that another one takes.

        What an earlier change brought is known, and would not be mapped again.
        """
        # Four more for each: a chunk may be larger than the share of all of them.
        sizes = [each + 4 for each in changes]
        at = list(changes).index(change)
        low, high = (len(self.fresh) * sum(sizes[:end]) // sum(sizes) for end in (at, at + 1))
        return self.fresh[self.fresh.rfind(b"\n", 0, low) + 1 : self.fresh.rindex(b"\n", 0, high) + 1]

    def settle(self) -> None:
        """Wait until the file's time stamp is old enough to be trusted."""
        time.sleep(SETTLES)


class Laboratory:
    """Holds what the experiments of one run share."""

    def __init__(
        self,
        size: Size,
        folder: Path,
        rounds: int,
        spark: SparkSession,
        say: Callable[[str], None],
        text: bytes | None = None,
    ) -> None:
        self.size, self.folder, self.rounds, self.spark, self.say = size, folder, rounds, spark, say
        #: In place of generated text.
        self.text = text
        self.plain = PlainRdd(spark)
        self._contents: dict[tuple[object, int, int], bytes] = {}

    def input(self, app: App, part: float = 1.0) -> Input:
        """The application's input file, as it is at first."""
        size = int(self.size.input_bytes[app.name] * part)
        if self.text is not None and app.kind == "text":
            base, fresh = own_parts(self.text, size)
        else:
            base, fresh = self._content(app, size, SEED), self._content(app, _fresh_size(size), FRESH_SEED)
        made = Input(self.folder / "input.txt", base, fresh)
        made.write(base)
        return made

    def _content(self, app: App, size: int, seed: int) -> bytes:
        key = app.write, size, seed
        if key not in self._contents:
            path = self.folder / "made"
            app.write(path, size, seed)
            content = path.read_bytes()
            path.unlink()
            # Cut to size: generators write large portions.
            self._contents[key] = content[: content.index(b"\n", size - 1) + 1]
        return self._contents[key]

    def forget_inputs(self) -> None:
        """Let go of contents; an experiment's are large."""
        self._contents.clear()

    @contextmanager
    def memoized(self, job_of: Callable[[App], incoop.Job] = contraction_job) -> Iterator[Memoized]:
        """incoop with an empty store, which is deleted in the end."""
        store = self.folder / f"store-{time.monotonic_ns()}"
        try:
            with Memoized(self.spark, store, job_of) as runner:
                yield runner
        finally:
            shutil.rmtree(store, ignore_errors=True)

    def check(self, app: App, runner: Memoized, given: Input, what: str) -> None:
        """Compare the last answer with plain PySpark's, and where floats round, with a run from scratch, exactly."""
        self.say(f"{app.name}: checking {what}")
        expected, found = self.plain.answer(app, given.path), runner.last_answer(app)
        if not same(expected, found):
            raise WrongAnswer(f"{app.name}, {what}: plain PySpark gives {expected!s:.200}, incoop {found!s:.200}")
        if not app.exact:
            with self.memoized(runner.job_of) as scratch:
                if scratch.answer(app, given.path) != found or scratch.root != runner.root:
                    raise WrongAnswer(f"{app.name}, {what}: an update differs from a run from scratch.")


def _fresh_size(size: int) -> int:
    """Enough for all changes of an experiment, each with its own."""
    return max(size, 1 << 20)


def own_parts(text: bytes, size: int) -> tuple[bytes, bytes]:
    """Of a text of the user's own, the beginning as input, and some of the end as fresh content."""
    fresh_size = _fresh_size(size)
    if len(text) < size + fresh_size:
        raise TooLittleText(len(text), size + fresh_size)
    return text[: text.index(b"\n", size - 1) + 1], text[text.index(b"\n", len(text) - fresh_size) + 1 :]


def sampled(
    case: str, round_: int, measured: Measured, change: float | None = None, *, given: int, stored: int | None = None
) -> Sample:
    """A measured run as a sample; `given` is the size of its input."""
    report: dict[str, Any] = {name: measured.report[name] for name in _REPORTED if name in measured.report}
    return Sample(case, round_, measured.seconds, measured.work, change, given, stored, report)


@contextmanager
def spark_session(folder: Path) -> Iterator[SparkSession]:
    """Spark as incoop starts it, its Python workers able to import `bench`."""
    repository = str(Path(__file__).resolve().parents[2])
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "PYSPARK_SUBMIT_ARGS")}
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [repository, before["PYTHONPATH"]]))
    given = before["PYSPARK_SUBMIT_ARGS"] or "pyspark-shell"
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--conf spark.python.worker.memory={_WORKER_MEMORY} {given}"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with incoop.connect(folder / "start") as session:
            session.warm_up()
            yield session.spark
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
