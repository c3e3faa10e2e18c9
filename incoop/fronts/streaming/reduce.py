"""What the engine calls to reduce a partition of a streaming job.

Contract: a reducer reads all lines of its partition, in order, in one process, since it may keep state from key to key.
With a combiner, partitions are the chunks of a stage of their own: what is kept of one is found by the content of its
shards of the tree, so that only partitions of which a line changed are reduced again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from incoop.base.content_ids import content_id
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.blocks import PairBlock
from incoop.engine.output import OutputBlock, Pair
from incoop.engine.stored import BlobReader
from incoop.fronts.streaming.aggregate import aggregate
from incoop.fronts.streaming.lines import KeyRule, LineOrder, in_pieces, joined
from incoop.fronts.streaming.partitions import Partitioner, shards_of
from incoop.fronts.streaming.program import Program, count_all
from incoop.fronts.streaming.properties import task_variables
from incoop.result import Result

#: Of `-reducer aggregate`.
AGGREGATE = "aggregate"


@dataclass(frozen=True, slots=True)
class ReduceStage:
    """Runs the reducer over all lines of a partition."""

    program: Program | str | None
    reducers: int
    order: LineOrder
    input_separator: bytes
    #: How printed lines are read, between key and value of the output, and whether it follows every key.
    printed: KeyRule
    separator: bytes
    trailing: bool

    def __call__(self, key: int, texts: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        partition = key % self.reducers
        yield partition, self.reduced(partition, b"".join(texts))

    def reduced(self, partition: int, data: bytes) -> bytes:
        """What goes into a partition's part file, given its lines in any order."""
        lines = self.order.sorted(data)
        del data  # the lines are as large
        rule = self.order.rule
        if self.program is None or isinstance(self.program, str):
            if self.program is not None:
                lines = aggregate(lines, rule, combine=False)
            return joined(rule.rewritten(lines, self.separator, self.trailing))
        fed = in_pieces(rule.rewritten(lines, self.input_separator, self.trailing))
        done = self.program.run(fed, task_variables("r", partition))
        count_all(done.counters)
        return finished(done.output, self.printed, self.separator, self.trailing)


def finished(output: bytes, printed: KeyRule, separator: bytes, trailing: bool) -> bytes:
    """What a command printed, as it goes into a part file: each line ended, keys and values apart as asked for."""
    if not output.endswith(b"\n") and output:
        output += b"\n"
    if printed.separator == separator and not trailing:
        return output
    return joined(printed.rewritten(output.split(b"\n")[:-1], separator, trailing))


class Buckets(list[Pair]):
    """The buckets of a partition; shown by its number, which an error then names."""

    def __init__(self, partition: int, pairs: Iterable[Pair]) -> None:
        super().__init__(pairs)
        self.partition = partition

    def __repr__(self) -> str:
        return f"partition {self.partition}"


@dataclass(frozen=True, slots=True)
class ReduceBuckets:
    """Runs the reducer over a partition that is a chunk."""

    stage: ReduceStage

    def __call__(self, buckets: Buckets) -> Iterator[tuple[int, bytes]]:
        if buckets:
            partition = buckets.partition
            data = b"".join(text for _, text in buckets)
            buckets.clear()
            yield partition, self.stage.reduced(partition, data)


@dataclass(frozen=True, slots=True)
class PartitionBlock(PairBlock):
    """The blocks of a partition as one."""

    id: bytes
    length: int
    tail: int
    partition: int
    partitioner: Partitioner
    blocks: tuple[OutputBlock, ...]

    @classmethod
    def of(cls, partition: int, partitioner: Partitioner, blocks: Iterable[OutputBlock]) -> PartitionBlock:
        """Equal lines of the same partition give an equal id."""
        together = tuple(blocks)
        number = np.array([partition, partitioner.reducers], np.int64).tobytes()
        id_ = content_id(number + b"".join(block.id for block in together))
        length = sum(block.length for block in together)
        return cls(id_, length, partition, partition, partitioner, together)

    def pairs(self, reader: BlobReader) -> Buckets:
        partitioner = self.partitioner
        bits = partitioner.bucket_bits
        pairs = (pair for block in self.blocks for pair in block.pairs(reader))
        own = (pair for pair in pairs if partitioner.bucket_of(pair[0]) >> bits == self.partition)
        return Buckets(self.partition, own)


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of combined lines, as the chunks of a next stage."""

    combined: Result
    partitioner: Partitioner

    def output_blocks(self) -> list[PartitionBlock]:
        shards = self.combined.part_blocks()
        if not shards:  # no input
            return []
        reducers = self.partitioner.reducers
        return [
            PartitionBlock.of(
                partition,
                self.partitioner,
                (block for shard in shards_of(partition, reducers) for block in shards[shard]),
            )
            for partition in range(reducers)
        ]

    def recover(self, lost: BlockLost) -> None:
        """Combine again what a lost pack held."""
        self.combined.recover(lost)
