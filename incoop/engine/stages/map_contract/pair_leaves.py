"""Leaves of pairs: a block of another run's output is cut by the content of its pairs, behind whole ones.

Contract: leaves follow from the block's pairs alone, each encoded by itself, however the block is stored: written
anew, or with changes beside it. Only pairs of leaves that are asked for become objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from incoop.contraction.columns.column import Column, Ints
from incoop.contraction.columns.encoded_rows import encoded_rows
from incoop.engine.output import Pair, shown_pairs
from incoop.engine.stages.map_contract.leaves import Leaves, cutter, large_enough, leaf_ids
from incoop.engine.stages.map_contract.mapping import Piece


@dataclass(frozen=True)
class PairLeaves(Leaves):
    """Some pairs, cut; lengths of leaves are those of their encoded pairs."""

    pairs: Column
    #: Where each pair begins in their encoded form, and the end of the last.
    starts: Ints

    #: A pair takes some 16 bytes, so that in a group of few keys each has about as many values as are worth combining.
    bytes_of_a_key: ClassVar[int] = 1 << 8

    def records(self, low: int, high: int) -> Sequence[Any]:
        first, behind = np.searchsorted(self.starts, [low, high]).tolist()
        return shown_pairs(self.pairs.slice(first, behind).to_list())

    def decoded(self) -> list[Piece]:
        pairs = self.pairs.to_list()
        behind = np.searchsorted(self.starts, self.ends).tolist()
        return [Piece(partial(_shown_between, pairs, low, high)) for low, high in pairwise([0, *behind])]


def _shown_between(pairs: list[Pair], low: int, high: int) -> list[Pair]:
    return shown_pairs(pairs[low:high])


def cut_pairs(pairs: Column, size: int, group: int = 0) -> PairLeaves | None:
    """Cut pairs into leaves of about `size` bytes, and these into groups of about `group`; 0 for one each.

    None when there are too few, or no leaves are wanted.
    """
    if not size or not len(pairs):
        return None
    rows, starts = encoded_rows(pairs)
    if not large_enough(len(rows), size):
        return None
    content = rows.tobytes()
    proposed = [cut.offset + cut.length for cut in cutter(size)(content)]
    ends = np.unique(starts[np.searchsorted(starts, proposed)])
    return PairLeaves(leaf_ids(content, ends.tolist()), size, group, pairs, starts)
