"""The RDD interface of PySpark, memoized: a real `pyspark.RDD`, whose actions run on the engine.

Contract: narrow steps are fused into one mapper, each wide step is a memoized stage, nothing runs before an action.
Every method gives what PySpark gives: a stage that the engine cannot run is plain Spark's.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import islice
from typing import Any

from pyspark import RDD

from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.fronts.rdd.bound_rdd import Late
from incoop.fronts.rdd.first_blocks import first_records
from incoop.fronts.rdd.frozen_functions import Frozen
from incoop.fronts.rdd.indexes import indexed, renumbered
from incoop.fronts.rdd.lineage import Base, RddPart, Unmemoized
from incoop.fronts.rdd.mergers import merger
from incoop.fronts.rdd.narrow_rdd import Function
from incoop.fronts.rdd.sources import Imported
from incoop.fronts.rdd.stages import Above, RddStage, SortStage, StageWork
from incoop.fronts.rdd.steps import RecordSink
from incoop.fronts.rdd.text_output import output_folder, write_text
from incoop.fronts.rdd.wide_rdd import WideRDD


class MemoRDD(WideRDD):
    """What `textFile` and everything made of it gives."""

    def _rows(self) -> Iterator[Any]:
        """All records of an RDD that is bound, in order, read on the driver."""
        if self._readable:
            for part in self._parts:
                yield from part.base.read(part.steps)
        else:
            yield from self._stored().read()

    @property
    def _readable(self) -> bool:
        """Whether the records can be read on the driver as they are; those of files are Spark's to read, if it runs."""
        unstarted = self.program.unstarted
        return all(part.light or (unstarted and part.readable) for part in self._parts)

    def collect(self) -> list[Any]:
        bound = self._held()
        if not bound._readable and any(part.as_it_is for part in bound._parts):
            return bound._plain().collect()
        try:
            return list(bound._rows())
        except Unmemoized:
            return bound._plain().collect()

    def toLocalIterator(self, prefetchPartitions: bool = False) -> Iterator[Any]:
        return iter(self.collect())

    def take(self, num: int) -> list[Any]:
        bound = self._as_of_now()
        try:
            if bound._stored_stage is not None or bound._readable:
                return list(islice(bound._rows(), max(0, num)))
            found = first_records(bound._parts, num, self._stage_of) if self.program.submitted and num > 0 else None
        except Unmemoized:
            found = None
        return found if found is not None else bound._plain().take(num)

    def isEmpty(self) -> bool:
        return not self.take(1)

    def _stage_of(self, work: StageWork, above: Above) -> RddStage:
        return RddStage(self.program, lambda: work, above, _as_it_is, lambda: 1)

    def _single(self, work: StageWork) -> list[Any]:
        """Run a stage whose result is one value, or none."""
        return [value for _, value in self._stage_of(work, self._at_once()).result()]

    def reduce(self, f: Function) -> Any:
        merge = merger(f)
        try:
            found = self._single(StageWork("reduce", RecordSink.REDUCED, (None, f), merge, merge, shards=1))
        except Unmemoized:
            return self._plain_at_once().reduce(f)
        if found:
            return found[0]
        raise ValueError("Can not reduce() empty RDD")

    def _aggregated(self, method: str, zero: Any, add: Function, merge: LawfulCombiner) -> list[Any]:
        return self._single(StageWork(method, RecordSink.AGGREGATED, (zero, add), merge, merge, shards=1))

    def fold(self, zeroValue: Any, op: Function) -> Any:
        try:
            found = self._aggregated("fold", zeroValue, op, merger(op))
        except Unmemoized:
            return self._plain_at_once().fold(zeroValue, op)
        return reduce(op, found, zeroValue)  # itself, as in PySpark: it may be all that the program looks at

    def aggregate(self, zeroValue: Any, seqOp: Function, combOp: Function) -> Any:
        try:
            found = self._aggregated("aggregate", zeroValue, seqOp, merger(combOp))
        except Unmemoized:
            return self._plain_at_once().aggregate(zeroValue, seqOp, combOp)
        return reduce(combOp, found, zeroValue)

    def treeAggregate(self, zeroValue: Any, seqOp: Function, combOp: Function, depth: int = 2) -> Any:
        if depth < 1:
            raise ValueError(f"Depth cannot be smaller than 1 but got {depth}.")
        try:
            found = self._aggregated("treeAggregate", zeroValue, seqOp, merger(combOp))
        except Unmemoized:
            return self._plain_at_once().treeAggregate(zeroValue, seqOp, combOp, depth)
        return found[0] if found else zeroValue

    def count(self) -> int:
        (only, *others) = self._at_once()._parts
        if not others and only.light and isinstance(only.base, RddStage) and only.base.one_pair_a_key:
            try:
                return only.base.result().report.keys_total
            except Unmemoized:
                return self._plain_at_once().count()
        try:
            added = merger(operator.add)
            return sum(self._single(StageWork("count", RecordSink.COUNTED, (), added, added, shards=1)))
        except Unmemoized:
            return self._plain_at_once().count()

    def countByValue(self) -> dict[Any, int]:
        counts: dict[Any, int] = defaultdict(int)
        counts.update(self.map(_with_one).reduceByKey(operator.add).collect())
        if not counts and not self._plain_at_once().getNumPartitions():
            raise ValueError("Can not reduce() empty RDD")  # as PySpark, which adds up what partitions counted
        return counts

    def reduceByKeyLocally(self, func: Function) -> dict[Any, Any]:
        return dict(self.reduceByKey(func).collect())

    def takeOrdered(self, num: int, key: Function | None = None) -> list[Any]:
        if num < 0:
            raise ValueError("top N cannot be negative.")
        return super().takeOrdered(num, key) if num and self._parts else []  # type: ignore[arg-type]

    def lookup(self, key: Any) -> list[Any]:
        bound = self._as_of_now()
        if self.program.unstarted and bound._placement is None:
            try:
                return [pair[1] for pair in bound._rows() if pair[0] == key]
            except Unmemoized:
                pass
        return bound._plain_of_stored().lookup(key)

    def foreach(self, f: Function) -> None:
        self._as_of_now()._plain_of_stored().foreach(f)

    def foreachPartition(self, f: Callable[[Iterable[Any]], None]) -> None:
        self._as_of_now()._plain_of_stored().foreachPartition(f)

    def saveAsTextFile(self, path: str, compressionCodecClass: str | None = None) -> None:
        bound = self._as_of_now()
        folder = output_folder(path, self.program.folder) if compressionCodecClass is None else None
        if folder is not None and self.program.submitted:
            try:
                partitions = bound._partitions_here()
            except Unmemoized:
                partitions = None
            if partitions is not None and write_text(folder, partitions):
                return
        bound._plain_of_stored().saveAsTextFile(path, compressionCodecClass)

    def _partitions_here(self) -> list[list[Any]] | None:
        """The records of each partition of an RDD that is bound, as plain Spark would have them from the store.

        None where nobody but Spark divides them, or where they are too many for one process.
        """
        if self._placement is not None:
            whole = self._made(self._parts)
            single = self._placement.number() == 1 and not any(part.as_it_is for part in self._parts)
            return [list(whole._rows())] if single and whole._is_small() else None
        if any(part.as_it_is for part in self._parts) or not self._is_small():
            return None
        first = self._parts[0]
        stage = first.base if first.light and isinstance(first.base, SortStage) else self._stored()
        assert isinstance(stage, RddStage)
        return stage.partitions_here(first.steps if stage is first.base else ())

    def _is_small(self) -> bool:
        """Whether one process writes the records sooner than Spark, or than Spark starts."""
        stage = self._parts[0].base if len(self._parts) == 1 and self._parts[0].light else self._stored()
        blocks = stage.blocks().output_blocks()
        return sum(block.length for block in blocks) <= _WRITTEN_HERE[self.program.unstarted]

    def zipWithIndex(self) -> MemoRDD:
        parent = self._parent()
        above, nothing = self._above(parent), Frozen(())
        # PySpark counts when this is defined; the records are bound with what follows.
        late = Late(
            *("zipWithIndex", nothing, (), parent, above, nothing, ()),
            unbound=lambda: True,
            exact=lambda: renumbered(parent._exact(), above._exact()),
        )
        if self._placement is not None:
            base: Base = Imported(self.program, parent._plain_of_stored().zipWithIndex(), self.program.next_source())
        else:
            base = indexed(self.program, parent, parent._stored)
        return self._made([RddPart(base)], late=late)


#: Stored blocks are compressed to about a fifth. A process writes the text of the second number of bytes in the seconds
#: that Spark needs to start, that of the first in less than one.
_WRITTEN_HERE = 4 << 20, 32 << 20


def _as_it_is(rdd: RDD[Any]) -> RDD[Any]:
    return rdd


def _with_one(record: Any) -> tuple[Any, int]:
    return record, 1
