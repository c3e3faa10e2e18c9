"""What a memoized RDD comes from: files, stages of the engine, plain Spark data; each knows the plain RDD it equals.

Contract: nothing runs until a result is asked for, and a stage runs at most once in a program. A stage that the engine
cannot run, for whatever reason, is noted and computed by plain Spark instead: `Unmemoized` says so to its caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash
from pyspark import RDD

from inchdfs.records import Lines, RecordFormat
from incoop.batches import ChunkMapper, LawfulCombiner
from incoop.fronts.hadoop_paths import local_files
from incoop.fronts.rdd_accumulators import Updates, accumulators_in
from incoop.fronts.rdd_import import ImportedBlocks
from incoop.fronts.rdd_sorting import range_ends
from incoop.fronts.rdd_steps import LIGHT, Fused, Kind, Shape, Sink, Step, read_light
from incoop.job import Job, Reducer

if TYPE_CHECKING:
    from incoop.fronts.rdd_program import RddProgram
    from incoop.result import Result


class Unmemoized(Exception):
    """The engine does not run this; plain Spark does."""


class Quietly(Unmemoized):
    """Plain Spark does this for a reason that is nobody's to know."""


class Base(ABC):
    """Where records come from."""

    #: The same from run to run, and another for every other place in the program.
    name: str
    #: How the engine meets the records.
    shape: Shape
    #: The order of records is that of the pairs' keys, not that of the blocks.
    ordered = False

    @abstractmethod
    def input(self) -> Any:
        """What the engine takes as input; may run earlier stages, may raise Unmemoized."""

    @abstractmethod
    def plain(self) -> RDD[Any]:
        """The same records, by plain Spark."""

    @abstractmethod
    def partitions(self) -> int:
        """How many partitions PySpark would have here."""

    @abstractmethod
    def empty(self) -> bool:
        """Whether there is certainly no record."""


@dataclass(frozen=True, slots=True)
class Part:
    """Records of one base after some narrow steps; an RDD is one or more of them, one after the other."""

    base: Base
    steps: tuple[Step, ...] = ()

    @property
    def light(self) -> bool:
        """Whether the records can be read from a stored result without calling a function of the user's."""
        return isinstance(self.base, Stage) and all(step.kind in LIGHT for step in self.steps)

    def name(self) -> str:
        return ".".join([self.base.name, *(step.kind.name for step in self.steps)])


class Files(Base):
    """Local files, as `textFile` reads them."""

    shape = Shape.RECORDS

    def __init__(self, path: str, records: RecordFormat, plain: Callable[[], RDD[Any]], number: int) -> None:
        self.path, self.records, self._read = path, records, plain
        self.name = f"input {number}"
        self._plain: RDD[Any] | None = None

    def input(self) -> list[str]:
        return self._files()

    def _files(self) -> list[str]:
        files = local_files(self.path)
        if files is None:
            raise Unmemoized(f"{self.path} is read by Spark itself")
        return files

    def plain(self) -> RDD[Any]:
        if self._plain is None:
            self._plain = self._read()
        return self._plain

    def partitions(self) -> int:
        return self.plain().getNumPartitions()

    def empty(self) -> bool:
        return not any(Path(file).stat().st_size for file in self._files())


class Imported(Base):
    """Elements of a plain RDD."""

    shape = Shape.STORED

    def __init__(self, program: RddProgram, rdd: RDD[Any], number: int, one_by_one: bool = False) -> None:
        self._rdd = rdd
        self._program, self._one_by_one = program, one_by_one
        self._blocks: ImportedBlocks | None = None
        self.name = f"data {number}"

    def input(self) -> ImportedBlocks:
        if self._blocks is None:
            self._blocks = ImportedBlocks(self._rdd, self._program.worker_config(), self._one_by_one)
        return self._blocks

    def plain(self) -> RDD[Any]:
        return self._rdd

    def partitions(self) -> int:
        return self._rdd.getNumPartitions()

    def empty(self) -> bool:
        return not self.input().output_blocks()


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage does with the records of its parts."""

    #: PySpark's name of it.
    method: str
    sink: Sink
    arguments: tuple[Any, ...] = ()
    combiner: LawfulCombiner | None = None
    reducer: Reducer | None = None
    #: One for results that are one pair.
    shards: int | None = None


class Stage(Base):
    """A job of the engine over some parts."""

    def __init__(
        self,
        program: RddProgram,
        work: Work,
        parts: Sequence[Part],
        recompute: Callable[[], RDD[Any]],
        partitions: Callable[[], int],
    ) -> None:
        self.program, self.work, self.parts = program, work, tuple(parts)
        self._recompute, self._partitions = recompute, partitions
        self.stored = work.reducer is None
        self.shape = Shape.STORED if self.stored else Shape.RECORDS
        self.ordered = self.stored and any(part.base.ordered for part in self.parts)
        self.name = program.unique(_digest(work.method, *(part.name() for part in self.parts)))
        self._result: Result | None = None
        self._unmemoized: str | None = None
        self._plain: RDD[Any] | None = None

    @property
    def one_pair_a_key(self) -> bool:
        """Whether the number of keys is the number of records."""
        return not self.stored and self.shape is Shape.RECORDS

    def result(self) -> Result:
        """Run the stage, unless it has run."""
        if self._unmemoized is not None:
            raise Unmemoized(self._unmemoized)
        if self._result is None:
            try:
                self._result = self._run()
            except Exception as error:
                self._unmemoized = str(error)
                self.program.note(self.title(), error)
                raise Unmemoized(self._unmemoized) from error
        return self._result

    def _run(self) -> Result:
        inputs = [part.base.input() for part in self.parts]
        for part in self.parts:
            if any(step.kind is Kind.PARTITION for step in part.steps) and (part.base.ordered or part.base.empty()):
                raise Quietly("no block is a partition of sorted records, and none is an empty partition")
        if self.ordered and len(self.parts) > 1:
            raise Quietly("records of several orders")
        updates = self._updates()
        mappers: list[Any] = [
            ChunkMapper(Fused(part.steps, self.work.sink, part.base.shape, self.work.arguments, updates))
            for part in self.parts
        ]
        formats = {part.base.records for part in self.parts if isinstance(part.base, Files)}
        if len(formats) > 1:
            raise Unmemoized("inputs of several record formats in one stage")
        job = Job(
            self.title(),
            mappers[0] if len(mappers) == 1 else {str(number): mapper for number, mapper in enumerate(mappers)},
            self.work.reducer,
            self.work.combiner,
            shards=self.work.shards,
            records=formats.pop() if formats else Lines(),
        )
        given = inputs[0] if len(inputs) == 1 else {str(number): each for number, each in enumerate(inputs)}
        result = self.program.run(job, given)
        updates.replay(result.report.counters)
        return result

    def _updates(self) -> Updates:
        """The accumulators of the functions that map; how often others are called depends on what ran before."""
        if accumulators_in([self.work.combiner, self.work.reducer]):
            raise Unmemoized("a function that merges values adds to an accumulator")
        steps = [step.function for part in self.parts for step in part.steps]
        return Updates(accumulators_in([steps, self.work.arguments]))

    def title(self) -> str:
        """The job's name, for people and for finding its earlier runs."""
        steps = [step.kind.name.lower() for step in self.parts[0].steps if step.kind not in LIGHT]
        return f"{self.program.name}: {'.'.join([*steps[-3:], self.work.method])} [{self.name}]"

    def read(self, steps: Sequence[Step] = ()) -> Iterator[Any]:
        """The records of the result, after light steps."""
        pairs: Any = sorted(self.result(), key=itemgetter(0)) if self.ordered else self.result()
        return read_light(steps, pairs, self.shape)

    def input(self) -> Result:
        return self.result()

    def plain(self) -> RDD[Any]:
        if self._plain is None:
            # Stored records of narrow steps lie in chunks, not in the partitions that PySpark would have.
            self._plain = self._recompute() if self.stored else self.from_store()
        return self._plain

    def from_store(self) -> RDD[Any]:
        """The records as a plain RDD that reads them from the store."""
        try:
            pairs = self.result().rdd()
        except Unmemoized:
            return self._recompute()
        if self.ordered:
            return self._recompute() if self.stored else _in_order(pairs, self.partitions())
        if self.partitions() < pairs.getNumPartitions():
            pairs = pairs.coalesce(max(1, self.partitions()))
        return pairs.values() if self.stored else pairs

    def partitions(self) -> int:
        return self._partitions()

    def empty(self) -> bool:
        return not any(block.length for block in self.result().output_blocks())


class SortStage(Stage):
    """Pairs in the order of their keys, by ranges that a stage before this one found."""

    def __init__(self, ranges: Stage, *given: Any) -> None:
        super().__init__(*given)
        self._ranges = ranges
        self.shape, self.ordered = Shape.RANGES, True

    def _run(self) -> Result:
        sketches = [sketch for _, sketch in self._ranges.result()]
        ends = range_ends(sketches[0]) if sketches else []
        self.work = replace(self.work, arguments=(ends, *self.work.arguments))
        return super()._run()


def _in_order(ranges: RDD[Any], partitions: int) -> RDD[Any]:
    return ranges.sortByKey(numPartitions=max(1, partitions)).values().flatMap(_itself)


def _itself(records: list[Any]) -> list[Any]:
    return records


def _digest(*texts: str) -> str:
    return xxhash.xxh3_64_hexdigest("\n".join(texts).encode())[:8]
