"""A store, a Spark session and a memo, opened together: what ways in run their jobs in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.engine.driver import StageRun
from incoop.engine.events import DidWarn
from incoop.engine.explain import Explanation
from incoop.engine.record import Origin
from incoop.engine.running.processes import Processes
from incoop.engine.running.spark import Spark
from incoop.engine.running.workforce import Workforce
from incoop.engine.stage import RunOptions
from incoop.engine.stages import TASKS
from incoop.engine.stages.map_contract.stage import MapContract
from incoop.inchdfs.errors import FileChangedWhileRead
from incoop.inchdfs.store.index import AS_BEFORE
from incoop.job import Job
from incoop.memo import MemoStore
from incoop.memo.kept_bytes import KeptBytes
from incoop.memo.null import NullMemo
from incoop.result import Result
from incoop.windows.window import Window
from incoop.windows.windowed import InputMoved, windowed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from incoop.memo import WorkerConfig

#: What `strict=True` demands.
_STRICT = 0.9

#: A log that grows all the time moves between two looks now and then; one that does so this often in a row does not
#: stand still for a run.
_LOOKS = 4


def _nothing(_: int) -> None:
    """A task that loads what the stages need into a Python worker."""
    import incoop.engine.stages.map_contract.contract_task
    import incoop.engine.stages.map_contract.map_task  # noqa: F401


class JobSession:
    """Runs jobs. Use it with `with`, or call `close()`."""

    def __init__(
        self,
        store: str | os.PathLike[str] = "incoop-store",
        *,
        spark: SparkSession | None = None,
        memo: str | None = None,
        master: str | None = None,
        chunks: inchdfs.ChunkSettings | None = None,
        runs_in: Spark | None = None,
        workers_load: Sequence[str] = (),
        **options: Any,
    ) -> None:
        """`runs_in` is for ways in that know of a Spark that is not started yet, `workers_load` for those whose tasks
        need more modules than the engine's do.
        """
        if spark is not None and master is not None:
            raise BadCall("give either spark, a session that exists, or master, an address to start one at.")
        folder = Path(local_path(store)).absolute()  # the program may go elsewhere
        self.datasets = inchdfs.DatasetStore(folder)
        self._chunks = chunks
        self._spark = runs_in if runs_in is not None else Spark(spark, master)
        self._workforce = Workforce(self._spark, Processes((*TASKS, *workers_load)))
        self._memo = MemoStore.open(folder, memo, **options)
        self._null: NullMemo | None = None
        #: Times in windows, by the stage that found them.
        self._kept_pairs: dict[str, tuple[Result, list[tuple[Any, Any]]]] = {}
        #: Stages of jobs as they were last noted.
        self._stages: dict[str, frozenset[str]] = {}
        self._closed = False

    def run(
        self,
        job: Job,
        inputs: Any,
        *,
        paranoid: bool = False,
        strict: float | bool | None = None,
        verify: float = 0.0,
        window: Window | None = None,
        origin: Origin | None = None,
        counts_store: bool = False,
    ) -> Result:
        """Run a job on a path, a glob, a folder, a list of those, `inchdfs:/NAME[@VERSION]`, or another result.

        A job with a dict of mappers takes a dict of inputs. What did not change since any earlier run is not computed
        again. `paranoid` verifies by content that files whose size and times did not move did not change either.
        `strict` refuses to run when less than that share of the input can be reused (True: 90 %), or when the functions
        do what cannot be followed. `verify` computes a random share of the result again, from scratch, in a process of
        its own, and raises NotDeterministic when it comes out differently. `window` runs it on the newest part of the
        input (`incoop.last(files=10)`). `origin` says how to ask for this run again.
        `counts_store` notes the size of the store in the job's history, for a report page.
        """
        if not isinstance(job, Job):
            raise BadCall(f"run takes a Job, not {job!r:.80}: incoop.Job('name', mapper=…, reducer=…).")
        if (strict is not None and not 0 <= float(strict) <= 1) or not 0 <= verify <= 1:
            raise BadCall("strict and verify are shares, between 0 and 1.")
        share = None if strict is None or strict is False else _STRICT if strict is True else float(strict)
        options = self.options(paranoid=paranoid, strict=share, verify=verify, origin=origin, counts_store=counts_store)
        result = self._execute(job, inputs, options, window)
        assert result is not None, "without `unless` there is a result"
        return result

    def execute(self, job: Job, inputs: Any, options: RunOptions) -> Result:
        """Run a job for another way in, with options of its own."""
        result = self._execute(job, inputs, options)
        assert result is not None, "without `unless` there is a result"
        return result

    def _execute(self, job: Job, inputs: Any, options: RunOptions, window: Window | None = None) -> Result | None:
        if window is not None:
            return self._within(window, job, inputs, options)
        self._demand_open()
        memo = self._memo if job.memoize else self._unmemoized()
        run = StageRun(MapContract(job, inputs, self.datasets), memo, self._workforce, options)
        outcome = run.update()
        if outcome is None:
            return None
        return Result(outcome, memo.blobs, memo.worker_config(), self._workforce, run.recover)

    def _within(self, window: Window, job: Job, inputs: Any, options: RunOptions) -> Result | None:
        """Run a job in a window; again, when the input moved on between the look at its times and the run."""
        for last_try in (False,) * _LOOKS + (True,):
            with suppress(*() if last_try else (InputMoved, FileChangedWhileRead)):
                held = windowed(window, job, inputs, partial(self._pairs, options.paranoid))
                result = self._execute(held.job, held.inputs, options)
                if result is not None and held.without_time:
                    result.events.tell(DidWarn(f"{held.without_time:,} records have no time, and are in no window"))
                return result
        raise AssertionError  # the last try raises what stands in its way

    def _pairs(self, paranoid: bool, job: Job, inputs: Any) -> list[tuple[Any, Any]]:
        """What a job gives, kept until it gives something else: a window that did not move costs a look."""
        before = self._kept_pairs.get(job.path.key)
        unless = before[0].basis if before is not None else None
        result = self._execute(job, inputs, self.options(paranoid=paranoid, unless=unless))
        if result is not None:
            self._kept_pairs[job.path.key] = before = result, list(result)
        assert before is not None
        return before[1]

    def update(
        self,
        job: Job,
        inputs: Any,
        since: Result | None = None,
        *,
        window: Window | None = None,
        origin: Origin | None = None,
        counts_store: bool = False,
    ) -> Result | None:
        """Run a job if a run would not give what `since` has: None where it would, at the cost of a look.

        What counts is the job's code, its input, and what its functions read besides; a look makes no generation. The
        other arguments are those of `run`.
        """
        unless = since.basis if since is not None else None
        return self._execute(
            *(job, inputs, self.options(origin=origin, unless=unless, counts_store=counts_store), window)
        )

    def note_stages(self, job: str, stages: Iterable[str]) -> None:
        """Say which stages a job of several has now: what others left before is collected by the next `incoop gc`."""
        self._demand_open()
        named = frozenset(stages)
        if self._stages.get(job) != named:
            self._memo.note_stages(job, named)
            self._stages[job] = named

    def prepare(self) -> None:
        """Begin to start worker processes now rather than at the first job."""
        self._demand_open()
        self._workforce.processes.start()

    def options(self, **given: Any) -> RunOptions:
        """Options of a run in this session."""
        return RunOptions(self._chunks, **given)

    def explain(self, job: Job, inputs: Any, *, paranoid: bool = False, window: Window | None = None) -> Explanation:
        """Say what `run` would reuse and what it would run, and why, without running it.

        Only the times of records are looked at, for a `window` of these.
        """
        self._demand_open()
        if window is not None:
            held = windowed(window, job, inputs, partial(self._pairs, paranoid))
            job, inputs = held.job, held.inputs
        stage = MapContract(job, inputs, self.datasets)
        return StageRun(stage, self._memo, self._workforce, self.options(paranoid=paranoid)).explain()

    def verify(self, job: Job, inputs: Any, share: float, window: Window | None = None) -> tuple[int, int]:
        """Compute a share of what the last run left again, from scratch, in a process of its own; run nothing else.

        Gives how many chunks and shards that were. Raises NotDeterministic when one comes out differently.
        """
        self._demand_open()
        if window is not None:
            held = windowed(window, job, inputs, partial(self._pairs, False))
            job, inputs = held.job, held.inputs
        stage = MapContract(job, inputs, self.datasets)
        # By the chunks that the run had, whoever chose them.
        options = RunOptions(self._chunks or AS_BEFORE, verify=share)
        return StageRun(stage, self._memo, self._workforce, options).verify()

    def index(self, files: inchdfs.Listing, records: inchdfs.RecordFormat) -> inchdfs.Manifest:
        """The chunks of listed files; only those that changed since they were last indexed are read."""
        self._demand_open()
        return inchdfs.index_input(
            self.datasets, files, settings=self._chunks, records=records, run_segments=self._spark.segments()
        )

    def kept_bytes(self, kind: str, name: str) -> KeptBytes:
        """Bytes that a way in keeps from one command to the next; `name` is one of a file."""
        home = self._memo.session.home
        return KeptBytes(home / kind / name, self._memo.session.signer)

    def worker_config(self) -> WorkerConfig:
        """What a Spark task needs to read and write stored blocks."""
        return self._memo.worker_config()

    @property
    def spark(self) -> SparkSession:
        """The Spark session that jobs run in; started now if it was not."""
        self._demand_open()
        return self._spark.session

    def warm_up(self) -> None:
        """Start Spark now rather than at the first job."""
        self._demand_open()
        self._spark.run("warm up", _nothing, range(self._spark.cores))

    def _unmemoized(self) -> NullMemo:
        if self._null is None:
            self._null = NullMemo(self.datasets.folder.parent)
        return self._null

    def close(self) -> None:
        """Stop what was started. Closing twice is fine."""
        self._closed = True
        try:
            self._memo.close()
            if self._null is not None:
                self._null.close()
        finally:
            self._workforce.stop()

    def _demand_open(self) -> None:
        """What ran after the end would start processes that nobody stops."""
        if self._closed:
            raise BadCall("this session is closed; open another with incoop.connect().")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
