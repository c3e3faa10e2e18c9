"""Contract a node of several shards: what is looked up in a child is looked up for all of them at once.

Contract: each shard's part is the one that it gets by itself. An update looks up few keys in many children, a hundred
calls of numpy for each child; shards take as many each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run, join
from incoop.contraction.parts.part import Part, ShardOfRun
from incoop.contraction.tree.node import NodeTask, ShardContraction

#: Pairs that are looked up at once, at most: so many keys, times children that may hold them; some 50 bytes each. A
#: shard is not divided.
_AT_ONCE = 4_000_000

Begun = list[tuple[ShardContraction, Hashes]]


def contract_node(shards: Sequence[ShardContraction], task: NodeTask) -> None:
    """Compute one node's part of some shards, which ascend; its children are stored or were contracted before."""
    begun = [(shard, changed) for shard in shards if (changed := shard.begin(task)) is not None]
    for some in _portions(begun, _AT_ONCE // max(1, len(task.children))):
        hashes = np.concatenate([changed for _, changed in some])
        fresh = some[0][0].combiner.combine([_selected(some, child, hashes) for child in task.children])
        lows = fresh.hashes.searchsorted([changed[0] for _, changed in some]).tolist()
        for (shard, changed), low, high in zip(some, lows, [*lows[1:], len(fresh)], strict=True):
            shard.finish(task, changed, fresh.slice(low, high))


def _portions(begun: Begun, most: int) -> Iterator[Begun]:
    """Consecutive shards that have up to so many keys to be looked up."""
    some: Begun = []
    size = 0
    for shard, changed in begun:
        if some and size + len(changed) > most:
            yield some
            some, size = [], 0
        some.append((shard, changed))
        size += len(changed)
    if some:
        yield some


def _selected(some: Begun, child: bytes, hashes: Hashes) -> Run:
    """What a child has of the keys of some shards."""
    first = some[0][0].part(child)
    if isinstance(first, ShardOfRun):
        return first.run.look_up(hashes)
    parts = ((shard.part(child), changed) for shard, changed in some)
    return join([part.select(changed) for part, changed in parts if isinstance(part, Part)])
