"""The front door: a store, a Spark session and a memo, opened together."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

import inchdfs
from contraction.parts import BlockLost
from incoop.errors import BadCall
from incoop.job import Job
from incoop.memo import MemoStore
from incoop.pipeline import JobRun, Outcome
from incoop.result import Result
from incoop.spark import Spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect(
    store: str | os.PathLike[str] = "incoop-store",
    *,
    spark: SparkSession | None = None,
    memo: str | None = None,
    master: str | None = None,
    chunks: inchdfs.ChunkSettings | None = None,
    **options: Any,
) -> Session:
    """Open a session. Starts Spark (`local[*]`, or `master`) and a private Redis by itself.

    `spark` is an existing SparkSession to work in, `memo` a redis://, rediss:// or unix:// address. `chunks` fixes the
    sizes of chunks, which otherwise follow from the input's size. Other options go to the memo store (`secret`,
    `blobs`, `compression`, `cache` ...).
    """
    return Session(store, spark, memo, master, chunks, options)


class Session:
    """Runs jobs. Use it with `with`, or call `close()`."""

    def __init__(
        self,
        store: str | os.PathLike[str],
        spark: SparkSession | None,
        memo: str | None,
        master: str | None,
        chunks: inchdfs.ChunkSettings | None,
        options: dict[str, Any],
    ) -> None:
        if spark is not None and master is not None:
            raise BadCall("give either spark, a session that exists, or master, an address to start one at.")
        self.datasets = inchdfs.DatasetStore(store)
        self._chunks = chunks
        self._spark = Spark(spark, master)
        self._memo = MemoStore.open(store, memo, **options)

    def run(self, job: Job, inputs: Any, *, paranoid: bool = False) -> Result:
        """Run a job on a path, a glob, a folder, a list of those, or `inchdfs:/NAME[@VERSION]`.

        What did not change since any earlier run is not computed again. `paranoid` verifies by content that files
        whose size and times did not move did not change either.
        """
        run = JobRun(job, inputs, self.datasets, self._memo, self._spark, self._chunks, paranoid)

        def recover(lost: BlockLost) -> Outcome:
            run.lost.add(lost.pack)
            return run.execute()

        return Result(run.execute(), self._memo.blobs, recover)

    def close(self) -> None:
        """Stop what was started. Closing twice is fine."""
        self._memo.close()
        self._spark.stop()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
