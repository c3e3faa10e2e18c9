"""The shape of the contraction tree: which consecutive children make a node, decided by content.

Contract: equal boundaries give equal groups, on every machine. An edit inside a chunk leaves the shape alone; an
inserted chunk re-cuts about one group a level; an append touches the right spine.

A chunk's height comes from the bytes around its end boundary: those before it, and those behind it, with which the next
chunk begins. A group at level l ends behind a child whose last chunk has a height of at least l.

Reference: Bhatotia et al., "Incoop", SoCC 2011, section 4; Pugh's skip lists for the heights.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Which bytes around a boundary count, and how: another number, other ids of nodes.
SHAPE_VERSION = 2

#: Groups hold about 2**4 = 16 children, so n chunks make about log16(n) levels.
GROUP_BITS = 4

#: The same for sums of integers, whose nodes are updated without reading the children that stayed: the fewer levels,
#: the better. A node over tens of chunks has nearly as many keys as the root, so another level costs as much again.
WIDE_BITS = 14

#: The same for combiners that take all keys of a node in one call: what a call costs, such as starting a program, is
#: paid for every level.
BATCH_BITS = 7

#: A group ends at the latest when it has so many times the average: boundaries without a marker must not make a node of
#: everything.
LARGEST_GROUP = 4

#: A group has two children at least (the last one may have one): each level is at most half as long as the one below.
SMALLEST_GROUP = 2


def boundaries(tails: npt.NDArray[np.uint64], heads: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A hash for each chunk's end: of what is before it, the chunk's tail, and behind it, the next one's head.

    Either alone may say little: of 401 chunks of an access log, whose lines end with the name of a browser, 316 have
    the tail of another one, and the tree over them had groups of 4 chunks, and of 64 of these. A head of 0 is none.

    Example:
        >>> boundaries(np.array([1, 1, 1], np.uint64), np.array([5, 2 << 32, 0], np.uint64)).tolist()
        [3, 1, 1]
    """
    behind = np.append(heads[1:], np.uint64(0))[: len(heads)]
    half = np.uint64(32)
    # Turned by half, so that a chunk that ends as the next one begins is not unlike others.
    turned: npt.NDArray[np.uint64] = tails ^ (behind << half | behind >> half)
    return turned


def heights(ends: npt.NDArray[np.uint64], bits: int) -> npt.NDArray[np.int64]:
    """How many levels each chunk's end boundary closes a group on."""
    # The lowest set bit alone is a power of two; its logarithm counts the zeros below it.
    lowest = ends & (~ends + np.uint64(1))
    zeros = np.full(len(ends), 64, np.int64)
    some = ends != 0
    zeros[some] = np.log2(lowest[some].astype(np.float64)).astype(np.int64)
    return zeros // bits


def group_ends(last_heights: npt.NDArray[np.int64], level: int, largest: int) -> npt.NDArray[np.int64]:
    """The end index of each group of children at `level`, given the height of each child's last chunk.

    Example:
        >>> group_ends(np.array([0, 0, 1, 0, 2, 0]), level=1, largest=64).tolist()
        [3, 5, 6]
    """
    total = len(last_heights)
    closing = (np.flatnonzero(last_heights >= level) + 1).tolist()
    closing.append(total)
    ends = []
    begin = at = 0
    while begin < total:
        while closing[at] < begin + SMALLEST_GROUP and closing[at] < total:
            at += 1
        begin = min(closing[at], begin + largest)
        ends.append(begin)
    return np.array(ends, np.int64)


def levels(ends_of_chunks: npt.NDArray[np.uint64], bits: int = GROUP_BITS) -> list[npt.NDArray[np.int64]]:
    """The group ends of every level, from the chunks up to a single node.

    Example:
        >>> [ends.tolist() for ends in levels(np.array([1, 16, 1, 256, 1], np.uint64))]
        [[2, 4, 5], [2, 3], [2]]
    """
    closing = heights(ends_of_chunks, bits)
    found: list[npt.NDArray[np.int64]] = []
    while len(closing) > 1:
        ends = group_ends(closing, len(found) + 1, LARGEST_GROUP << bits)
        found.append(ends)
        closing = closing[ends - 1]
    return found
