"""A relation on its way: where its rows are, and what is still to be done with each.

Contract: a relation is several branches, whose rows are all of its rows; an ordered one has one branch, of ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incoop.base.content_ids import content_id
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.blocks import PairBlock
from incoop.engine.stored import BlobReader
from incoop.query.execution.held import Types
from incoop.query.execution.reading import Reading, ReadPairs
from incoop.query.execution.records import UncutLines, UncutRows
from incoop.query.execution.steps import RowStep


@dataclass(frozen=True, slots=True)
class Branch:
    """Rows of one source, and the steps that they go through."""

    #: What a job takes as an input.
    input: Any
    reading: Reading
    #: Says what reading does; the input's content is not in it.
    digest: bytes
    #: The plan node that reads, by which its warnings are counted.
    tag: str
    #: How files are cut; None where the input is pairs.
    records: UncutLines | UncutRows | None = None
    #: How pieces that begin their files are read, where that is another way.
    first: Reading | None = None
    steps: tuple[RowStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """The rows of a plan."""

    branches: tuple[Branch, ...]
    types: Types
    #: Names by which warnings of all that the rows came from are counted.
    tags: frozenset[str]
    #: No more rows than this, where that is known from the plan.
    most: int | None = None

    def through(self, step: RowStep, types: Types, most: int | None = None) -> Relation:
        """The rows after one more step."""
        branches = tuple(replace(each, steps=(*each.steps, step)) for each in self.branches)
        return Relation(branches, types, self.tags | {step.tag}, most)

    @property
    def stored(self) -> Branch | None:
        """The only branch, if its rows are stored as they are."""
        only = self.branches[0]
        stored = isinstance(only.reading, ReadPairs)
        return only if len(self.branches) == 1 and not only.steps and stored else None


@dataclass(frozen=True, slots=True)
class RowsBlock(PairBlock):
    """A few pairs that travel with the task that reads them."""

    id: bytes
    held: tuple[Any, ...] = field(repr=False)
    length: int = 1
    tail: int = 0

    def pairs(self, reader: BlobReader) -> list[Any]:
        return list(self.held)


class FewPairs:
    """A few pairs as an input: an empty relation, a row of nothing."""

    def __init__(self, pairs: Sequence[Any]) -> None:
        self.pairs = tuple(pairs)

    def output_blocks(self) -> Sequence[PairBlock]:
        return [RowsBlock(content_id(b"few pairs" + repr(self.pairs).encode()), self.pairs)] if self.pairs else []

    def recover(self, lost: BlockLost) -> None:
        raise lost
