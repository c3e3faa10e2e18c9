"""A program of RDDs: the session it runs in, the names of its stages, and what was said about them."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark import RDD, SparkContext, SparkFiles
from pyspark.errors import PythonException
from pyspark.sql import Row

from incoop.base.content_ids import content_id
from incoop.base.file_digests import FileDigests
from incoop.engine.failures import JobFailed
from incoop.fronts.rdd.frozen_functions import Frozen, NotLoaded
from incoop.fronts.rdd.hadoop_splits import Sized, frame_splits, text_splits
from incoop.fronts.rdd.lineage import Quietly, RddPart, Unmemoized
from incoop.fronts.rdd.local_records import LocalRecords
from incoop.fronts.rdd.memo_rdd import MemoRDD
from incoop.fronts.rdd.plain_spark import Placement, pickled_now
from incoop.fronts.rdd.sources import Files, Imported, WholeFiles
from incoop.fronts.rdd.steps import NarrowStep, StepKind
from incoop.fronts.rdd.unstarted.context import asked_of, folder_of, is_unstarted, start
from incoop.fronts.rdd.unstarted.local_data import bound, source_of, stepped, steps_of
from incoop.inchdfs.cutting.records import Lines

if TYPE_CHECKING:
    from incoop.engine.report import RunReport
    from incoop.job import Job
    from incoop.job_session import JobSession
    from incoop.memo import WorkerConfig
    from incoop.result import Result

log = logging.getLogger("incoop")

#: Spark's own, before anything replaces them.
_TEXT_FILE = SparkContext.textFile
_WHOLE_TEXT_FILES = SparkContext.wholeTextFiles
_UNION = SparkContext.union


class RddProgram:
    """Makes memoized RDDs, and runs their stages."""

    def __init__(
        self,
        session: JobSession,
        name: str | None = None,
        context: SparkContext | None = None,
        files: tuple[str, ...] = (),
    ) -> None:
        """`context` is one that may not be started yet, `files` those that it will give to every worker."""
        self.session, self._context, self._files = session, context, files
        self.name = name or Path(sys.argv[0] if sys.argv and sys.argv[0] else "program").name
        #: What each stage did, in the order in which they ran.
        self.reports: list[RunReport] = []
        #: What plain Spark did in the engine's place, and why.
        self.notes: list[str] = []
        self._names: Counter[str] = Counter()
        self._sources = 0
        self._falls_back = False
        self._added = FileDigests()

    @property
    def context(self) -> SparkContext:
        return self._context if self._context is not None else self.session.spark.sparkContext

    @property
    def folder(self) -> str | None:
        """Where Spark was started, or will be: relative paths are from there. None for where this process is."""
        return folder_of(self._context) if self._context is not None else None

    @property
    def submitted(self) -> bool:
        """Whether this is a program of `incoop submit`: what it asks for is memoized, also where Spark does it well."""
        return self._context is not None

    @property
    def unstarted(self) -> bool:
        """Whether the program's context is not running yet."""
        return is_unstarted(self._context)

    def text_file(self, path: str, minPartitions: int | None = None, use_unicode: bool = True) -> MemoRDD:
        """Lines of local files, as `SparkContext.textFile` gives them."""

        def read() -> RDD[Any]:
            return _TEXT_FILE(self.context, path, minPartitions, use_unicode)

        def splits(files: list[Sized]) -> int | None:
            return text_splits(files, minPartitions or self.context.defaultMinPartitions)

        records = Lines() if use_unicode else Lines(encoding=None)
        return MemoRDD(self, [RddPart(Files(self, path, records, read, self.next_source(), splits))]).setName(path)

    def rows_of_text(self, paths: Sequence[str], plain: Callable[[], RDD[Any]]) -> MemoRDD:
        """Lines of local files as rows, as `spark.read.text` gives them; `plain` gives the lines."""

        def splits(files: list[Sized]) -> int | None:
            asked = any(key.startswith("spark.sql.") for key in asked_of(self.context).settings.known)
            return None if asked else frame_splits(files, self.context.defaultParallelism)

        base = Files(self, ",".join(paths), Lines(), plain, self.next_source(), splits)
        return MemoRDD(self, [RddPart(base, (NarrowStep(StepKind.MAP, _row),))])

    def whole_text_files(self, path: str, minPartitions: int | None = None, use_unicode: bool = True) -> MemoRDD:
        """(path, content) of each file, as `SparkContext.wholeTextFiles` gives them."""

        def plain() -> RDD[Any]:
            return _WHOLE_TEXT_FILES(self.context, path, minPartitions, use_unicode)

        def least() -> int:
            return minPartitions or self.context.defaultMinPartitions

        if not self.unstarted:
            plain()  # which may say what is wrong
        return MemoRDD(self, [RddPart(WholeFiles(self, path, plain, least, use_unicode, self.next_source()))])

    def imported(self, rdd: RDD[Any]) -> MemoRDD:
        """Plain Spark data as the input of memoized stages."""
        return MemoRDD(self, [RddPart(Imported(self, rdd, self.next_source()))])

    def union(self, rdds: list[RDD[Any]]) -> RDD[Any]:
        """All records of several RDDs."""
        if not any(isinstance(rdd, MemoRDD) for rdd in rdds):
            return self.plain_union(rdds)
        bound = [self._memoized(rdd).as_a_whole() for rdd in rdds]
        return MemoRDD(self, [part for rdd in bound for part in rdd._parts], self._common_placement(rdds, bound))

    def _memoized(self, rdd: RDD[Any]) -> MemoRDD:
        if isinstance(rdd, MemoRDD):
            return rdd
        data = source_of(rdd)
        try:
            functions = bound(rdd, Frozen).functions if data is not None else ()
        except NotLoaded:
            data = None
        if data is None:
            return self.imported(pickled_now(rdd))
        base = LocalRecords(data, self.next_source())
        made: MemoRDD = stepped(MemoRDD(self, [RddPart(base)]), steps_of(rdd), functions)
        return made

    def plain_union(self, rdds: list[RDD[Any]]) -> RDD[Any]:
        """The same of plain RDDs."""
        return _UNION(self.context, rdds)

    def _common_placement(self, rdds: list[RDD[Any]], bound: list[MemoRDD]) -> Placement | None:
        """The partitions of a union: those of all its RDDs, where the program divided all of them alike."""
        (partitioner, *others) = (rdd.partitioner for rdd in rdds)
        if partitioner is None or any(other != partitioner for other in others):
            return None
        number = partitioner.numPartitions
        return Placement(
            lambda: number,
            lambda: self.plain_union([rdd._plain() for rdd in bound]),
            lambda: self.plain_union([rdd._exact() for rdd in bound]),
            partitioner,
        )

    def run(self, job: Job, inputs: Any) -> Result:
        """Run a stage."""
        result = self.session.execute(job, inputs, self.session.options(amends=False))
        self.reports.append(result.report)
        return result

    def worker_config(self) -> WorkerConfig:
        return self.session.worker_config()

    def added_files(self) -> bytes:
        """A hash of the files that were given to all workers (`--files`, `addFile`): functions may read them."""
        context = self.context
        if is_unstarted(context) and not all(map(is_plain_file, self._files)):
            start(context)
        if is_unstarted(context):
            files, code = [Path(file) for file in self._files], []  # what `addFile` adds starts Spark
        else:
            root = Path(SparkFiles.getRootDirectory())
            files, code = list(root.iterdir()) if root.is_dir() else [], context._python_includes or []
        pieces: list[bytes] = []
        for file in sorted(files, key=lambda each: each.name):
            # Code is what fingerprints see.
            if file.is_file() and file.suffix != ".py" and file.name not in code:
                pieces += [file.name.encode(), self._added.of(file)]
        return content_id(b"\0".join(pieces)) if pieces else b""

    def reduce_partitions(self, rdd: RDD[Any]) -> int:
        """How many partitions PySpark gives a wide step that names no number."""
        if self.unstarted and "spark.default.parallelism" not in asked_of(self.context).settings.known:
            return rdd.getNumPartitions()
        return RDD._defaultReducePartitions(rdd)

    def unique(self, shape: str) -> str:
        """A name for a stage of this shape: the second one of a program has another than the first, in every run."""
        self._names[shape] += 1
        return shape if self._names[shape] == 1 else f"{shape}#{self._names[shape]}"

    def note(self, title: str, why: Exception) -> None:
        """Say once that plain Spark runs something."""
        if isinstance(why, Quietly) or (isinstance(why, Unmemoized) and isinstance(why.__cause__, Exception)):
            return  # of no interest, or said for the stage that it comes from
        # Where a function failed PySpark says better: it shows the record, the engine the chunk.
        said = why.error if isinstance(why, JobFailed) else _said(why)
        self.say(f"{title}: plain Spark runs this ({said})")

    @contextmanager
    def falling_back(self, method: str) -> Iterator[None]:
        """Say once that a method is plain Spark's; not which others it is made of."""
        outermost, self._falls_back = not self._falls_back, True
        if outermost:
            self.say(f"{method}: plain Spark runs this, and what is made of it")
        try:
            yield
        finally:
            self._falls_back = not outermost

    def say(self, note: str) -> None:
        """Keep a note, and log it when it is new."""
        if note not in self.notes:
            self.notes.append(note)
            log.warning("%s", note)

    def next_source(self) -> int:
        """The number of another input."""
        self._sources += 1
        return self._sources


def _row(line: str) -> Row:
    return Row(value=line)


def is_plain_file(named: str) -> bool:
    """Whether Spark gives workers this file under its own name, and nothing else."""
    return not any(sign in named for sign in ":#*?[{") and Path(named).is_file()


def _said(why: Exception) -> str:
    """An exception in one line; of one with a worker's traceback, the line that says what happened."""
    lines = [line.strip() for line in str(why).splitlines() if line.strip()] or [type(why).__name__]
    return lines[-1] if isinstance(why, PythonException) else lines[0]
