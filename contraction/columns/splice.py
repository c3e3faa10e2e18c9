"""Replace some rows of a run by others, without sorting and without looking at the rows that stay.

Contract: the run equals the one that merging the rows that stay with the new ones gives, to the byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.by_hash import without
from incoop.contraction.columns.column import ANY, NONE, Column, Ints, concat, starts_of
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run, group_rows, merge
from incoop.contraction.columns.sorted_sets import member

Mask = npt.NDArray[np.bool_]


def replaced_keys(run: Run, hashes: Hashes, fresh: Run) -> Run:
    """A run in which the keys of the sorted `hashes` are those of `fresh`."""
    if not len(fresh):
        return without(run, hashes)
    stays = ~member(run.hashes, hashes)
    if not stays.any():
        return fresh
    if not _alike(run, fresh):
        return merge([without(run, hashes), fresh])[0]
    at = np.searchsorted(run.hashes[stays], fresh.hashes) + np.arange(len(fresh))
    new = np.zeros(int(stays.sum()) + len(fresh), np.bool_)
    new[at] = True
    hashes = _spliced(run.hashes, stays, fresh.hashes, new)
    keys = _spliced_column(run.keys, stays, fresh.keys, new)
    if run.firsts is None and fresh.firsts is None:
        return Run(hashes, keys, _spliced_column(run.values, stays, fresh.values, new))
    counts = _spliced(run.counts(), stays, fresh.counts(), new)
    begins = _spliced(_begins(run), stays, _begins(fresh) + len(run.values), new)
    return Run.of_counted(hashes, keys, concat([run.values, fresh.values]).take(group_rows(begins, counts)), counts)


def _begins(run: Run) -> Ints:
    """Where the values of each key begin."""
    return np.arange(len(run)) if run.firsts is None else run.firsts[:-1]


def _alike(run: Run, fresh: Run) -> bool:
    return _same_kind(run.keys, fresh.keys) and _same_kind(run.values, fresh.values)


def _same_kind(one: Column, other: Column) -> bool:
    """Whether rows of both can stand in one column as they are; a mixed column may have to become another kind."""
    if one.kind != other.kind or one.kind == ANY:
        return False
    if one.children is None or other.children is None:
        return True
    return all(map(_same_kind, one.children, other.children))


def _spliced(old: npt.NDArray[Any], stays: Mask, fresh: npt.NDArray[Any], new: Mask) -> npt.NDArray[Any]:
    out = np.empty(len(new), old.dtype)
    out[new] = fresh
    out[~new] = old[stays]
    return out


def _spliced_column(old: Column, stays: Mask, fresh: Column, new: Mask) -> Column:
    """`fresh` at the rows that `new` marks, between the rows of `old` that stay."""
    if old.kind == NONE:
        return Column(NONE, len(new))
    if old.numbers is not None and fresh.numbers is not None:
        return Column(old.kind, len(new), numbers=_spliced(old.numbers, stays, fresh.numbers, new))
    if old.children is not None and fresh.children is not None:
        first, second = (
            _spliced_column(one, stays, other, new) for one, other in zip(old.children, fresh.children, strict=True)
        )
        return Column(old.kind, len(new), children=(first, second))
    assert old.blob is not None and old.starts is not None and fresh.blob is not None and fresh.starts is not None
    old_sizes = old.sizes()
    sizes = _spliced(old_sizes, stays, fresh.sizes(), new)
    blob = _spliced(old.blob, np.repeat(stays, old_sizes), fresh.blob, np.repeat(new, sizes))
    return Column(old.kind, len(new), blob=blob, starts=starts_of(sizes))
