"""Stages: jobs of the engine over the parts of a memoized RDD.

Contract: a stage runs at most once in a program. One that the engine cannot run, for whatever reason, is noted, and
computed by plain Spark in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

import xxhash
from pyspark import RDD

from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.engine.stages.map_contract.mapping import RecordsMapper
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.engine.stored import BlobReader
from incoop.fronts.rdd.accumulators import Updates, accumulators_in
from incoop.fronts.rdd.lineage import Base, Quietly, Ranges, RddPart, Unmemoized
from incoop.fronts.rdd.slices import slices
from incoop.fronts.rdd.sort_ranges import range_ends
from incoop.fronts.rdd.sources import Files
from incoop.fronts.rdd.steps import LIGHT, Fused, NarrowStep, RecordSink, Shape, StepKind, read_light
from incoop.inchdfs.cutting.records import Lines
from incoop.job import DEFAULT_SHARDS, Job, Reducer

if TYPE_CHECKING:
    from incoop.engine.output import OutputBlock
    from incoop.fronts.rdd.program import RddProgram
    from incoop.memo import WorkerConfig
    from incoop.result import Result


#: What becomes of records of a sort without regard to their order, or with it.
_FREE_OF_ORDER = frozenset(
    {RecordSink.STORED, RecordSink.SKETCHED, RecordSink.SIZED, RecordSink.NUMBERED, RecordSink.COUNTED}
)


#: Sinks that take a record by itself, and such as add a value to what their combiner makes of those before.
_BY_RECORD = frozenset({RecordSink.PAIRS, RecordSink.STORED, RecordSink.RANGED})
_MERGED = frozenset({RecordSink.MERGED, RecordSink.ADDED})


@dataclass(frozen=True, slots=True)
class StageWork:
    """What a stage does with the records of its parts."""

    #: PySpark's name of it.
    method: str
    sink: RecordSink
    arguments: tuple[Any, ...] = ()
    combiner: LawfulCombiner | None = None
    reducer: Reducer | None = None
    #: One for results that are one pair.
    shards: int | None = None

    @property
    def is_by_record(self) -> bool:
        """Whether what it makes of records is what it makes of each, one behind the other; or can be: `by_record`."""
        return self.sink in _BY_RECORD or self.sink in _MERGED

    def by_record(self) -> StageWork:
        """The same, with values of a key merged by the combiner alone."""
        return replace(self, sink=RecordSink.PAIRS, arguments=()) if self.sink in _MERGED else self


class Above(Protocol):
    """The RDD that a stage works on, bound."""

    @property
    def _parts(self) -> tuple[RddPart, ...]: ...

    def _plain(self) -> RDD[Any]: ...

    def _exact(self) -> RDD[Any]: ...


class RddStage(Base):
    """A job of the engine over the parts of an RDD; `follow` makes the same of a plain RDD."""

    kept = True

    def __init__(
        self,
        program: RddProgram,
        work: Callable[[], StageWork],
        above: Above,
        follow: Callable[[RDD[Any]], RDD[Any]],
        partitions: Callable[[], int],
    ) -> None:
        self.program, self._work_now, self.work = program, work, work()
        self.parts, self._above, self._follow, self._partitions = above._parts, above, follow, partitions
        self.stored = self.work.reducer is None
        self.shape = Shape.STORED if self.stored else Shape.RECORDS
        self.ordered = self.stored and any(part.base.ordered for part in self.parts)
        self.name = program.unique(_digest(self.work.method, *(part.name() for part in self.parts)))
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
                # Functions may have been bound to what a class was before the program changed it.
                self.work, self.parts = self._work_now(), tuple(part.settled() for part in self.parts)
                self._result = self._run()
            except Exception as error:
                self._unmemoized = str(error)
                self.program.note(self.title(), error)
                raise Unmemoized(self._unmemoized) from error
        return self._result

    def _run(self) -> Result:
        inputs = [part.base.input() for part in self.parts]
        for part in self.parts:
            if any(step.kind is StepKind.PARTITION for step in part.steps) and (part.base.ordered or part.base.empty()):
                raise Quietly("no block is a partition of sorted records, and none is an empty partition")
        if self.ordered and len(self.parts) > 1:
            raise Quietly("records of several orders")
        if self.work.sink not in _FREE_OF_ORDER and any(part.base.ordered for part in self.parts):
            raise Quietly("values are merged in their order, which is not that of the blocks of a sort")
        updates, files = self._updates(), self.program.added_files()
        # What functions add to accumulators is kept by chunk: by leaf it would be more than what they give.
        by_record = not updates and self.work.is_by_record and all(part.by_record for part in self.parts)
        kind = RecordsMapper if by_record else ChunkMapper
        work = self.work.by_record() if by_record else self.work
        mappers: list[Any] = [
            kind(Fused(part.steps, work.sink, part.base.shape, work.arguments, updates, files)) for part in self.parts
        ]
        formats = {part.base.records for part in self.parts if isinstance(part.base, Files)}
        if len(formats) > 1:
            raise Unmemoized("inputs of several record formats in one stage")
        job = Job(
            self.title(),
            mappers[0] if len(mappers) == 1 else {str(number): mapper for number, mapper in enumerate(mappers)},
            self.work.reducer,
            self.work.combiner,
            shards=self.work.shards or DEFAULT_SHARDS,  # the next stage maps its blocks
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

    def read(self, steps: Sequence[NarrowStep] = ()) -> Iterator[Any]:
        """The records of the result, after light steps."""
        pairs = self.result().by_block()
        return read_light(steps, sorted(pairs, key=itemgetter(0)) if self.ordered else pairs, self.shape)

    def input(self) -> Result:
        return self.result()

    def _recompute(self) -> RDD[Any]:
        return self._follow(self._above._plain())

    def exact(self) -> RDD[Any]:
        return self._follow(self._above._exact())

    def plain(self) -> RDD[Any]:
        if self._plain is None:
            # Stored records of narrow steps lie in chunks, not in the partitions that PySpark would have.
            self._plain = self._recompute() if self.stored else self.from_store()
        return self._plain

    def from_store(self) -> RDD[Any]:
        """The records as a plain RDD that reads them from the store."""
        if self.ordered and self.stored:
            return self._recompute()
        try:
            blocks = self.result().output_blocks()
        except Unmemoized:
            return self._recompute()
        read = partial(_pairs_of, self.program.worker_config())
        pairs = self.program.context.parallelize(blocks, max(1, self.partitions())).flatMap(read)
        if self.ordered:
            return _in_order(pairs, self.ranges(), max(1, self.partitions()))
        return pairs.values() if self.stored else pairs

    def partitions_here(self, steps: Sequence[NarrowStep] = ()) -> list[list[Any]]:
        """The records of each partition of `from_store`, after light steps, read on the driver."""
        result, number = self.result(), max(1, self.partitions())
        if not self.ordered:
            reader = BlobReader(self.program.worker_config().open())
            divided = [
                [pair for block in blocks for pair in block.pairs(reader)]
                for blocks in slices(result.output_blocks(), number)
            ]
        else:
            divided = [[] for _ in range(number)]
            ranges = self.ranges()
            for pair in sorted(result.by_block(), key=itemgetter(0)):
                divided[ranges.partition(number, pair[0])].append(pair)
        return [list(read_light(steps, pairs, self.shape)) for pairs in divided]

    def ranges(self) -> Ranges:
        return self.parts[0].base.ranges()

    def partitions(self) -> int:
        return self._partitions()

    def empty(self) -> bool:
        return not any(block.length for block in self.result().output_blocks())


class SortStage(RddStage):
    """Pairs in the order of their keys, by ranges that a stage before this one found."""

    def __init__(self, ranges: RddStage, *given: Any) -> None:
        super().__init__(*given)
        self._ranges = ranges
        self.shape, self.ordered = Shape.RANGES, True

    def _run(self) -> Result:
        sketches = [sketch for _, sketch in self._ranges.result()]
        ends = range_ends(sketches[0]) if sketches else []
        self.work = replace(self.work, arguments=(ends, *self.work.arguments))
        return super()._run()

    def ranges(self) -> Ranges:
        self.result()
        ends, ascending = self.work.arguments
        return Ranges(len(ends) + 1, ascending)


def _pairs_of(worker: WorkerConfig, block: OutputBlock) -> list[Any]:
    return block.pairs(BlobReader(worker.open()))


def _in_order(pairs: RDD[Any], ranges: Ranges, partitions: int) -> RDD[Any]:
    placed = pairs.partitionBy(partitions, partial(ranges.partition, partitions))
    return placed.mapPartitions(_records_by_range)


def _records_by_range(pairs: Iterable[Any]) -> Iterator[Any]:
    for _, records in sorted(pairs, key=itemgetter(0)):
        yield from records


def _digest(*texts: str) -> str:
    return xxhash.xxh3_64_hexdigest("\n".join(texts).encode())[:8]
