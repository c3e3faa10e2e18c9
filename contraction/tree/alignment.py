"""Where two lists of children differ: what is gone, and what has come in its place.

Contract: children that both lists hold in the same order are aligned, as many as can be; of children that a list holds
several times only those at its ends are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise


@lru_cache(maxsize=16)  # every shard asks; a wide node's children are many
def replaced(old: tuple[bytes, ...], new: tuple[bytes, ...]) -> list[tuple[tuple[bytes, ...], tuple[bytes, ...]]]:
    """The stretches in which two lists differ: what is gone, and what has come in its place.

    Example:
        >>> replaced((b"a", b"b", b"c"), (b"a", b"x", b"c", b"d"))
        [((b'b',), (b'x',)), ((), (b'd',))]
    """
    stretches = []
    at = 0, 0
    for here, there in [*_all_aligned(old, new), (len(old), len(new))]:
        if at != (here, there):
            stretches.append((old[at[0] : here], new[at[1] : there]))
        at = here + 1, there + 1
    return stretches


def places_in(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    """For each of the new children, the place of the one that it is aligned with in the old list; -1 for none.

    Example:
        >>> places_in([b"a", b"b", b"c"], [b"a", b"x", b"c", b"d"])
        [0, -1, 2, -1]
    """
    place = {child: at for at, child in enumerate(old)}
    found = [place.get(child, -1) for child in new]
    held = [at for at in found if at >= 0]
    if len(place) == len(old) and all(here < there for here, there in pairwise(held)):
        return found
    found = [-1] * len(new)
    for here, there in _all_aligned(tuple(old), tuple(new)):
        found[there] = here
    return found


def _all_aligned(old: tuple[bytes, ...], new: tuple[bytes, ...]) -> list[tuple[int, int]]:
    """Places of the same child in both lists, in order."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    # The common ends first: of children that are equal to others only those are aligned.
    stop_old, stop_new = len(old) - end, len(new) - end
    return [
        *((at, at) for at in range(start)),
        *_aligned(old, new, start, stop_old, stop_new),
        *((stop_old + at, stop_new + at) for at in range(end)),
    ]


def _aligned(
    old: tuple[bytes, ...], new: tuple[bytes, ...], start: int, stop_old: int, stop_new: int
) -> list[tuple[int, int]]:
    """Places of the same child in both lists, in order, as many as can be: the longest ascending sequence of them."""
    times = Counter(old[start:stop_old])
    place = {child: at for at, child in enumerate(old[start:stop_old], start) if times[child] == 1}
    #: For each length, the least place that a sequence of it ends with; every found place with the one before it.
    least: list[int] = []
    found: list[tuple[int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for there in range(start, stop_new):
        if (here := place.get(new[there])) is not None:
            length = bisect_left(least, here)
            before[here, there] = found[length - 1] if length else None
            least[length : length + 1], found[length : length + 1] = [here], [(here, there)]
    sequence: list[tuple[int, int]] = []
    last = found[-1] if found else None
    while last is not None:
        sequence.append(last)
        last = before[last]
    return sequence[::-1]
