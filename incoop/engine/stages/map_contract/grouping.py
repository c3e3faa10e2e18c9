"""From a chunk's pairs to its run: values by key, combined where there is a combiner; and what each leaf gave.

Contract: the run follows from the pairs and, where a combiner is not known to add integers up, from where the chunk's
groups of leaves end. Values of a key are combined in input order: those of a group, where they are many, and then
those of the chunk; more often only where they do not fit in memory. A combiner may change the values that it is
given: what is kept of a leaf is encoded before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.contraction.columns.column import INTEGER, Column, Index, Ints, starts_of
from incoop.contraction.columns.keys import Hashes, has_ties, tells_apart
from incoop.contraction.columns.ordering import stable_order
from incoop.contraction.columns.run import EMPTY, Run, order_keys, united
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.folds import Fold, fold_groups
from incoop.engine.running.counters import added_counts, take_counts
from incoop.engine.stages.map_contract.leaf_table import LeafTable
from incoop.engine.stages.map_contract.leaves import Leaves
from incoop.engine.stages.map_contract.mapping import Pairs, Piece, collect
from incoop.engine.stages.map_contract.segments import Segments, combined
from incoop.engine.stages.map_contract.spill import PartialRuns
from incoop.job import Mapper

#: Sums below this are exact in floating point, in which numpy adds up fastest.
_EXACT_FLOATS = 1 << 53


@dataclass(slots=True)
class Mapped:
    """What a chunk gave."""

    runs: PartialRuns
    #: What each leaf gave, where that is kept.
    table: LeafTable | None
    counters: dict[str, int]


def map_chunk(mapper: Mapper, whole: Sequence[Piece], combiner: Combiner, leaves: Leaves | None = None) -> Mapped:
    """Map a chunk: by its leaves, or as the `whole` that it is without any."""
    result = Mapped(PartialRuns(), None, {})
    pieces = leaves.decoded() if leaves is not None else whole
    pairs = collect(mapper, pieces, lambda full: _add_full(result, full, combiner))
    assert pairs is not None
    spilled = result.runs.single is not None
    made = run_of(pairs, combiner, None if spilled else leaves)
    _add(result, made)
    result.counters = added_counts([result.counters, *filter(None, pairs.counters)])
    if not spilled:
        result.table = made.table
    return result


def _add_full(result: Mapped, pairs: Pairs, combiner: Combiner) -> None:
    """Some of the pairs, with what the mapper counted in the pieces that they are from."""
    _add(result, run_of(pairs, combiner))
    result.counters = added_counts([result.counters, *filter(None, pairs.counters)])


def _add(result: Mapped, made: MadeRun) -> None:
    result.runs.add(made.run)
    result.counters = added_counts([result.counters, made.counted])


@dataclass(frozen=True, slots=True)
class MadeRun:
    """Pairs as a run."""

    run: Run
    table: LeafTable | None
    #: What the combiner counted.
    counted: dict[str, int]


def run_of(pairs: Pairs, combiner: Combiner, leaves: Leaves | None = None) -> MadeRun:
    """The run of some pairs; with `leaves`, which are the pieces that gave them, also their table, where it can be."""
    if not len(pairs.keys):
        return MadeRun(EMPTY, _empty_table(pairs, combiner, leaves) if leaves is not None else None, {})
    keyed = _Keyed.of(pairs)
    if keyed is None:  # a dict has told keys apart that are one
        return MadeRun(_run_of_groups(pairs, combiner), None, take_counts())
    kept = leaves if keyed.tells_apart else None
    if combiner.function is None:
        by_row = stable_order(keyed.rows, len(keyed.hashes))
        counts = np.bincount(keyed.rows, minlength=len(keyed.hashes))
        run = Run.of_counted(keyed.hashes, keyed.keys, pairs.column.take(by_row), counts)
        return MadeRun(run, _table(kept, pairs, keyed.rows, None) if kept is not None else None, {})
    amounts = integers(pairs.listed) if combiner.fold is not None else None
    folded = folds_by(combiner.fold, keyed.rows, amounts, len(keyed.hashes)) if amounts is not None else None
    if amounts is None or folded is None:
        return _combined_run(pairs, keyed, combiner, leaves)
    run = Run(keyed.hashes, keyed.keys, Column(INTEGER, len(folded), numbers=folded))
    column = Column(INTEGER, len(amounts), numbers=amounts)
    return MadeRun(run, _table(kept, pairs, keyed.rows, column) if kept is not None else None, {})


@dataclass(frozen=True, slots=True)
class _Keyed:
    """The keys of pairs in the order of a run."""

    hashes: Hashes
    keys: Column
    #: The code of the key in each row; and for each pair, the row of its key.
    order: Index
    rows: Ints
    #: Whether keys can be named by their row: no two look alike, or have one hash.
    tells_apart: bool

    @classmethod
    def of(cls, pairs: Pairs) -> _Keyed | None:
        ordered = order_keys(pairs.keys)
        if ordered is None:
            return None
        hashes, order = ordered
        row_of = np.empty(len(order), np.int64)
        row_of[order] = np.arange(len(order))
        keys = Column.of(pairs.keys).take(order)
        return cls(hashes, keys, order, row_of[pairs.codes], tells_apart(keys) and not has_ties(hashes))


def integers(values: Sequence[Any]) -> Ints | None:
    """Values that are all plain integers of 64 bits."""
    if not set(map(type, values)) <= {int}:
        return None
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return None


def folds_by(fold: Fold | None, codes: Ints, amounts: Ints, count: int) -> Ints | None:
    """The fold of the amounts of each code below `count`, which all have some; None where one may not fit."""
    if fold is Fold.SUM:
        return sums_by(codes, amounts, count)
    if fold is None or not count:
        return None
    order = stable_order(codes, count)
    starts = starts_of(np.bincount(codes, minlength=count))
    return fold_groups(fold, amounts[order], starts)


def sums_by(codes: Ints, amounts: Ints, count: int) -> Ints | None:
    """The sum of the amounts of each code up to `count`; None where one may not fit in 64 bits."""
    largest = max(abs(int(amounts.min())), abs(int(amounts.max()))) if len(amounts) else 0
    if largest * len(amounts) < _EXACT_FLOATS:
        return np.bincount(codes, amounts, count).astype(np.int64)
    if largest * len(amounts) >= 1 << 63:
        return None
    totals = np.zeros(count, np.int64)
    np.add.at(totals, codes, amounts)
    return totals


def _table(leaves: Leaves, pairs: Pairs, rows: Ints, values: Column | None) -> LeafTable:
    """What each leaf gave: by row within a leaf; pairs of one key keep their order."""
    count = int(rows.max(initial=0)) + 1
    order = stable_order(np.repeat(np.arange(len(pairs.sizes)) * count, pairs.sizes) + rows, len(pairs.sizes) * count)
    taken = values.take(order) if values is not None else None
    return LeafTable(leaves.cut, pairs.sizes, rows[order], taken, pairs.counters)


def _empty_table(pairs: Pairs, combiner: Combiner, leaves: Leaves) -> LeafTable:
    none = np.empty(0, np.int64)
    values = Column.of([]) if combiner.function is not None else None
    return LeafTable(leaves.cut, pairs.sizes, none, values, pairs.counters)


def _run_of_groups(pairs: Pairs, combiner: Combiner) -> Run:
    """The run of pairs whose keys need a closer look."""
    groups: dict[Any, list[Any]] = {key: [] for key in pairs.keys}
    lists = list(groups.values())
    for code, value in zip(pairs.codes.tolist(), pairs.listed, strict=True):
        lists[code].append(value)
    groups = dict(united(groups))
    if combiner.function is not None:
        several = [key for key, values in groups.items() if len(values) > 1]
        groups.update(zip(several, combined(combiner, [(key, groups[key]) for key in several]), strict=True))
    return Run.of_groups({key: values for key, values in groups.items() if values})


def _combined_run(pairs: Pairs, keyed: _Keyed, combiner: Combiner, leaves: Leaves | None) -> MadeRun:
    """Combine the values of every key, by group and then for the chunk.

    (1) What is kept by leaf is encoded.
    (2) Values of a key that are many in a group are combined.
    (3) What is kept by group is encoded.
    (4) What is left of a key's values is combined.
    """
    rows, table = keyed.rows, None
    by_group = leaves is not None and _few_keys(pairs, leaves)
    if leaves is not None and keyed.tells_apart and not by_group:  # step (1)
        table = _table(leaves, pairs, rows, pairs.column)
    by_row = stable_order(rows, len(keyed.hashes))
    listed = pairs.listed
    values = [listed[at] for at in by_row.tolist()]
    named = [pairs.keys[code] for code in keyed.order.tolist()]
    whole = True
    groups = np.zeros(len(rows), np.int64)
    if leaves is not None:
        groups = np.repeat(leaves.group_of_leaf, pairs.sizes)
    segments = Segments(rows[by_row], groups[by_row], values, named)
    if leaves is not None:
        whole = segments.combine_many(combiner)  # step (2)
        if by_group and keyed.tells_apart and whole:  # step (3)
            table = segments.table(leaves, pairs.counters)
    values, counts = segments.combine_keys(combiner)  # step (4)
    run = Run.of_counted(keyed.hashes, keyed.keys, Column.of(values), counts)
    counted = take_counts()
    # A combiner that drops keys, or counts, would have to be called for every key of a changed chunk.
    return MadeRun(run, table if whole and counts.all() and not counted else None, counted)


def _few_keys(pairs: Pairs, leaves: Leaves) -> bool:
    """Whether the chunk is kept by group: its first one has few keys. Those have the lowest codes."""
    if leaves.groups[-1] == len(leaves.groups):
        return False  # groups are leaves
    first = int(pairs.sizes[: leaves.groups[0]].sum())
    keys = int(pairs.codes[:first].max(initial=-1)) + 1
    return leaves.few_keys(keys)
