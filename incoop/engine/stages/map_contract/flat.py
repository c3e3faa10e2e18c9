"""Without a combiner: keys gather their values from all chunks, in input order.

Contract: each key has the values that all chunks have of it, in their order. Values stay in the columns that they were
stored in: chunks may hold some of other types than others do, and put into one column they would be encoded one by one,
to be decoded again at once. In an update a chunk is asked once for the keys of all shards, and only for those that
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from incoop.contraction.columns.column import INTEGER, Column
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import EMPTY, Run, merge
from incoop.contraction.parts.part import Shard, ShardOfRun
from incoop.contraction.tree.node import NodeTask, ShardContraction
from incoop.engine.stages.map_contract.column_reducer import KeyedColumns

#: Of more than so many bytes, encoded, a shard's keys are gathered at a time: decoded they take some ten times as much.
_AT_ONCE = 32 << 20


class Values:
    """Values of several chunks, decoded when they are first asked for one by one."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns

    @cached_property
    def listed(self) -> list[Any]:
        return [value for column in self.columns for value in column.to_list()]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Keys with their values."""

    #: The keys; what stands for a value is its place in all columns one after the other.
    places: Run
    values: Values

    def __len__(self) -> int:
        return len(self.places)

    def between(self, low: int, high: int) -> Gathered:
        """The keys from `low` up to `high`."""
        return Gathered(self.places.slice(low, high), self.values)

    def by_column(self) -> KeyedColumns:
        """The keys for a reducer that takes all of them."""
        places = self.places.values.numbers
        assert places is not None
        return KeyedColumns(self.places.keys, self.values.columns, places, self.places.counts())

    def groups(self) -> Iterator[tuple[Any, list[Any]]]:
        """Each key with its values."""
        keys, firsts = self.places.keys.to_list(), self.places.firsts
        listed = self.values.listed
        values = [listed[place] for place in self.places.values.to_list()]
        if firsts is None:
            return ((key, [value]) for key, value in zip(keys, values, strict=True))
        return ((key, values[low:high]) for key, (low, high) in zip(keys, pairwise(firsts.tolist()), strict=True))


NOTHING = Gathered(EMPTY, Values([]))


def gathered(runs: Iterable[Run]) -> Gathered:
    """All keys of some runs."""
    columns: list[Column] = []
    stand_ins: list[Run] = []
    before = 0
    for run in runs:
        if len(run):
            columns.append(run.values)
            behind = before + len(run.values)
            places = Column(INTEGER, len(run.values), numbers=np.arange(before, behind))
            stand_ins.append(Run(run.hashes, run.keys, places, run.firsts))
            before = behind
    return Gathered(merge(stand_ins)[0], Values(columns))


def gathered_whole(tree: ShardContraction, node: NodeTask) -> Gathered:
    """All keys of a shard."""
    tree.executed += 1
    return gathered(tree.part(child).whole() for child in node.children)


def gathered_changes(trees: Sequence[ShardContraction], node: NodeTask) -> list[tuple[Hashes, Gathered]]:
    """For each of some shards, which ascend: the keys that changed, and what there is of them."""
    changed = [tree.changed_below(node) for tree in trees]
    for tree, hashes in zip(trees, changed, strict=True):
        tree.executed += bool(len(hashes))
    together = np.concatenate(changed)
    if not len(together):
        return [(hashes, NOTHING) for hashes in changed]
    runs = _of_all_shards([trees[0].part(child) for child in node.children], together)
    if runs is None:
        return [
            (hashes, gathered(tree.part(child).select(hashes) for child in node.children))
            for tree, hashes in zip(trees, changed, strict=True)
        ]
    found = gathered(runs)
    bounds = [0]
    for hashes in changed:
        last = np.searchsorted(found.places.hashes, hashes[-1:], side="right").tolist()
        bounds += last or bounds[-1:]
    return [(hashes, found.between(low, high)) for hashes, (low, high) in zip(changed, pairwise(bounds), strict=True)]


def _of_all_shards(parts: Sequence[Shard], hashes: Hashes) -> list[Run] | None:
    """What chunks have of sorted hashes of any shards; None where shards are stored apart, or that is too much."""
    runs: list[Run] = []
    size = 0
    for part in parts:
        if not isinstance(part, ShardOfRun):
            return None
        runs.append(part.run.select(hashes))
        size += runs[-1].nbytes
        if size > _AT_ONCE:
            return None
    return runs
