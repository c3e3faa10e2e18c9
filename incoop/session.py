"""The front door: jobs and RDDs, in one session."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.code import importing
from incoop.job_session import JobSession

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

    from incoop.fronts.rdd.memo_rdd import MemoRDD
    from incoop.fronts.rdd.program import RddProgram


def connect(
    store: str | os.PathLike[str] = "incoop-store",
    *,
    spark: SparkSession | None = None,
    memo: str | None = None,
    master: str | None = None,
    chunks: inchdfs.ChunkSettings | None = None,
    **options: Any,
) -> Session:
    """Open a session. Starts a private Redis by itself, worker processes for little work, and Spark for much.

    `spark` is an existing SparkSession to work in, `master` an address to start one at: then all work is Spark's.
    `memo` is a redis://, rediss:// or unix:// address. `chunks` fixes the sizes of chunks, which otherwise follow from
    the input's size. Other options go to the memo store (`secret`, `blobs`, `compression`, `cache` ...).
    """
    if importing():
        raise BadCall(
            "connect was called while a worker imports the module of a job's functions. What is for the program "
            "itself, and not for its functions, belongs under `if __name__ == '__main__':`."
        )
    return Session(store, spark=spark, memo=memo, master=master, chunks=chunks, **options)


class Session(JobSession):
    """Runs jobs, and makes RDDs that are memoized. Use it with `with`, or call `close()`."""

    _rdds: RddProgram | None = None

    def textFile(self, name: str, minPartitions: int | None = None, use_unicode: bool = True) -> MemoRDD:  # noqa: N802, N803
        """Lines of files, as `SparkContext.textFile`; all that is made of them is memoized."""
        return self.rdds.text_file(name, minPartitions, use_unicode)

    def wholeTextFiles(self, path: str, minPartitions: int | None = None, use_unicode: bool = True) -> MemoRDD:  # noqa: N802, N803
        """Pairs of path and content, as `SparkContext.wholeTextFiles`."""
        return self.rdds.whole_text_files(path, minPartitions, use_unicode)

    def parallelize(self, c: Iterable[Any], numSlices: int | None = None) -> MemoRDD:  # noqa: N803
        """Local data, as `SparkContext.parallelize`."""
        return self.rdds.imported(self.spark.sparkContext.parallelize(c, numSlices))

    def union(self, rdds: list[RDD[Any]]) -> RDD[Any]:
        """All records of several RDDs, as `SparkContext.union`."""
        return self.rdds.union(rdds)

    @property
    def rdds(self) -> RddProgram:
        """The program of RDDs that this session runs: reports of its stages, and notes on what plain Spark ran."""
        if self._rdds is None:
            from incoop.fronts.rdd.program import RddProgram

            self._rdds = RddProgram(self)
        return self._rdds
