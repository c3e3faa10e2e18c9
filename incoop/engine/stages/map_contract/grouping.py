"""Map in general: collect the values of each key, then call the combiner, if there is one.

Contract: values are combined in input order, in steps that follow from the chunk's bytes and the job alone: leaf by
leaf and then for the chunk, or for the chunk at once; more often only where they do not fit in memory. A combiner may
change the values that it is given: what is kept of a leaf is encoded before the chunk is combined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.base.errors import USERS_ERRORS
from incoop.contraction.columns.column import Column, Ints
from incoop.contraction.columns.keys import Hashes, has_ties, hashes_of, tells_apart
from incoop.contraction.columns.run import Run, united
from incoop.contraction.tree.combine import Combiner, CombinerError, all_combined
from incoop.engine.running.counters import take_counts
from incoop.engine.stages.map_contract.leaf_table import LeafTable
from incoop.engine.stages.map_contract.leaves import LEAF_VALUES
from incoop.engine.stages.map_contract.mapping import Mapped, Piece, UserError
from incoop.engine.stages.map_contract.spill import PartialRuns
from incoop.job import Mapper

#: Pairs held as Python objects before they become a run; about 200 bytes each.
PENDING_PAIRS = 1_000_000

Groups = dict[Any, list[Any]]

#: What the mapper gave for a leaf, by key, and what it counted.
Leaf = tuple[Groups, dict[str, int]]


def group_pieces(mapper: Mapper, pieces: Sequence[Piece], combiner: Combiner, most_keys: int | None = None) -> Mapped:
    """Map a chunk's pieces, collect, combine.

    With more keys than `most_keys` in the first piece, the pieces are not combined and kept one by one.
    """
    result = Mapped(PartialRuns(), None, {})
    leaves: list[Leaf] = []
    groups: Groups = defaultdict(list)
    pending = 0
    apart, drops_keys = len(pieces) > 1, False
    for number in range(len(pieces)):
        for own, size in _grouped(mapper, pieces, number):
            if not number and not worth_keeping(len(own), most_keys):
                apart = False
            if apart:
                keys = len(own)
                own = combine_groups(own, combiner, LEAF_VALUES)
                size = sum(map(len, own.values()))
                drops_keys |= len(own) != keys
            counted = take_counts()
            leaves.append((own, counted))
            groups = own if len(pieces) == 1 and not groups else _united(groups, own)
            pending += size
            result.count(counted)
            if pending > PENDING_PAIRS:
                result.runs.add(Run.of_groups(combine_groups(groups, combiner)))
                groups, pending, leaves = defaultdict(list), 0, []
    entries = _Entries.of(leaves) if apart and not drops_keys and len(leaves) == len(pieces) else None
    result.runs.add(Run.of_groups(combine_groups(groups, combiner)))
    counted = take_counts()
    result.count(counted)
    # A combiner that counts would have to be called for every key of a changed chunk.
    if entries is not None and result.runs.single is not None and not counted:
        result.leaves = _table([piece.id for piece in pieces], entries, result.runs.single)
    return result


def worth_keeping(first_keys: int, most_keys: int | None) -> bool:
    """Whether a chunk is kept by leaf, given the keys of its first one."""
    return most_keys is None or first_keys <= most_keys


def group_leaves(mapper: Mapper, pieces: Sequence[Piece], combiner: Combiner) -> list[Leaf] | None:
    """Map pieces, each by itself: its values by key, combined, and what was counted.

    None where that may not be what `group_pieces` does with them: one is very large, or the combiner drops keys.
    """
    leaves: list[Leaf] = []
    for number in range(len(pieces)):
        own, *more = (groups for groups, _ in _grouped(mapper, pieces, number))
        combined = combine_groups(own, combiner, LEAF_VALUES)
        if more or len(combined) != len(own):
            take_counts()
            return None
        leaves.append((combined, take_counts()))
    return leaves


def _united(groups: Groups, own: Groups) -> Groups:
    for key, values in own.items():
        groups[key] += values
    return groups


def _grouped(mapper: Mapper, pieces: Sequence[Piece], which: int) -> Iterator[tuple[Groups, int]]:
    """The mapper's pairs by key, in portions that fit in memory, with the number of pairs of each."""
    groups: Groups = defaultdict(list)
    pending = 0
    number, record = -1, None
    try:
        for number, record in enumerate(pieces[which].records()):  # noqa: B007 - named when the mapper fails
            for key, value in mapper(None, record):
                groups[key].append(value)
                pending += 1
                if pending > PENDING_PAIRS:
                    yield groups, pending
                    groups, pending = defaultdict(list), 0
    except USERS_ERRORS as error:
        raise UserError(_records_before(pieces, which) + number, record) from error
    yield groups, pending


def _records_before(pieces: Sequence[Piece], which: int) -> int:
    """How many records of the chunk stand before a piece; counted only when one has failed."""
    return sum(len(piece.records()) for piece in pieces[:which])


def combine_groups(groups: Groups, combiner: Combiner, least: int = 2) -> Groups:
    """Call the combiner for every key with at least so many values."""
    if combiner.function is None:
        return groups
    groups = dict(united(groups))
    several = {key: values for key, values in groups.items() if len(values) >= least}
    try:
        for key, values in zip(several, all_combined(combiner.function, several.items()), strict=True):
            several[key] = values
    except CombinerError as failed:
        raise UserError(-1, (failed.key, several[failed.key][:5])) from failed.__cause__
    groups.update(several)
    return {key: values for key, values in groups.items() if values}


@dataclass(frozen=True, slots=True)
class _Entries:
    """What is kept of leaves: an entry is a key of a leaf with its values there."""

    hashes: Hashes
    #: How many entries each leaf has, and values each entry.
    sizes: Ints
    counts: Ints
    values: Column
    counters: list[dict[str, int]]

    @classmethod
    def of(cls, leaves: Sequence[Leaf]) -> _Entries:
        """By hash within a leaf, which is the order of rows in the chunk's run."""
        sizes = np.array([len(own) for own, _ in leaves], np.int64)
        hashes = hashes_of([key for own, _ in leaves for key in own])
        order = np.lexsort((hashes, np.repeat(np.arange(len(leaves)), sizes)))
        unordered = [values for own, _ in leaves for values in own.values()]
        groups = [unordered[at] for at in order.tolist()]
        counts = np.fromiter(map(len, groups), np.int64, len(groups))
        values = Column.of([value for each in groups for value in each])
        return cls(hashes[order], sizes, counts, values, [counted for _, counted in leaves])


def _table(ids: list[bytes], entries: _Entries, run: Run) -> LeafTable | None:
    """The leaves as a table; None where keys cannot be named by their row (some are dropped, or look alike)."""
    if not tells_apart(run.keys) or has_ties(run.hashes):
        return None
    rows = np.searchsorted(run.hashes, entries.hashes)
    if len(rows) and (rows.max() >= len(run) or (run.hashes[rows] != entries.hashes).any()):
        return None
    return LeafTable(ids, entries.sizes, rows, entries.values, entries.counts, entries.counters)
