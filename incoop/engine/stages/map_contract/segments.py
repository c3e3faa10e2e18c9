"""The values of keys, by group of leaves: where they are many they are combined there first.

Contract: what becomes of a key's values follows from them, their order, and which of them stand in one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from incoop.contraction.columns.column import Column, Ints, starts_of
from incoop.contraction.columns.sorted_sets import distinct_numbers
from incoop.contraction.tree.combine import Combiner, CombinerError, all_combined
from incoop.engine.running.counters import added_counts
from incoop.engine.stages.map_contract.leaf_table import Counts, LeafTable
from incoop.engine.stages.map_contract.leaves import GROUP_VALUES, Leaves
from incoop.engine.stages.map_contract.mapping import UserError


def combined(combiner: Combiner, groups: Sequence[tuple[Any, list[Any]]]) -> list[list[Any]]:
    """Call the combiner for keys with their values."""
    try:
        return list(all_combined(combiner.function, groups))
    except CombinerError as failed:
        values = next((values for key, values in groups if key is failed.key), [])
        raise UserError(-1, (failed.key, values[:5])) from failed.__cause__


@dataclass(slots=True)
class Segments:
    """The values of keys in order; a segment is those of one key in one group."""

    #: For each value, the place of its key among the keys, ascending; and the number of its group, ascending for a key.
    rows: Ints
    groups: Ints
    values: list[Any]
    keys: list[Any]
    #: Where segments begin, and the end of the last.
    _bounds: Ints = field(init=False)
    #: What became of segments with many values, by where they begin.
    _made: dict[int, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        begins = np.flatnonzero((self.rows[1:] != self.rows[:-1]) | (self.groups[1:] != self.groups[:-1])) + 1
        self._bounds = np.concatenate([[0], begins, [len(self.values)]] if len(self.values) else [[0]]).astype(np.int64)

    def combine_many(self, combiner: Combiner) -> bool:
        """Combine the segments with many values; False when that drops a key of one."""
        bounds = self._bounds
        many = np.flatnonzero(np.diff(bounds) >= GROUP_VALUES)
        if not len(many):
            return True
        begins, ends = bounds[many].tolist(), bounds[many + 1].tolist()
        rows = self.rows[begins].tolist()
        items = [(self.keys[row], self.values[low:high]) for row, low, high in zip(rows, begins, ends, strict=True)]
        self._made = dict(zip(begins, combined(combiner, items), strict=True))
        return all(self._made.values())

    def combine_keys(self, combiner: Combiner) -> tuple[list[Any], Ints]:
        """What becomes of the keys: all values, one key after the other, and how many each has."""
        counts = np.bincount(self.rows, minlength=len(self.keys))
        starts = starts_of(counts)
        several = np.flatnonzero(counts > 1)
        begins, ends, places = starts[several].tolist(), starts[several + 1].tolist(), several.tolist()
        lists = [self.values[low:high] for low, high in zip(begins, ends, strict=True)]
        made = distinct_numbers(self.rows[list(self._made)]) if self._made else several[:0]
        for place in np.searchsorted(several, made).tolist():
            lists[place] = self._with_made(begins[place], ends[place])
        to_call = [place for place, each in enumerate(lists) if len(each) > 1]
        called = combined(combiner, [(self.keys[places[place]], lists[place]) for place in to_call])
        for place, each in zip(to_call, called, strict=True):
            lists[place] = each
        if (counts > 0).all() and all(len(each) == 1 for each in lists):
            flat = [self.values[at] for at in starts[:-1].tolist()]
            for row, (value,) in zip(places, lists, strict=True):
                flat[row] = value
            return flat, np.ones(len(self.keys), np.int64)
        by_key = [self.values[low:high] for low, high in pairwise(starts.tolist())]
        for row, each in zip(places, lists, strict=True):
            by_key[row] = each
        return [value for each in by_key for value in each], np.fromiter(map(len, by_key), np.int64, len(by_key))

    def _with_made(self, low: int, high: int) -> list[Any]:
        """The values of a key, those of segments with many as they were combined."""
        found: list[Any] = []
        first, last = np.searchsorted(self._bounds, [low, high]).tolist()
        for begin, end in pairwise(self._bounds[first : last + 1].tolist()):
            found += self._made.get(begin, self.values[begin:end])
        return found

    def table(self, leaves: Leaves, counters: Sequence[Counts]) -> LeafTable:
        """What each group gave."""
        rows, values, sizes = self.by_group(len(leaves.groups))
        added = [added_counts(counters[low:high]) for low, high in pairwise([0, *leaves.groups])]
        return LeafTable(leaves.cut_by_group, sizes, rows, Column.of(values), added, grouped=True)

    def by_group(self, count: int) -> tuple[Ints, list[Any], Ints]:
        """What became of the segments in so many groups: places of keys, values, and how many each group has."""
        bounds = self._bounds.tolist()
        rows, groups = self.rows[bounds[:-1]], self.groups[bounds[:-1]]
        order = np.lexsort((rows, groups))
        lists = [self._made.get(bounds[at], self.values[bounds[at] : bounds[at + 1]]) for at in order.tolist()]
        sizes = np.array([len(each) for each in lists], np.int64)
        flat = [value for each in lists for value in each]
        return np.repeat(rows[order], sizes), flat, np.bincount(np.repeat(groups[order], sizes), minlength=count)
