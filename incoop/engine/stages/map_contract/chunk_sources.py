"""A chunk on its way to the mapper: its records, and its leaves where it has any.

Contract: nothing is read before it is asked for. What a chunk of bytes and a block of pairs have in common, `Cutting`
says; which of the two a chunk is, is asked here alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from incoop.code import Functions
from incoop.contraction.parts.headers import RunRef, read_run
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.blocks import Block, ChunkBlock, records_of
from incoop.engine.stages.map_contract.leaf_table import LeafIds
from incoop.engine.stages.map_contract.leaves import GROUP, PAIR_GROUP, Cutting, by_leaf, leaf_bytes
from incoop.engine.stages.map_contract.mapping import Piece, PiecesMapper, RecordsMapper
from incoop.engine.stages.map_contract.pair_leaves import PairLeaves, cut_pairs
from incoop.engine.stages.map_contract.recut_leaves import recut_leaves
from incoop.engine.stages.map_contract.text_leaves import TextLeaves, cut_text
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.engine.stored import BlobReader
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.stretches import RecutPieces, stretch_rows
from incoop.job import Mapper


@dataclass(frozen=True, slots=True)
class ChunkSource:
    """A chunk, with the mapper that takes a record of it."""

    #: Takes a record as its value.
    mapper: Mapper
    #: The chunk as one piece.
    whole: list[Piece]
    #: How leaves are cut, where there are any.
    cutting: Cutting | None = None


@dataclass(frozen=True, slots=True)
class ChunkSources:
    """What the chunks of a job have in common."""

    functions: Functions
    reader: BlobReader
    #: Average bytes of a leaf, 0 for none, None for the default.
    leaf: int | None
    #: Whether mappers of whole chunks look at those whose place theirs takes.
    takes_old: bool

    def of(self, block: Block, mapper_number: int, old: Sequence[RunRef]) -> ChunkSource:
        """A chunk that takes the place of others, whose runs are `old`."""
        mapper, form = self.functions.mappers[mapper_number], self.functions.records
        if isinstance(mapper, ChunkMapper):
            if self.takes_old:
                mapper = replace(mapper, function=partial(mapper.function, old=partial(self._pairs_of, old)))
            return ChunkSource(mapper, [Piece(partial(_whole, block, form, self.reader))])
        leaf = leaf_bytes(self.leaf, self.functions.combiner) if by_leaf(mapper) else 0
        grouped = self.functions.combiner is not None and self.leaf is None
        chunk = block.chunk()
        if chunk is not None:
            text = TextCutting(chunk, form, leaf, GROUP if grouped else 0)
            return ChunkSource(mapper, [Piece(lambda: records_of(form, text.content))], text if leaf else None)
        on_pair = mapper if isinstance(mapper, PiecesMapper | RecordsMapper) else partial(_on_pair, mapper)
        cut = PairCutting(block, self.reader, leaf, PAIR_GROUP if grouped else 0)
        return ChunkSource(on_pair, [Piece(partial(block.records, form, self.reader))], cut if leaf else None)

    def _pairs_of(self, runs: Sequence[RunRef]) -> Iterator[dict[Any, list[Any]]]:
        """What is kept of chunks, as far as it is there."""
        for ref in runs:
            with suppress(BlockLost):
                yield dict(read_run(ref, self.reader).whole().groups())


@dataclass(frozen=True)
class TextCutting:
    """A chunk of a file, to be cut."""

    chunk: ChunkBlock
    form: RecordFormat
    leaf: int
    group: int

    @cached_property
    def content(self) -> bytes:
        return self.chunk.content()

    @cached_property
    def _cut(self) -> TextLeaves | None:
        return cut_text(self.content, self.leaf, self.form, self.group)

    def cut(self) -> TextLeaves | None:
        return self._cut

    def recut(self, pieces: RecutPieces, old: LeafIds) -> TextLeaves | None:
        return recut_leaves(self.chunk.where, pieces, old, self.leaf, self.form, self.group)

    def stretches(self) -> bytes:
        if self._cut is None or not self._cut.stretch_ends:
            return b""
        return stretch_rows(self.content, list(self._cut.stretch_ends)).tobytes()


@dataclass(frozen=True, slots=True)
class PairCutting:
    """A block of pairs, to be cut."""

    block: Block
    reader: BlobReader
    leaf: int
    group: int

    def cut(self) -> PairLeaves | None:
        pairs = self.block.stored_pairs(self.reader)
        return cut_pairs(pairs, self.leaf, self.group) if pairs is not None else None

    def recut(self, pieces: RecutPieces, old: LeafIds) -> None:
        return None  # pairs have no stretches

    def stretches(self) -> bytes:
        return b""


def _whole(block: Block, form: RecordFormat, reader: BlobReader) -> list[Sequence[Any]]:
    """All records of a chunk as the only one."""
    return [block.records(form, reader)]


def _on_pair(mapper: Mapper, _: Any, pair: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return mapper(*pair)
