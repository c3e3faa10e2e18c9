"""`zipWithIndex`: each block's records, numbered from how many stand before it.

Contract: the numbers are those of the records' order. How many records a block holds is memoized by its content, so an
edit counts the blocks that it touched; records behind it get other numbers, but nothing before this step runs again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pyspark import RDD

from incoop.engine.blocks import PairBlock
from incoop.engine.output import Pair
from incoop.engine.stored import BlobReader
from incoop.fronts.common.made_blocks import MadeBlock, MadeBlocks, id_of
from incoop.fronts.rdd.lineage import Base, RddPart
from incoop.fronts.rdd.mergers import merger
from incoop.fronts.rdd.stages import Above, RddStage, StageWork
from incoop.fronts.rdd.steps import NarrowStep, RecordSink, Shape, read_light

if TYPE_CHECKING:
    from incoop.fronts.rdd.program import RddProgram
    from incoop.result import Result


def indexed(program: RddProgram, above: Above, stored: Callable[[], RddStage]) -> Base:
    """The records of an RDD with their numbers; `stored` keeps the same records."""
    parts = above._parts
    if any(part.base.ordered for part in parts):
        added = merger(operator.add)
        size = StageWork("zipWithIndex.sizes", RecordSink.SIZED, (), added, added)
        number = StageWork("zipWithIndex", RecordSink.NUMBERED)
        sizes = RddStage(program, lambda: size, above, _numbered, lambda: 1)
        return IndexedRanges(sizes, program, lambda: number, above, _numbered, partial(_partitions, parts))
    base = parts[0].base if len(parts) == 1 and not parts[0].steps else stored()
    return Indexed(program, base, above)


def _numbered(rdd: RDD[Any]) -> RDD[Any]:
    return rdd.zipWithIndex()


def _partitions(parts: Sequence[RddPart]) -> int:
    return sum(part.base.partitions() for part in parts)


def renumbered(counted: RDD[Any], records: RDD[Any]) -> RDD[Any]:
    """Records with numbers that begin, in each partition, where those of other records would."""
    firsts = [0, *accumulate(counted.mapPartitions(_length).collect())]
    return records.mapPartitionsWithIndex(partial(_from, firsts))


def _length(records: Iterable[Any]) -> list[int]:
    return [sum(1 for _ in records)]


def _from(firsts: list[int], partition: int, records: Iterable[Any]) -> Iterator[tuple[Any, int]]:
    for number, record in enumerate(records, firsts[partition]):
        yield record, number


class Indexed(Base):
    """Records that come in the order of their blocks, with their numbers; nothing is stored but the blocks' sizes."""

    shape = Shape.RECORDS

    def __init__(self, program: RddProgram, base: Base, above: Above) -> None:
        self._base, self._above = base, above
        self.name = f"{base.name}.zipWithIndex"
        self.raw, self.kept = base.raw, base.kept
        most = merger(max)  # blocks of one id are of one size
        work = StageWork("zipWithIndex.sizes", RecordSink.MERGED, (None, max), most, most)
        self._sizes = RddStage(program, lambda: work, _SizesOf(base), _numbered, lambda: 1)
        self._blocks: MadeBlocks | None = None
        self._plain: RDD[Any] | None = None

    def input(self) -> MadeBlocks:
        if self._blocks is None:
            self._blocks = MadeBlocks(self._numbered, self._base.blocks().recover)
        return self._blocks

    def _numbered(self) -> list[MadeBlock]:
        sizes: dict[bytes, int] = dict(self._sizes.result())
        first = 0
        made: list[MadeBlock] = []
        for block in self._base.blocks().output_blocks():
            id_ = id_of("indexed", block.id, first.to_bytes(8, "little"))
            made.append(
                MadeBlock(id_, block.length, block.tail, partial(_with_numbers, block, self._base.shape, first))
            )
            first += sizes.get(block.id, 0)
        return made

    def read(self, steps: Sequence[NarrowStep] = ()) -> Iterator[Any]:
        numbered = ((record, number) for number, record in enumerate(self._base.read()))
        return read_light(steps, numbered, self.shape)

    def plain(self) -> RDD[Any]:
        if self._plain is None:
            self._plain = _numbered(self._above._plain())
        return self._plain

    def exact(self) -> RDD[Any]:
        return _numbered(self._above._exact())

    def partitions(self) -> int:
        return self._base.partitions()

    def empty(self) -> bool:
        return self._base.empty()


class _SizesOf:
    """What the stage that counts works on."""

    def __init__(self, base: Base) -> None:
        self._parts = (RddPart(_Sizes(base)),)

    def _plain(self) -> RDD[Any]:
        raise AssertionError("sizes are the engine's own")

    _exact = _plain


class _Sizes(Base):
    """For every block of a base a pair of its id and how many records it holds."""

    shape = Shape.RECORDS

    def __init__(self, base: Base) -> None:
        self._base = base
        self.name = f"{base.name}.sizes"

    def input(self) -> MadeBlocks:
        source = self._base.blocks()

        def sizes() -> list[MadeBlock]:
            return [
                MadeBlock(id_of("size", block.id), block.length, block.tail, partial(_size, block))
                for block in source.output_blocks()
            ]

        return MadeBlocks(sizes, source.recover)

    def plain(self) -> RDD[Any]:
        raise AssertionError("sizes are the engine's own")

    def partitions(self) -> int:
        return self._base.partitions()

    def empty(self) -> bool:
        return self._base.empty()


class IndexedRanges(RddStage):
    """Sorted records with their numbers, by how many a stage before this one found in each range of keys."""

    def __init__(self, sizes: RddStage, *given: Any) -> None:
        super().__init__(*given)
        self._sizes = sizes

    def _run(self) -> Result:
        firsts: dict[int, int] = {}
        first = 0
        for number, size in sorted(self._sizes.result()):
            firsts[number] = first
            first += size
        self.work = replace(self.work, arguments=(firsts,))
        return super()._run()


def _size(block: PairBlock, reader: BlobReader) -> list[Pair]:
    return [(block.id, len(block.pairs(reader)))]


def _with_numbers(block: PairBlock, shape: Shape, first: int, reader: BlobReader) -> list[Pair]:
    records = read_light((), block.pairs(reader), shape)
    return [(record, number) for number, record in enumerate(records, first)]
