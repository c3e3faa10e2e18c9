"""Without a combiner: keys gather their values from all chunks, in input order.

Contract: each key has the values that all chunks have of it, in their order. Values that chunks hold in columns of one
kind are put in order as a column. Others stay in the columns that they were stored in: in one column they would be
encoded one by one, to be decoded again at once. In an update a chunk is asked once for the keys of all shards, and only
for those that changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from incoop.contraction.columns.column import INTEGER, Column, are_alike
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import EMPTY, Run, merge
from incoop.contraction.parts.part import Shard, ShardOfRun
from incoop.contraction.tree.node import NodeTask, ShardContraction
from incoop.engine.stages.map_contract.column_reducer import KeyedColumns

#: Of more than so many bytes, encoded, a shard's keys are gathered at a time: decoded they take some ten times as much.
_AT_ONCE = 32 << 20


class LazyValues:
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
    values: LazyValues

    @property
    def hashes(self) -> Hashes:
        return self.places.hashes

    def __len__(self) -> int:
        return len(self.places)

    def slice(self, low: int, high: int) -> Gathered:
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


def gathered(runs: Iterable[Run]) -> Gathered:
    """All keys of some runs, their values as they are stored."""
    columns: list[Column] = []
    stand_ins: list[Run] = []
    before = 0
    for run in filter(len, runs):
        columns.append(run.values)
        behind = before + len(run.values)
        places = Column(INTEGER, len(run.values), numbers=np.arange(before, behind))
        stand_ins.append(Run(run.hashes, run.keys, places, run.firsts))
        before = behind
    return Gathered(merge(stand_ins)[0], LazyValues(columns))


def _together(runs: Iterable[Run], as_stored: bool) -> Gathered | Run:
    """The same, the values put in order where that is cheap; not for a reducer that takes them `as_stored`."""
    runs = [run for run in runs if len(run)]
    if not as_stored and are_alike([run.values for run in runs]):
        return merge(runs)[0]
    return gathered(runs)


def gathered_whole(tree: ShardContraction, node: NodeTask, as_stored: bool) -> Gathered | Run:
    """All keys of a shard."""
    tree.executed += 1
    return _together((tree.part(child).whole() for child in node.children), as_stored)


def gathered_changes(
    trees: Sequence[ShardContraction], node: NodeTask, as_stored: bool
) -> list[tuple[Hashes, Gathered | Run]]:
    """For each of some shards, which ascend: the keys that changed, and what there is of them."""
    changed = [tree.changed_below(node) for tree in trees]
    for tree, hashes in zip(trees, changed, strict=True):
        tree.executed += bool(len(hashes))
    together = np.concatenate(changed)
    if not len(together):
        return [(hashes, EMPTY) for hashes in changed]
    runs = _of_all_shards([trees[0].part(child) for child in node.children], together)
    if runs is None:
        return [
            (hashes, _together((tree.part(child).select(hashes) for child in node.children), as_stored))
            for tree, hashes in zip(trees, changed, strict=True)
        ]
    found = _together(runs, as_stored)
    bounds = [0]
    for hashes in changed:
        last = np.searchsorted(found.hashes, hashes[-1:], side="right").tolist()
        bounds += last or bounds[-1:]
    return [(hashes, found.slice(low, high)) for hashes, (low, high) in zip(changed, pairwise(bounds), strict=True)]


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
