"""Map with a combiner that adds integers up: no list of values is ever made, and leaves cost next to nothing.

Contract: the run is the one that collecting the values and calling the combiner gives. Where that is not certain
(values that are not all integers of 64 bits, keys of which some are NaN), there is no answer, and
`incoop.engine.stages.map_contract.grouping` does it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from incoop.base.errors import USERS_ERRORS
from incoop.contraction.columns.column import INTEGER, Column, Ints
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.rows import OTHER
from incoop.contraction.parts.write import kind_of_sums
from incoop.engine.running.counters import take_counts
from incoop.engine.stages.map_contract.grouping import PENDING_PAIRS
from incoop.engine.stages.map_contract.leaf_table import LeafTable
from incoop.engine.stages.map_contract.mapping import Mapped, Piece
from incoop.job import Mapper

#: Records after which it is looked whether values are integers.
_TRIED = 16

_NONE_YET = object()

#: Sums below this are exact in floating point, in which numpy adds up fastest.
_EXACT_FLOATS = 1 << 53


@dataclass(frozen=True, slots=True)
class Sums:
    """What the values of keys add up to in each leaf, one leaf after the other."""

    #: The keys, each once.
    keys: list[Any]
    #: For each sum, which of the keys it is of.
    codes: Ints
    amounts: Ints
    #: How many sums each leaf has.
    sizes: Ints
    counters: list[dict[str, int]]


def sum_pieces(mapper: Mapper, pieces: Sequence[Piece]) -> Mapped | None:
    """Map a chunk's pieces and add values up as they come; with keys named by their row in the run, leaves are kept."""
    sums = sum_leaves(mapper, pieces)
    if sums is None:
        return None
    totals = sums_by(sums.codes, sums.amounts, len(sums.keys))
    made = Run.of_columns(sums.keys, Column(INTEGER, len(totals), numbers=totals)) if totals is not None else None
    if made is None:
        return None
    run, order = made
    if len(pieces) == 1 or kind_of_sums(run) == OTHER:
        return Mapped.of_run(run, None, sums.counters)
    row_of = np.empty(len(order), np.int64)
    row_of[order] = np.arange(len(order))
    rows = row_of[sums.codes]
    leaf = np.repeat(np.arange(len(sums.sizes)), sums.sizes)
    by_leaf_and_row = np.argsort(leaf * len(run) + rows)
    amounts = Column(INTEGER, len(rows), numbers=sums.amounts[by_leaf_and_row])
    ids = [piece.id for piece in pieces]
    table = LeafTable(ids, sums.sizes, rows[by_leaf_and_row], amounts, None, sums.counters)
    return Mapped.of_run(run, table, sums.counters)


def sum_leaves(mapper: Mapper, pieces: Sequence[Piece]) -> Sums | None:
    """Map pieces and add values up, each piece by itself, in a dict that fits in the processor's cache.

    Keys are numbered leaf by leaf, so that of a key that many leaves hold only one object stays.
    """
    number: defaultdict[Any, int] = defaultdict(count().__next__)
    codes: list[int] = []
    values: list[int] = []
    sizes: list[int] = []
    counters: list[dict[str, int]] = []
    for piece in pieces:
        own: dict[Any, int] = {}
        if not _sum_into(mapper, piece.records(), own):
            return None
        codes += map(number.__getitem__, own)
        values += own.values()
        sizes.append(len(own))
        counters.append(take_counts())
    try:
        amounts = np.array(values, np.int64)
    except OverflowError:
        return None
    return Sums(list(number), np.array(codes, np.int64), amounts, np.array(sizes, np.int64), counters)


def _sum_into(mapper: Mapper, records: Sequence[Any], sums: dict[Any, Any]) -> bool:
    """Add the values of some records to `sums`; False when one is not an integer, keys are too many, or a call fails.

    The general way then runs, which spills, and says which record it was. A few records first, so that little is mapped
    in vain.
    """
    get = sums.get
    try:
        for some in (records[:_TRIED], records[_TRIED:]):
            for record in some:  # not `map`, which a mapper that raises StopIteration would end
                for key, value in mapper(None, record):
                    before = get(key, _NONE_YET)
                    if before is _NONE_YET:
                        sums[key] = value  # not added to 0, which would make 1 of True
                        if len(sums) > PENDING_PAIRS:
                            take_counts()
                            return False
                    else:
                        sums[key] = before + value
            if not set(map(type, sums.values())) <= {int}:
                take_counts()  # what this attempt counted is counted again
                return False
    except USERS_ERRORS:
        take_counts()
        return False
    return True


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
