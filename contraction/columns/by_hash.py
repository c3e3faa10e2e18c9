"""Which keys changed between two blocks, and the rows of a run that hold them or do not.

Contract: keys are found by binary search and compared by their bytes; no value is decoded.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.column import Index, concat, equal_rows
from incoop.contraction.columns.keys import Hashes, has_ties
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.sorted_sets import difference, distinct_numbers, member


def changed_hashes(old: Run, new: Run) -> Hashes:
    """Hashes of the keys whose values differ between two blocks, or that only one of them holds."""
    every = distinct_numbers(np.concatenate([old.hashes, new.hashes]))
    if not len(old) or not len(new) or has_ties(old.hashes) or has_ties(new.hashes):
        return every  # ties are rare: take all as changed
    at = np.minimum(np.searchsorted(new.hashes, old.hashes), len(new) - 1)
    here = np.flatnonzero(new.hashes[at] == old.hashes)
    there = at[here]
    same = equal_rows(concat([old.keys, new.keys]), here, there + len(old)) & _equal_values(old, new, here, there)
    kept = old.hashes[here[same]]
    return difference(every, kept)


def without(run: Run, hashes: Hashes) -> Run:
    """The keys of a run whose hash is not among the sorted `hashes`."""
    gone = member(run.hashes, hashes)
    return run.take(np.flatnonzero(~gone)) if gone.any() else run


def rows_with(run: Run, hashes: Hashes) -> Index:
    """The rows of a run whose hash is among the sorted `hashes`; searched, not scanned."""
    if not len(run):
        return np.empty(0, np.intp)
    low = run.hashes.searchsorted(hashes)
    found = np.flatnonzero(run.hashes[np.minimum(low, len(run) - 1)] == hashes)
    rows = low[found]
    behind = np.minimum(rows + 1, len(run) - 1)
    if not ((run.hashes[behind] == hashes[found]) & (behind > rows)).any():
        return rows
    counts = np.searchsorted(run.hashes, hashes, side="right") - low
    ends = np.cumsum(counts[found])
    return np.repeat(low[found] - ends + counts[found], counts[found]) + np.arange(ends[-1])


def _equal_values(old: Run, new: Run, here: Index, there: Index) -> npt.NDArray[np.bool_]:
    values = concat([old.values, new.values])
    if old.firsts is None and new.firsts is None:
        return equal_rows(values, here, there + len(old.values))
    old_counts, new_counts = old.counts(), new.counts()
    same: npt.NDArray[np.bool_] = old_counts[here] == new_counts[there]
    counts = old_counts[here[same]]
    old_firsts = np.cumsum(old_counts) - old_counts
    new_firsts = np.cumsum(new_counts) - new_counts + len(old.values)
    ends = np.cumsum(counts)
    steps = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    equal = equal_rows(
        values, np.repeat(old_firsts[here[same]], counts) + steps, np.repeat(new_firsts[there[same]], counts) + steps
    )
    owner = np.repeat(np.flatnonzero(same), counts)
    same[owner[~equal]] = False
    return same
