"""Map in general: collect the values of each key, then call the combiner, if there is one.

Contract: the combiner is called once for a key of a chunk, with all its values in input order; more often only where
they do not fit in memory. Leaves keep the values as the mapper gave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from contraction.columns import Column
from contraction.combine import Combiner, CombinerError, all_combined
from contraction.keys import hashes_of
from contraction.parts import tells_apart
from contraction.run import Run, united
from incoop.counters import take_counts
from incoop.job import Mapper
from incoop.leaves import LeafTable
from incoop.mapping import Mapped, Piece, UserError
from incoop.spill import PartialRuns

#: Pairs held as Python objects before they become a run; about 200 bytes each.
PENDING_PAIRS = 1_000_000

Groups = dict[Any, list[Any]]


Leaf = tuple[Groups, dict[str, int]]


def group_pieces(mapper: Mapper, pieces: Sequence[Piece], combiner: Combiner) -> Mapped:
    """Map a chunk's pieces, collect, combine."""
    result = Mapped(PartialRuns(), None, {})
    leaves: list[Leaf] = []
    groups: Groups = {}
    pending = 0
    for number in range(len(pieces)):
        for own, size in _grouped(mapper, pieces, number):
            groups = own if len(pieces) == 1 and not groups else _united(groups, own)
            pending += size
            leaves.append((own, take_counts()))
            result.count(leaves[-1][1])
            if pending > PENDING_PAIRS:
                result.runs.add(Run.of_groups(combine_groups(groups, combiner)))
                groups, pending, leaves = {}, 0, []
    result.runs.add(Run.of_groups(combine_groups(groups, combiner)))
    counted = take_counts()
    result.count(counted)
    # A combiner that counts would have to be called for every key of a changed chunk.
    if len(leaves) == len(pieces) > 1 and result.runs.single is not None and not counted:
        result.leaves = _table([piece.id for piece in pieces], leaves, result.runs.single)
    return result


def group_leaves(mapper: Mapper, pieces: Sequence[Piece]) -> list[Leaf]:
    """Map pieces, each by itself: its values by key, and what was counted."""
    leaves: list[Leaf] = []
    for number in range(len(pieces)):
        groups: Groups = {}
        for own, _ in _grouped(mapper, pieces, number):
            groups = _united(groups, own) if groups else own
        leaves.append((groups, take_counts()))
    return leaves


def _united(groups: Groups, own: Groups) -> Groups:
    for key, values in own.items():
        try:
            groups[key] += values
        except KeyError:
            groups[key] = [*values]
    return groups


def _grouped(mapper: Mapper, pieces: Sequence[Piece], which: int) -> Iterator[tuple[Groups, int]]:
    """The mapper's pairs by key, in portions that fit in memory, with the number of pairs of each."""
    groups: Groups = {}
    pending = 0
    number, record = -1, None
    try:
        for number, record in enumerate(pieces[which].records()):  # noqa: B007 - named when the mapper fails
            for key, value in mapper(None, record):
                try:
                    groups[key].append(value)
                except KeyError:
                    groups[key] = [value]
                pending += 1
                if pending > PENDING_PAIRS:
                    yield groups, pending
                    groups, pending = {}, 0
    except Exception as error:
        raise UserError(_records_before(pieces, which) + number, record) from error
    yield groups, pending


def _records_before(pieces: Sequence[Piece], which: int) -> int:
    """How many records of the chunk stand before a piece; counted only when one has failed."""
    return sum(len(piece.records()) for piece in pieces[:which])


def combine_groups(groups: Groups, combiner: Combiner) -> Groups:
    """Call the combiner for every key with several values."""
    if combiner.function is None:
        return groups
    groups = dict(united(groups))
    several = {key: values for key, values in groups.items() if len(values) > 1}
    try:
        for key, values in zip(several, all_combined(combiner.function, several.items()), strict=True):
            several[key] = values
    except CombinerError as failed:
        raise UserError(-1, (failed.key, several[failed.key][:5])) from failed.__cause__
    groups.update(several)
    return {key: values for key, values in groups.items() if values}


def _table(ids: list[bytes], leaves: list[tuple[Groups, dict[str, int]]], run: Run) -> LeafTable | None:
    """The leaves as a table; None where keys cannot be named by their row (some are dropped, or look alike)."""
    if not tells_apart(run.keys) or (run.hashes[1:] == run.hashes[:-1]).any():
        return None
    keys = [key for own, _ in leaves for key in own]
    hashes = hashes_of(keys)
    rows = np.searchsorted(run.hashes, hashes)
    if len(rows) and (rows.max() >= len(run) or (run.hashes[rows] != hashes).any()):
        return None
    sizes = np.array([len(own) for own, _ in leaves], np.int64)
    groups = [values for own, _ in leaves for values in own.values()]
    order = np.argsort(np.repeat(np.arange(len(sizes)), sizes) * max(len(run), 1) + rows)
    groups = [groups[at] for at in order.tolist()]
    counts = np.array([len(values) for values in groups], np.int64)
    values = Column.of([value for each in groups for value in each])
    return LeafTable(ids, sizes, rows[order], values, counts, [counted for _, counted in leaves])
