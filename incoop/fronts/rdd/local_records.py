"""Data of the program's own as input of memoized stages, without Spark: blocks that travel with the tasks.

Contract: blocks are named by their content, and end where an element's own content says so, as those of plain Spark's
data do (`imported_blocks.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import xxhash
from pyspark import RDD

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.column_bytes import read_column, write_column
from incoop.engine.stored import BlobReader
from incoop.fronts.common.made_blocks import MadeBlock, MadeBlocks, id_of
from incoop.fronts.rdd.imported_blocks import pieces
from incoop.fronts.rdd.lineage import Base
from incoop.fronts.rdd.slices import slices
from incoop.fronts.rdd.steps import NarrowStep, Shape, read_light
from incoop.fronts.rdd.unstarted.local_data import made_of, start_data


class LocalRecords(Base):
    """Elements that the program gave to `parallelize`."""

    shape = Shape.STORED
    raw = True

    def __init__(self, rdd: RDD[Any], number: int) -> None:
        self._rdd, self._made = rdd, made_of(rdd)
        self.name = f"data {number}"
        self._source = MadeBlocks(self._blocks)

    def input(self) -> MadeBlocks:
        return self._source

    def _blocks(self) -> list[MadeBlock]:
        return [_block(piece) for elements in self._divided() for piece in pieces(elements, one_by_one=False)]

    def _divided(self) -> list[Sequence[Any]]:
        elements, number = self._made.elements(), self._made.partitions
        if not self._made.is_range:
            return list(slices(elements, number))
        ends = [int(split * len(elements) / number) for split in range(number + 1)]
        return [elements[start:end] for start, end in pairwise(ends)]

    def read(self, steps: Sequence[NarrowStep] = ()) -> Iterator[Any]:
        pairs = ((None, element) for elements in self._divided() for element in elements)
        return read_light(steps, pairs, self.shape)

    def plain(self) -> RDD[Any]:
        start_data(self._rdd)
        return self._rdd

    def partitions(self) -> int:
        return self._made.partitions

    def empty(self) -> bool:
        return not self._made.elements()


def _block(piece: list[Any]) -> MadeBlock:
    out: list[bytes | memoryview] = []
    write_column(Column.of([(None, element) for element in piece]), out)
    data = b"".join(out)
    id_ = id_of("local", data)
    return MadeBlock(id_, len(data), xxhash.xxh3_64_intdigest(id_), partial(_pairs, data))


def _pairs(data: bytes, reader: BlobReader) -> list[Any]:
    return read_column(data, 0)[0].to_list()
