"""`take` and `first` without Spark: the first blocks of an RDD go through its steps, memoized as any stage.

Contract: the records are the first ones, in order; None where only PySpark's own way gives them: functions of a whole
partition, additions to accumulators (a block has more records than are taken), records of a sort.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from pyspark import RDD

from incoop.fronts.common.made_blocks import MadeBlocks
from incoop.fronts.rdd.accumulators import accumulators_in
from incoop.fronts.rdd.lineage import Base, RddPart
from incoop.fronts.rdd.stages import Above, RddStage, StageWork
from incoop.fronts.rdd.steps import RecordSink, StepKind

#: How many blocks are tried, one number after the other: PySpark, too, goes on with four times as many partitions.
_TRIED = (1, 4, 16)

#: Of larger inputs Spark has read the beginning before all chunks are found, which takes seconds a gigabyte.
_MOST_UNREAD = 1 << 30


def first_records(
    parts: Sequence[RddPart], wanted: int, stage_of: Callable[[StageWork, Above], RddStage]
) -> list[Any] | None:
    """The first records of an RDD that is bound; may raise Unmemoized. `stage_of` makes a stage of the program."""
    part = parts[0].settled()
    base, functions = part.base, [step.function for step in part.steps]
    if base.ordered or base.computed or any(step.kind is StepKind.PARTITION for step in part.steps):
        return None
    if not (base.raw or base.kept) or accumulators_in(functions):
        return None
    if base.unread_bytes() > _MOST_UNREAD:
        return None
    blocks = base.blocks().output_blocks()
    for number in _TRIED:
        first = _First((RddPart(FirstBlocks(base, number), part.steps),))
        records = list(islice(stage_of(_TAKE, first).read(), wanted))
        if len(records) == wanted or (number >= len(blocks) and len(parts) == 1):
            return records
    return None


_TAKE = StageWork("take", RecordSink.STORED)


class FirstBlocks(Base):
    """The first blocks of a base."""

    def __init__(self, base: Base, number: int) -> None:
        self._base, self._number = base, number
        self.name, self.shape = f"{base.name}.first{number}", base.shape

    def input(self) -> MadeBlocks:
        source = self._base.blocks()
        return MadeBlocks(lambda: source.output_blocks()[: self._number], source.recover)

    def plain(self) -> RDD[Any]:
        raise AssertionError("blocks are the engine's own")

    def partitions(self) -> int:
        return 1

    def empty(self) -> bool:
        return self._base.empty()


class _First:
    """What the stage that takes works on."""

    def __init__(self, parts: tuple[RddPart, ...]) -> None:
        self._parts = parts

    def _plain(self) -> RDD[Any]:
        raise AssertionError("blocks are the engine's own")

    _exact = _plain
