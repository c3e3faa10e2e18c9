"""Blocks that are made when they are read, as the input of a job: nothing of them is stored.

Contract: a block's id says what its pairs are, so that equal ids may stand for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from incoop.base.content_ids import content_id
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.blocks import PairBlock
from incoop.engine.stored import BlobReader

#: Gives pairs, or records as a file holds them: what the mapper that reads the block expects.
Read = Callable[[BlobReader], list[Any]]


@dataclass(frozen=True, slots=True)
class MadeBlock(PairBlock):
    """A block whose records a function gives."""

    id: bytes
    #: Stands for the work with the block; a block of none is left out.
    length: int
    tail: int
    read: Read

    def pairs(self, reader: BlobReader) -> list[Any]:
        return self.read(reader)


def id_of(kind: str, *pieces: bytes) -> bytes:
    """The id of a block of this kind that is made of these pieces."""
    lengths = b"".join(len(piece).to_bytes(8, "little") for piece in pieces)
    return content_id(b"\0".join([kind.encode(), lengths, *pieces]))


class MadeBlocks:
    """Blocks that are listed when they are first needed; a `BlockSource` for the engine."""

    def __init__(
        self, make: Callable[[], Sequence[PairBlock]], recover: Callable[[BlockLost], None] = lambda _: None
    ) -> None:
        self._make, self._recover = make, recover
        self._made: Sequence[PairBlock] | None = None

    def output_blocks(self) -> Sequence[PairBlock]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def recover(self, lost: BlockLost) -> None:
        """Have what was lost made again, and list the blocks once more."""
        self._recover(lost)
        self._made = None
