"""The entries of a chunk's leaves: of its base, of what came since, and of leaves that were mapped just now.

Contract: entries of leaves that are not touched are neither decoded nor sorted; they are looked through by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.column import Column, Index, Ints, concat, starts_of
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run, group_rows
from incoop.contraction.columns.sorted_sets import distinct_numbers
from incoop.contraction.parts.headers import RunRef
from incoop.engine.running.counters import added_counts
from incoop.engine.stages.map_contract.chunk_leaves import Patch
from incoop.engine.stages.map_contract.leaf_table import Counts, LeafTable, all_leaves


@dataclass(frozen=True, slots=True)
class Touched:
    """Values of touched keys, by key and then in input order."""

    #: The place of each value's key among the touched ones, and of its leaf in the chunk.
    keys: Ints
    leaves: Ints
    values: Column


@dataclass(frozen=True, slots=True)
class Entries:
    """All entries of a chunk before and after a change. Leaves are numbered: the base's, what came, what is new."""

    base: LeafTable
    came: LeafTable
    new: LeafTable
    #: For each leaf, its place in the chunk as it is now, -1 for none.
    places: Ints
    #: Which leaves the chunk had before.
    before: Ints

    @classmethod
    def of(cls, base: LeafTable, came: LeafTable, new: LeafTable, before: Ints, kept: Ints) -> Entries:
        """`kept` says for each leaf that is there now which of `before` it is, -1 for those of `new`."""
        old = len(base.sizes) + len(came.sizes)
        places = np.full(old + len(new.sizes), -1, np.int64)
        stays = np.flatnonzero(kept >= 0)
        places[before[kept[stays]]] = stays
        places[old:] = np.flatnonzero(kept < 0)
        return cls(base, came, new, places, before)

    @property
    def numbers(self) -> Ints:
        return np.concatenate([self.base.numbers, self.came.numbers, self.new.numbers])

    @property
    def sizes(self) -> Ints:
        return np.concatenate([self.base.sizes, self.came.sizes, self.new.sizes])

    def touched(self) -> Ints:
        """Numbers of the keys in leaves that came or went, sorted."""
        old = len(self.base.sizes) + len(self.came.sizes)
        gone = self.before[self.places[self.before] < 0]
        leaves = np.concatenate([gone, np.arange(old, old + len(self.new.sizes))])
        sizes = self.sizes
        return distinct_numbers(self.numbers[group_rows(starts_of(sizes)[leaves], sizes[leaves])])

    def gather(self, touched: Ints, total: int, run: Run) -> Touched:
        """The values of touched keys in all leaves that are there; `total` keys have numbers."""
        is_touched = np.zeros(total, np.bool_)
        is_touched[touched] = True
        numbers = self.numbers
        found = np.flatnonzero(is_touched[numbers])
        leaves = self.places[np.searchsorted(starts_of(self.sizes)[1:], found, side="right")]
        there = leaves >= 0
        values = self._values(found, there, run)
        numbers, leaves = numbers[found[there]], leaves[there]
        order = np.lexsort((leaves, numbers))
        return Touched(np.searchsorted(touched, numbers[order]), leaves[order], values.take(order))

    def _values(self, found: Index, there: npt.NDArray[np.bool_], run: Run) -> Column:
        """The values of those entries among the found ones that are there."""
        first, second = len(self.base.numbers), len(self.base.numbers) + len(self.came.numbers)
        own = found < first
        rows = found[own]
        if self.base.values is None:
            at = _in_run(self.base.numbers[rows], run)[there[own]]
            columns = [run.values.take(at)]
        else:
            columns = [self.base.values.take(rows[there[own]])]
        came, new = found[there & ~own & (found < second)] - first, found[there & (found >= second)] - second
        assert self.came.values is not None and self.new.values is not None
        return concat([*columns, self.came.values.take(came), self.new.values.take(new)])

    def patch(self, base: RunRef, extra: Hashes) -> Patch:
        """The chunk as a patch to its base."""
        old = len(self.base.sizes)
        stays = old + np.flatnonzero(self.places[old:] >= 0)
        number_of = np.arange(len(self.places))
        number_of[stays] = old + np.arange(len(stays))
        order = np.empty(int((self.places >= 0).sum()), np.int64)
        here = np.flatnonzero(self.places >= 0)
        order[self.places[here]] = number_of[here]
        return Patch(base, order, self._table(stays - old, [self.came, self.new]), extra)

    def folded(self, hashes: Hashes, run: Run) -> LeafTable:
        """The table of the chunk as a base of its own; `hashes` are those of the numbers, `run` is what it holds."""
        here = np.flatnonzero(self.places >= 0)
        leaves = here[np.argsort(self.places[here])]
        tables = [self.base, self.came, self.new]
        table = self._table(leaves, tables, of_run=self.base.values is None)
        rows = np.searchsorted(run.hashes, hashes[table.numbers])
        order = np.lexsort((rows, np.repeat(np.arange(len(table.sizes)), table.sizes)))
        values = table.values.take(order) if table.values is not None else None
        return LeafTable(table.leaves, table.sizes, rows[order], values, table.counters, table.grouped)

    def _table(self, leaves: Ints, tables: Sequence[LeafTable], of_run: bool = False) -> LeafTable:
        """Some leaves of tables that stand one behind the other."""
        sizes = np.concatenate([table.sizes for table in tables])
        picked = group_rows(starts_of(sizes)[leaves], sizes[leaves])
        counters = [counts for table in tables for counts in table.counters]
        numbers = np.concatenate([table.numbers for table in tables])
        values = None if of_run else concat([table.values for table in tables if table.values is not None]).take(picked)
        chosen = leaves.tolist()
        return LeafTable(
            *(all_leaves([table.leaves for table in tables]).take(leaves), sizes[leaves], numbers[picked], values),
            *([counters[leaf] for leaf in chosen], self.base.grouped),
        )

    def counted(self) -> Counts:
        """What the mapper counted in all leaves that are there."""
        every = [*self.base.counters, *self.came.counters, *self.new.counters]
        if not any(every):
            return {}
        return added_counts(every[leaf] for leaf in np.flatnonzero(self.places >= 0).tolist())


def _in_run(numbers: Ints, run: Run) -> Index:
    """Where the values of entries stand in the run that they are of: a key's in the order of its entries.

    All entries of these keys have to be given, in their order.
    """
    order = np.argsort(numbers, kind="stable")
    by_key = numbers[order]
    begins = np.ones(len(by_key), np.bool_)
    begins[1:] = by_key[1:] != by_key[:-1]
    first = np.maximum.accumulate(np.where(begins, np.arange(len(by_key)), 0))
    at = np.empty(len(numbers), np.int64)
    at[order] = (run.firsts[by_key] if run.firsts is not None else by_key) + np.arange(len(by_key)) - first
    return at
