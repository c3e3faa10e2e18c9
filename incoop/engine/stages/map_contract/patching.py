"""Describe a changed chunk by the one before it: map the leaves that came, find what became of the keys in them.

Contract: what is described is the run that mapping the whole chunk gives, to the byte. Nothing of a leaf that stayed is
mapped, and no key that is in none of the leaves that came or went is combined or written. There is no answer where that
is not certain, or where most leaves are new; the chunk is then mapped as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incoop.contraction.columns.by_hash import changed_hashes, rows_with
from incoop.contraction.columns.column import INTEGER, Column
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.sorted_sets import difference
from incoop.contraction.columns.splice import replaced_keys
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rows import OTHER
from incoop.contraction.tree.alignment import places_in
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.sums import Delta, appeared, together, vanished
from incoop.engine.running.counters import take_counts
from incoop.engine.stages.map_contract.chunk_leaves import Patch, StoredLeaves
from incoop.engine.stages.map_contract.grouping import folds_by
from incoop.engine.stages.map_contract.key_numbers import KeyNumbers
from incoop.engine.stages.map_contract.leaf_entries import Entries, Touched
from incoop.engine.stages.map_contract.leaf_table import Counts, LeafIds, LeafTable
from incoop.engine.stages.map_contract.leaves import Leaves
from incoop.engine.stages.map_contract.mapping import PENDING_PAIRS, Pairs, UserError, collect
from incoop.engine.stages.map_contract.segments import Segments
from incoop.job import Mapper

#: With a smaller share of its leaves known, a chunk is mapped as a whole.
_FEWEST_KNOWN = 1 / 8


def worth_patching(known: float) -> bool:
    """Whether a large enough share of a chunk's leaves is known."""
    return known >= _FEWEST_KNOWN


@dataclass(frozen=True, slots=True)
class Described:
    """A chunk by the one before it."""

    #: Sorted hashes of the keys whose values changed, how many of them were there before, and what they are now.
    changed: Hashes
    held: int
    fresh: Run
    #: The same change as sums that are added, where it is that.
    delta: Delta | None
    entries: Entries
    keys: KeyNumbers
    stored: StoredLeaves

    @property
    def change(self) -> Overlay:
        """What changed, for whoever has the chunk before."""
        return Overlay(difference(self.changed, self.fresh.hashes), self.fresh)

    @property
    def mapped_bytes(self) -> int:
        """Bytes of the leaves that were mapped."""
        return int(self.entries.new.leaves.lengths.sum())

    def patch(self) -> Patch:
        """The leaves, as a patch to those of the base."""
        return self.entries.patch(self.stored.base, self.keys.extra)

    def counters(self) -> Counts:
        """What the mapper counted in the whole chunk."""
        return self.entries.counted()

    def folded(self, old: Part) -> tuple[Run, LeafTable]:
        """The chunk as a base of its own; `old` is the one before it."""
        run = replaced_keys(old.whole(), self.changed, self.fresh)
        return run, self.entries.folded(self.keys.hashes, run)


def described(
    mapper: Mapper, leaves: Leaves, grouped: bool, combiner: Combiner, old: Part, stored: StoredLeaves
) -> Described | None:
    """The chunk of these leaves, given the one whose place it takes; `grouped` if that is kept by group.

    (1) Leaves are aligned with the old chunk's; those that came are mapped.
    (2) Their keys get numbers: those of the base's run, or behind them.
    (3) Keys of leaves that came or went are touched; their values in all leaves that are there now are gathered,
    (4) and added up or combined anew.
    (5) Keys that come out as they were did not change.
    """
    base = stored.table()
    if base.grouped != grouped:
        return None
    cut, kept = leaves.cut_by_group if grouped else leaves.cut, leaves.kept  # step (1)
    if kept is None or grouped:
        kept = np.array(places_in(stored.leaves.ids.tolist(), cut.ids.tolist()), np.int64)
    piece = leaves.group_piece if grouped else leaves.piece
    came = np.flatnonzero(kept < 0)
    try:
        pairs = collect(mapper, [piece(number) for number in came.tolist()])
    except UserError:
        return None  # it fails again when the whole chunk is mapped, and then the record can be named
    if pairs is not None and grouped:
        pairs = _combined_by_piece(pairs, combiner)
    if pairs is None:
        return None
    run = old.keep_all()
    keys = KeyNumbers.of(pairs.keys, run, stored.extra, old)  # step (2)
    if keys is None:
        return None
    new = _table(cut.take(came), pairs, keys)
    entries = Entries.of(base, stored.came(base), new, stored.order, kept)
    touched = entries.touched()  # step (3)
    gathered = entries.gather(touched, len(keys), run)
    if len(gathered.keys) > PENDING_PAIRS:
        return None  # mapped as a whole, its values are combined in portions
    names = keys.named(touched)
    after = _made(gathered, keys.hashes[touched], names, combiner, None if grouped else leaves)  # step (4)
    if after is None:
        return None
    before = old.select(np.sort(keys.hashes[touched]))
    changed = changed_hashes(before, after)  # step (5)
    had, fresh = before.take(rows_with(before, changed)), after.take(rows_with(after, changed))
    delta = _delta(had, fresh) if combiner.fold is Fold.SUM and old.sums != OTHER else None
    return Described(changed, len(had), fresh, delta, entries, keys, stored)


def _table(leaves: LeafIds, pairs: Pairs, keys: KeyNumbers) -> LeafTable:
    """What the leaves gave that came, by number within a leaf."""
    numbers = keys.numbers[pairs.codes] if len(pairs.codes) else pairs.codes
    order = np.lexsort((numbers, np.repeat(np.arange(len(pairs.sizes)), pairs.sizes)))
    return LeafTable(leaves, pairs.sizes, numbers[order], pairs.column.take(order), pairs.counters)


def _combined_by_piece(pairs: Pairs, combiner: Combiner) -> Pairs | None:
    """Pairs in which values of a key that are many in a piece are combined; None where that drops keys, or counts."""
    pieces = np.repeat(np.arange(len(pairs.sizes)), pairs.sizes)
    order = np.lexsort((pieces, pairs.codes))
    listed = pairs.listed
    values = [listed[at] for at in order.tolist()]
    segments = Segments(pairs.codes[order], pieces[order], values, pairs.keys)
    if not segments.combine_many(combiner) or take_counts():
        return None
    codes, values, sizes = segments.by_group(len(pairs.sizes))
    return Pairs(pairs.keys, codes, values, sizes, pairs.counters)


def _made(gathered: Touched, hashes: Hashes, keys: Column, combiner: Combiner, leaves: Leaves | None) -> Run | None:
    """The run of the touched keys as they are now; None where the combiner drops one, or counts.

    `leaves` are None where values are combined by group already.
    """
    by_hash = np.argsort(hashes)
    row_of = np.empty(len(by_hash), np.int64)
    row_of[by_hash] = np.arange(len(by_hash))
    hashes, keys = hashes[by_hash], keys.take(by_hash)
    rows = row_of[gathered.keys]
    order = np.argsort(rows, kind="stable")
    rows, values = rows[order], gathered.values.take(order)
    counts = np.bincount(rows, minlength=len(hashes))
    if combiner.function is None:
        return Run.of_counted(hashes, keys, values, counts)
    there = np.flatnonzero(counts)
    if combiner.fold is not None and values.kind == INTEGER and values.numbers is not None:
        folded = folds_by(combiner.fold, np.searchsorted(there, rows), values.numbers, len(there))
        if folded is not None:
            return Run(hashes[there], keys.take(there), Column(INTEGER, len(there), numbers=folded))
    places = gathered.leaves[order]
    groups = leaves.group_of_leaf[places] if leaves is not None else places
    segments = Segments(rows, groups, values.to_list(), keys.to_list())
    if leaves is not None and not segments.combine_many(combiner):
        return None
    made, sizes = segments.combine_keys(combiner)
    if take_counts() or ((sizes == 0) & (counts > 0)).any():
        return None
    return Run.of_counted(hashes, keys, Column.of(made), sizes)


def _delta(before: Run, after: Run) -> Delta | None:
    """How sums changed; None where they are no integers."""
    gone, come = vanished(before), appeared(after)
    return together([gone, come]) if gone is not None and come is not None else None
