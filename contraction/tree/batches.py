"""Functions that take many records or keys in one call: for programs outside Python, and for code that keeps state.

A `ChunkMapper` sees a whole chunk, so a chunk is the grain of what is reused; a `BatchCombiner` sees many keys, so that
what a call costs is paid once for all of them. A `LawfulCombiner` is one that nobody has to try first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incoop.contraction.tree.folds import Fold

Pairs = Iterable[tuple[Any, Any]]
Groups = Iterable[tuple[Any, list[Any]]]


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


@dataclass(frozen=True, slots=True)
class BatchCombiner:
    """A combiner that is called with many keys, each with its values, and gives pairs of those keys in any order.

    Example:
        >>> sums = BatchCombiner(lambda groups: [(key, sum(values)) for key, values in groups])
        >>> list(sums("a", [1, 2]))
        [('a', 3)]
    """

    function: Callable[[Groups], Pairs]
    #: Whether a small update is contracted and reduced in the driver's process, as a `ChunkMapper` may be.
    nearby: bool = False

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        return self.function([(key, list(values))])


@dataclass(frozen=True, slots=True)
class LawfulCombiner:
    """A combiner or reducer that is known to satisfy the law of combiners, so it is not tried on a sample.

    `known_fold` says that on integers it does what that fold does; anything else goes through the function.

    Example:
        >>> join = LawfulCombiner(lambda key, values: [(key, "".join(values))])
        >>> list(join("a", ["x", "y"]))
        [('a', 'xy')]
    """

    function: Callable[[Any, Iterable[Any]], Pairs]
    known_fold: Fold | None = None

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        return self.function(key, values)
