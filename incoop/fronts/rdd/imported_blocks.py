"""Plain Spark data as input of memoized stages: every element is written to blocks that are named by their content.

Contract: the same elements in the same partitions give the same blocks, so that what follows is reused. Blocks end
where an element's own content says so: an element more or less changes one or two of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import xxhash

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.column_bytes import write_column
from incoop.contraction.columns.encoding import encode
from incoop.contraction.parts.packs import BlockLost, OpenPack
from incoop.engine.output import OutputBlock
from incoop.memo import WorkerConfig

if TYPE_CHECKING:
    from pyspark import RDD

#: One element of this many ends a block, as stored outputs have about 2,000 pairs in one; none holds more than _MOST.
_AVERAGE = 1024
_MOST = 8 * _AVERAGE


class ImportedBlocks:
    """The elements of a plain RDD, stored when first needed; a `BlockSource` for the engine."""

    def __init__(self, rdd: RDD[Any], worker: WorkerConfig, one_by_one: bool = False) -> None:
        self._rdd, self._worker, self._one_by_one = rdd, worker, one_by_one
        self._blocks: list[OutputBlock] | None = None

    def output_blocks(self) -> list[OutputBlock]:
        if self._blocks is None:
            self._blocks = self._rdd.mapPartitions(partial(_stored, self._worker, self._one_by_one)).collect()
        return self._blocks

    def recover(self, lost: BlockLost) -> None:
        """Write the blocks again."""
        self._blocks = None


def _stored(worker: WorkerConfig, one_by_one: bool, elements: Iterable[Any]) -> Iterator[OutputBlock]:
    pack: OpenPack[tuple[bytes, int, int]] = OpenPack(worker.open().write)
    for piece in pieces(elements, one_by_one):
        out: list[bytes | memoryview] = []
        write_column(Column.of([(None, element) for element in piece]), out)
        yield from _named(pack.added(pack.builder.add_region(b"".join(out))))
    yield from _named(pack.flush())


def _named(written: list[tuple[bytes, tuple[bytes, int, int]]]) -> Iterator[OutputBlock]:
    for name, (digest, offset, length) in written:
        tail = xxhash.xxh3_64_intdigest(digest)
        yield OutputBlock(digest, name, offset, length, is_run=False, bare=False, tail=tail)


def pieces(elements: Iterable[Any], one_by_one: bool) -> Iterator[list[Any]]:
    """Elements as blocks have them."""
    piece: list[Any] = []
    for element in elements:
        piece.append(element)
        if one_by_one or len(piece) >= _MOST or xxhash.xxh3_64_intdigest(encode(element)) % _AVERAGE == 0:
            yield piece
            piece = []
    if piece:
        yield piece
