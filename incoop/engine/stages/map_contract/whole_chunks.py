"""Mappers that see a whole chunk: for programs outside Python, and for code that keeps state between records.

A chunk is then the grain of what is reused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from incoop.contraction.tree.known_combiners import Pairs


@dataclass(frozen=True, slots=True)
class ChunkMapper:
    """A mapper that is called once for a chunk, with all its records; of an earlier result, with all pairs of a block.

    Example:
        >>> list(ChunkMapper(lambda lines: [("lines", len(lines))])(None, ["a", "b"]))
        [('lines', 2)]
    """

    function: Callable[..., Pairs]

    def __call__(self, _: Any, records: Sequence[Any]) -> Pairs:
        return self.function(records)
