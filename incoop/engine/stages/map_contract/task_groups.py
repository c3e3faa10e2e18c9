"""Which chunks a task maps, and which shards one contracts: groups in the order in which they should begin. Pure."""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np

from incoop.engine.stages.map_contract.map_task import ChunkTask

#: Tasks for each core, at least in a run of more than that many bytes a task: a task's results are kept when it ends,
#: whatever happens later.
_WAVES = 4
_LONG = 16 << 20

#: A task is not given less than this where there is more: a Python worker needs 20 ms from one task to the next.
_LEAST_BYTES = 2 << 20

#: A described chunk costs about as much as mapping so many bytes of another, besides those that are new in it.
_DESCRIBED = 32 << 10

#: Of what a core is to do of chunks that are described, this share is its first task, the rest its second: so that
#: cores end together, and nearly all of what a worker reads is what it had at hand.
_FIRST = 7 / 8

#: Tasks for each core in contraction, whose shards are even; where only a path or two of the tree are touched, starting
#: a task costs as much as it does.
_CONTRACT_WAVES = 2
FEW_NODES = 8


def shared_out(tasks: list[ChunkTask], cores: int) -> list[list[ChunkTask]]:
    """Chunks in groups, each in input order."""
    total = sum(task.block.length for task in tasks)
    if total <= cores * _LEAST_BYTES:
        return _even(tasks, cores)
    described = sum(task.base is not None for task in tasks)
    return _steady(tasks, cores) if described > len(tasks) / 2 else _tapered(tasks, cores, total)


def _even(tasks: list[ChunkTask], cores: int) -> list[list[ChunkTask]]:
    """One group for each core, of about equal bytes: the longest first, each to the group that has least."""
    groups: list[list[int]] = [[] for _ in range(min(len(tasks), cores))]
    taken = [(0, number) for number in range(len(groups))]
    for at in sorted(range(len(tasks)), key=lambda at: -tasks[at].block.length):
        size, number = heapq.heappop(taken)
        groups[number].append(at)
        heapq.heappush(taken, (size + tasks[at].block.length, number))
    return [[tasks[at] for at in sorted(group)] for group in groups]


def _steady(tasks: list[ChunkTask], cores: int) -> list[list[ChunkTask]]:
    """A first and a second task for each core: of chunks beside each other, nearly the same ones in each update."""
    costs = np.array([_cost(task) for task in tasks])
    middles = np.cumsum(costs) - costs / 2
    shares = [part for core in range(cores) for part in (core + _FIRST, core + 1)]
    bounds = [0, *np.searchsorted(middles, costs.sum() * np.array(shares) / cores).tolist()]
    groups = [tasks[low:high] for low, high in pairwise(bounds)]
    return [group for group in (*groups[::2], *groups[1::2]) if group]


def _cost(task: ChunkTask) -> int:
    return task.base.pieces.new_bytes + _DESCRIBED if task.base is not None else task.block.length


def _tapered(tasks: list[ChunkTask], cores: int, total: int) -> list[list[ChunkTask]]:
    """Groups that become smaller, so that cores of different speed and chunks of different cost end together.

    Each has a core's part of half of what is left.
    """
    groups: list[list[ChunkTask]] = []
    most = max(total // (cores * _WAVES), _LONG)
    left, size, target = total, 0, 0
    for task in tasks:
        if size >= target:
            groups.append([])
            size, target = 0, min(max(left // (2 * cores), _LEAST_BYTES), most)
        groups[-1].append(task)
        size += task.block.length
        left -= task.block.length
    return groups


def shards_shared_out(shards: int, nodes: int, cores: int, clustered: bool) -> list[list[int]]:
    """Shards in groups. On a cluster these are always the same: a shard goes where it was before."""
    few = nodes <= FEW_NODES and not clustered
    return even_parts(shards, cores * (1 if few else _CONTRACT_WAVES))


def even_parts(count: int, most: int) -> list[list[int]]:
    """The numbers below `count` in up to so many parts of about equal length."""
    return [part.tolist() for part in np.array_split(np.arange(count), min(count, most))]
