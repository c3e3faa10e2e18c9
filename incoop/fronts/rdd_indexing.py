"""`zipWithIndex`: each block's records, numbered from how many stand before it.

Contract: the numbers are those of the records' order. How many records a block holds is memoized by its content, so an
edit counts the blocks that it touched; records behind it get other numbers, but nothing before this step runs again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark import RDD

from incoop.fronts.rdd_blocks import Blocks, id_of, made_block
from incoop.fronts.rdd_lineage import Base, Part
from incoop.fronts.rdd_merging import merger
from incoop.fronts.rdd_stages import Stage, Work
from incoop.fronts.rdd_steps import Shape, Sink, Step, read_light
from incoop.output import OutputBlock, Pair
from incoop.runs import BlobReader

if TYPE_CHECKING:
    from incoop.fronts.rdd_program import RddProgram
    from incoop.result import Result


def indexed(
    program: RddProgram, parts: Sequence[Part], stored: Callable[[], Stage], plain: Callable[[], RDD[Any]]
) -> Base:
    """The records of some parts with their numbers; `stored` keeps the same records, `plain` is Spark's result."""
    if any(part.base.ordered for part in parts):
        added = merger(operator.add)
        sizes = Stage(program, Work("zipWithIndex.sizes", Sink.SIZED, (), added, added), parts, plain, lambda: 1)
        return IndexedRanges(
            sizes, program, Work("zipWithIndex", Sink.NUMBERED), parts, plain, partial(_partitions, parts)
        )
    base = parts[0].base if len(parts) == 1 and not parts[0].steps else stored()
    return Indexed(program, base, plain)


def _partitions(parts: Sequence[Part]) -> int:
    return sum(part.base.partitions() for part in parts)


class Indexed(Base):
    """Records that come in the order of their blocks, with their numbers; nothing is stored but the blocks' sizes."""

    shape = Shape.RECORDS

    def __init__(self, program: RddProgram, base: Base, plain: Callable[[], RDD[Any]]) -> None:
        self._base, self._make_plain = base, plain
        self.name = f"{base.name}.zipWithIndex"
        self.raw, self.kept = base.raw, base.kept
        most = merger(max)  # blocks of one id are of one size
        work = Work("zipWithIndex.sizes", Sink.MERGED, (None, max), most, most)
        self._sizes = Stage(program, work, (Part(_Sizes(base)),), plain, lambda: 1)
        self._blocks: Blocks | None = None
        self._plain: RDD[Any] | None = None

    def input(self) -> Blocks:
        if self._blocks is None:
            self._blocks = Blocks(self._numbered, self._base.blocks().recover)
        return self._blocks

    def _numbered(self) -> list[OutputBlock]:
        sizes: dict[bytes, int] = dict(self._sizes.result())
        first = 0
        made: list[OutputBlock] = []
        for block in self._base.blocks().output_blocks():
            id_ = id_of("indexed", block.id, first.to_bytes(8, "little"))
            made.append(
                made_block(id_, block.length, block.tail, partial(_with_numbers, block, self._base.shape, first))
            )
            first += sizes.get(block.id, 0)
        return made

    def read(self, steps: Sequence[Step] = ()) -> Iterator[Any]:
        numbered = ((record, number) for number, record in enumerate(self._base.read()))
        return read_light(steps, numbered, self.shape)

    def plain(self) -> RDD[Any]:
        if self._plain is None:
            self._plain = self._make_plain()
        return self._plain

    def partitions(self) -> int:
        return self._base.partitions()

    def empty(self) -> bool:
        return self._base.empty()


class _Sizes(Base):
    """For every block of a base a pair of its id and how many records it holds."""

    shape = Shape.RECORDS

    def __init__(self, base: Base) -> None:
        self._base = base
        self.name = f"{base.name}.sizes"

    def input(self) -> Blocks:
        source = self._base.blocks()

        def sizes() -> list[OutputBlock]:
            return [
                made_block(id_of("size", block.id), block.length, block.tail, partial(_size, block))
                for block in source.output_blocks()
            ]

        return Blocks(sizes, source.recover)

    def plain(self) -> RDD[Any]:
        raise AssertionError("sizes are the engine's own")

    def partitions(self) -> int:
        return self._base.partitions()

    def empty(self) -> bool:
        return self._base.empty()


class IndexedRanges(Stage):
    """Sorted records with their numbers, by how many a stage before this one found in each range of keys."""

    def __init__(self, sizes: Stage, *given: Any) -> None:
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


def _size(block: OutputBlock, reader: BlobReader) -> list[Pair]:
    return [(block.id, len(block.pairs(reader)))]


def _with_numbers(block: OutputBlock, shape: Shape, first: int, reader: BlobReader) -> list[Pair]:
    records = read_light((), block.pairs(reader), shape)
    return [(record, number) for number, record in enumerate(records, first)]
