"""Update a node of sums by what was added and taken away below it, without reading the children that stayed.

Contract: for values that are integers, a key's new sum is its old one plus the change. A sum that becomes zero does
not say whether any child still holds the key: such keys are left to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.column import INTEGER, NONE, PAIR, Column, Ints, concat
from incoop.contraction.columns.keys import Hashes, has_ties, same_keys, tied_rows
from incoop.contraction.columns.run import Run

#: SumsAtNode up to this are surely added without overflow.
_LARGEST = 1 << 61


@dataclass(frozen=True, slots=True)
class Delta:
    """Keys whose sum changed, or which a child got or lost; sorted by hash, no two hashes alike."""

    hashes: Hashes
    keys: Column
    #: What is added to the sum.
    amounts: Ints
    #: How many more children hold the key.
    holders: Ints

    def __len__(self) -> int:
        return len(self.hashes)

    def to_run(self) -> Run:
        """As a run, to be stored."""
        parts = (Column(INTEGER, len(self), numbers=each) for each in (self.amounts, self.holders))
        first, second = parts
        return Run(self.hashes, self.keys, Column(PAIR, len(self), children=(first, second)))

    @classmethod
    def of_run(cls, run: Run) -> Delta:
        """What `to_run` gave, or a slice of it."""
        none = np.empty(0, np.int64)
        amounts, holders = run.values.children or (Column(NONE, 0), Column(NONE, 0))
        return cls(
            run.hashes,
            run.keys,
            amounts.numbers if amounts.numbers is not None else none,
            holders.numbers if holders.numbers is not None else none,
        )


def appeared(run: Run) -> Delta | None:
    """All of a run, as added; None when its values are not one integer for each key."""
    if not len(run):
        return Delta(run.hashes, run.keys, np.empty(0, np.int64), np.empty(0, np.int64))
    if run.values.kind != INTEGER or run.firsts is not None or run.values.numbers is None:
        return None
    return Delta(run.hashes, run.keys, run.values.numbers, np.ones(len(run), np.int64))


def vanished(run: Run) -> Delta | None:
    """All of a run, as taken away."""
    delta = appeared(run)
    return delta and Delta(delta.hashes, delta.keys, -delta.amounts, -delta.holders)


def together(deltas: Sequence[Delta]) -> Delta | None:
    """One delta out of several, without what cancels out; None where different keys have equal hashes."""
    deltas = [delta for delta in deltas if len(delta)] or list(deltas[:1])
    if len(deltas) == 1:
        return deltas[0]
    hashes = np.concatenate([delta.hashes for delta in deltas])
    keys = concat([delta.keys for delta in deltas])
    amounts = np.concatenate([delta.amounts for delta in deltas])
    if _largest(amounts) * len(deltas) > _LARGEST:
        return None
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    tied = tied_rows(hashes)
    if not same_keys(keys, order[tied], order[tied + 1]).all():
        return None
    begins = np.ones(len(hashes), np.bool_)
    begins[tied + 1] = False
    firsts = np.flatnonzero(begins)
    amounts = np.add.reduceat(amounts[order], firsts)
    holders = np.add.reduceat(np.concatenate([delta.holders for delta in deltas])[order], firsts)
    kept = np.flatnonzero((amounts != 0) | (holders != 0))
    return Delta(hashes[firsts[kept]], keys.take(order[firsts[kept]]), amounts[kept], holders[kept])


@dataclass(frozen=True, slots=True)
class SumsAtNode:
    """What the keys of a delta come to at a node."""

    delta: Delta
    before: Ints
    after: Ints
    #: Which keys the node held.
    held: npt.NDArray[np.bool_]

    def in_doubt(self) -> Hashes:
        """Hashes of keys of which only the children say whether they are there."""
        doubtful: Hashes = self.delta.hashes[self.after == 0]
        return doubtful

    def outcome(self, there: npt.NDArray[np.bool_]) -> tuple[Delta, Run]:
        """What changed at the node, for the node above; and the changed keys that are `there`, with their sums."""
        amounts = self.after - self.before
        holders = there.astype(np.int64) - self.held
        rows = np.flatnonzero((amounts != 0) | (holders != 0))
        change = Delta(self.delta.hashes[rows], self.delta.keys.take(rows), amounts[rows], holders[rows])
        here = np.flatnonzero(there[rows])
        values = Column(INTEGER, len(here), numbers=self.after[rows[here]])
        return change, Run(change.hashes[here], change.keys.take(here), values)


def _largest(amounts: Ints) -> int:
    return max(abs(int(amounts.min())), abs(int(amounts.max()))) if len(amounts) else 0


def sums_at(node: Run, delta: Delta) -> SumsAtNode | None:
    """Add a delta to the part of a node that holds its keys; None when that is not surely right."""
    old = appeared(node)
    if old is None or has_ties(node.hashes):
        return None
    if max(_largest(old.amounts), _largest(delta.amounts)) > _LARGEST:
        return None
    if not len(node):
        return SumsAtNode(delta, np.zeros(len(delta), np.int64), delta.amounts, np.zeros(len(delta), np.bool_))
    at = np.minimum(np.searchsorted(node.hashes, delta.hashes), len(node) - 1)
    held = node.hashes[at] == delta.hashes
    rows = np.flatnonzero(held)
    if not same_keys(concat([node.keys, delta.keys]), at[rows], rows + len(node)).all():
        return None
    before = np.where(held, old.amounts[at], 0)
    return SumsAtNode(delta, before, before + delta.amounts, held)
