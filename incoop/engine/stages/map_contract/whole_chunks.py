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
    #: Whether a first chunk is mapped twice, to try the combiner on what it gives.
    tries_combiner: bool = True
    #: Whether the function is also given, by the name `old`, a function that gives the pairs of each chunk whose place
    #: this one takes, as a dict of the keys' values. They may save work; what comes out must follow from the records.
    takes_old: bool = False
    #: Up to this many chunks, if not large, are mapped in the driver's process, unless executors run elsewhere; that
    #: saves a Spark job, or Spark. For functions whose work is done by other programs, or is next to nothing.
    nearby: int = 0

    def __call__(self, _: Any, records: Sequence[Any]) -> Pairs:
        return self.function(records)
