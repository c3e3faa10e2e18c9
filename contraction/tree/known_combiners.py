"""Combiners of which more is known than that they can be called.

A `BatchCombiner` sees many keys, so that what a call costs is paid once for all of them: for programs outside Python,
or where it costs less, a `QuickBatchCombiner`. A `LawfulCombiner` is one that nobody has to try first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incoop.contraction.tree.folds import Fold

Pairs = Iterable[tuple[Any, Any]]
Groups = Iterable[tuple[Any, list[Any]]]


@dataclass(frozen=True, slots=True)
class BatchCombiner:
    """A combiner that is called with many keys, each with its values, and gives pairs of those keys in any order.

    Example:
        >>> sums = BatchCombiner(lambda groups: [(key, sum(values)) for key, values in groups])
        >>> list(sums("a", [1, 2]))
        [('a', 3)]
    """

    function: Callable[[Groups], Pairs]

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        return self.function([(key, list(values))])


@dataclass(frozen=True, slots=True)
class QuickBatchCombiner(BatchCombiner):
    """One whose calls cost no process: what leaves of a chunk gave is kept, and combined when it is asked for."""


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
