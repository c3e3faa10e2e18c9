"""Make the run of a changed chunk from that of the chunk before it: map the leaves that are new, take the others.

Contract: the run equals the one that mapping the whole chunk gives, to the byte. There is no answer where that is not
certain, or where most leaves are new; the chunk is then mapped as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from incoop.contraction.columns.column import INTEGER, Column, Ints, concat, starts_of
from incoop.contraction.columns.keys import Hashes, distinct, has_ties, hashes_of, same_keys, tells_apart
from incoop.contraction.columns.run import Run, group_rows
from incoop.contraction.columns.splice import replaced_keys
from incoop.contraction.tree.alignment import replaced
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.sums import Delta, appeared, together
from incoop.engine.running.counters import take_counts
from incoop.engine.stages.map_contract.grouping import PENDING_PAIRS, combine_groups, group_leaves, worth_keeping
from incoop.engine.stages.map_contract.leaf_table import LeafTable
from incoop.engine.stages.map_contract.mapping import Mapped, Piece, UserError
from incoop.engine.stages.map_contract.summing import sum_leaves, sums_by
from incoop.job import Mapper

#: With a smaller share of its leaves known, a chunk is mapped as a whole.
_FEWEST_KNOWN = 1 / 8


def known_leaves(pieces: Sequence[Piece], table: LeafTable) -> int:
    """How many leaves of a chunk are in the table."""
    known = set(table.ids)
    return sum(piece.id in known for piece in pieces)


def worth_patching(known: int, leaves: int) -> bool:
    """Whether enough leaves of a chunk are known."""
    return known >= leaves * _FEWEST_KNOWN


def patched(
    mapper: Mapper,
    pieces: Sequence[Piece],
    combiner: Combiner,
    table: LeafTable,
    old: Run,
    most_keys: int | None = None,
) -> Mapped | None:
    """The chunk of these pieces, given the run and the leaves of the one whose place it takes.

    `most_keys` is what `group_pieces` would be given.

    (1) Leaves that are new are mapped; their keys get numbers behind the rows of the old run, unless it has them.
    (2) The entries of all leaves are put together, in the order of the pieces.
    (3) Sums are added up anew from the entries; other values are combined anew for keys of leaves that differ.
    (4) Numbers become rows of the new run.
    """
    if (table.counts is None) != (combiner.fold is Fold.SUM):
        return None  # the whole chunk may have to be mapped the other way
    fresh = _map_new(mapper, pieces, combiner, table)  # step (1)
    numbered = _numbered(fresh, old) if fresh is not None else None
    if fresh is None or numbered is None:
        return None
    entries = _put_together(pieces, table, fresh, numbered)  # step (2)
    delta = None
    if table.counts is None:  # step (3)
        run, delta = _added_up(entries, old, numbered)
    elif not worth_keeping(int(entries.sizes[0]), most_keys):
        return None
    else:
        run = _combined(pieces, table, entries, old, numbered, combiner)
    if run is None:
        return None
    rows = np.searchsorted(run.hashes, np.concatenate([old.hashes, numbered.hashes]))[entries.numbers]  # step (4)
    kept = _table([piece.id for piece in pieces], entries, rows) if tells_apart(run.keys) else None
    return Mapped.of_run(run, kept, entries.counters, delta)


@dataclass(frozen=True, slots=True)
class _Leaves:
    """Leaves that were mapped just now."""

    place: dict[bytes, int]
    #: Their keys, each once; and which of them each entry is of.
    keys: list[Any]
    codes: Ints
    sizes: Ints
    values: Column
    counts: Ints | None
    counters: list[dict[str, int]]


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Keys of new leaves, numbered: by their row in the old run, or from its length on."""

    #: The number of each entry's key.
    numbers: Ints
    #: What the old run does not hold, sorted by hash.
    keys: Column
    hashes: Hashes


@dataclass(frozen=True, slots=True)
class _Entries:
    """The entries of all leaves of the new chunk, keys by number."""

    numbers: Ints
    sizes: Ints
    values: Column
    counts: Ints | None
    counters: list[dict[str, int]]


def _map_new(mapper: Mapper, pieces: Sequence[Piece], combiner: Combiner, table: LeafTable) -> _Leaves | None:
    """Map each leaf that the table does not hold, once."""
    known = set(table.ids)
    new = list({piece.id: piece for piece in pieces if piece.id not in known}.values())
    place = {piece.id: number for number, piece in enumerate(new)}
    if table.counts is None:
        sums = sum_leaves(mapper, new)
        if sums is None:
            return None
        amounts = Column(INTEGER, len(sums.amounts), numbers=sums.amounts)
        return _Leaves(place, sums.keys, sums.codes, sums.sizes, amounts, None, sums.counters)
    try:
        leaves = group_leaves(mapper, new, combiner)
    except UserError:
        return None  # it fails again when the whole chunk is mapped, and then the record can be named
    if leaves is None:
        return None
    number: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.array([number[key] for own, _ in leaves for key in own], np.int64)
    groups = [values for own, _ in leaves for values in own.values()]
    counts = np.array([len(values) for values in groups], np.int64)
    values = Column.of([value for each in groups for value in each])
    sizes = np.array([len(own) for own, _ in leaves], np.int64)
    return _Leaves(place, list(number), codes, sizes, values, counts, [counted for _, counted in leaves])


def _numbered(fresh: _Leaves, old: Run) -> _Numbered | None:
    """Number keys; None where different keys have equal hashes, or equal keys may look different."""
    hashes, column = hashes_of(fresh.keys), Column.of(fresh.keys)
    if not distinct(fresh.keys) or not tells_apart(column) or has_ties(old.hashes):
        return None
    order = np.argsort(hashes)
    hashes = hashes[order]
    if has_ties(hashes):
        return None
    at = np.minimum(np.searchsorted(old.hashes, hashes), max(len(old) - 1, 0))
    held = old.hashes[at] == hashes if len(old) else np.zeros(len(hashes), np.bool_)
    both = concat([old.keys, column])
    if not same_keys(both, at[held], order[held] + len(old)).all():
        return None
    new = np.flatnonzero(~held)
    number = at.astype(np.int64)
    number[new] = len(old) + np.arange(len(new))
    number_of = np.empty(len(order), np.int64)
    number_of[order] = number
    return _Numbered(number_of[fresh.codes], column.take(order[new]), hashes[new])


def _put_together(pieces: Sequence[Piece], table: LeafTable, fresh: _Leaves, numbered: _Numbered) -> _Entries:
    """Entries of old and new leaves in the order of the pieces."""
    known = {id_: number for number, id_ in enumerate(table.ids)}
    leaf_of = [known[piece.id] if piece.id in known else len(table.ids) + fresh.place[piece.id] for piece in pieces]
    sizes = np.concatenate([table.sizes, fresh.sizes])
    counts = (
        np.concatenate([table.counts, fresh.counts]) if table.counts is not None and fresh.counts is not None else None
    )
    values = concat([table.values, fresh.values])
    numbers = np.concatenate([table.rows, numbered.numbers])
    begins = starts_of(sizes)[:-1]
    picked = group_rows(begins[leaf_of], sizes[leaf_of])
    counters = [*table.counters, *fresh.counters]
    chosen = [counters[leaf] for leaf in leaf_of]
    if counts is None:
        return _Entries(numbers[picked], sizes[leaf_of], values.take(picked), None, chosen)
    firsts = starts_of(counts)[:-1]
    taken = values.take(group_rows(firsts[picked], counts[picked]))
    return _Entries(numbers[picked], sizes[leaf_of], taken, counts[picked], chosen)


def _table(ids: list[bytes], entries: _Entries, rows: Ints) -> LeafTable:
    """The entries as a table: by row within a leaf."""
    leaf = np.repeat(np.arange(len(ids)), entries.sizes)
    order = np.argsort(leaf * (int(rows.max(initial=0)) + 1) + rows, kind="stable")  # fast on what is nearly sorted
    if entries.counts is None:
        return LeafTable(ids, entries.sizes, rows[order], entries.values.take(order), None, entries.counters)
    taken = entries.values.take(group_rows(starts_of(entries.counts)[:-1][order], entries.counts[order]))
    return LeafTable(ids, entries.sizes, rows[order], taken, entries.counts[order], entries.counters)


def _added_up(entries: _Entries, old: Run, numbered: _Numbered) -> tuple[Run | None, Delta | None]:
    """The sums of all entries, and how they differ from the old run's."""
    amounts = entries.values.numbers if entries.values.numbers is not None else np.empty(0, np.int64)
    known = len(old)
    total = known + len(numbered.hashes)
    totals = sums_by(entries.numbers, amounts, total)
    if totals is None:
        return None, None
    gone = np.bincount(entries.numbers, minlength=total)[:known] == 0
    before = Run(old.hashes, old.keys, Column(INTEGER, known, numbers=totals[:known]))
    new = Run(numbered.hashes, numbered.keys, Column(INTEGER, total - known, numbers=totals[known:]))
    run = replaced_keys(before, np.sort(np.concatenate([old.hashes[gone], numbered.hashes])), new)
    old_sums = appeared(old)
    if old_sums is None:
        return run, None
    changes = totals[:known] - old_sums.amounts
    rows = np.flatnonzero((changes != 0) | gone)
    deltas = [
        Delta(old.hashes[rows], old.keys.take(rows), changes[rows], -gone[rows].astype(np.int64)),
        Delta(numbered.hashes, numbered.keys, totals[known:], np.ones(total - known, np.int64)),
    ]
    return run, together(deltas)


def _combined(
    pieces: Sequence[Piece], table: LeafTable, entries: _Entries, old: Run, numbered: _Numbered, combiner: Combiner
) -> Run | None:
    """Combine anew the keys of leaves that came, went or moved; None where the combiner drops one, or counts."""
    assert entries.counts is not None
    if entries.counts.sum() > PENDING_PAIRS:
        return None  # mapped as a whole, its values are combined in portions
    ids = [piece.id for piece in pieces]
    moved = {id_ for gone, come in replaced(tuple(table.ids), tuple(ids)) for id_ in (*gone, *come)}
    touched = np.zeros(len(old) + len(numbered.hashes), np.bool_)
    touched[table.rows[np.repeat([id_ in moved for id_ in table.ids], table.sizes)]] = True
    touched[numbered.numbers] = True
    chosen = np.flatnonzero(touched[entries.numbers])
    chosen = chosen[np.argsort(entries.numbers[chosen], kind="stable")]
    counts = entries.counts[chosen]
    values = entries.values.take(group_rows(starts_of(entries.counts)[:-1][chosen], counts)).to_list()
    keys = concat([old.keys, numbered.keys]).take(entries.numbers[chosen]).to_list()
    groups: dict[Any, list[Any]] = {}
    at = 0
    for key, size in zip(keys, counts.tolist(), strict=True):
        groups.setdefault(key, []).extend(values[at : at + size])
        at += size
    together = combine_groups(groups, combiner)
    if take_counts() or len(together) != len(groups):
        return None
    hashes = np.concatenate([old.hashes, numbered.hashes])[touched]
    return replaced_keys(old, np.sort(hashes), Run.of_groups(together))
