"""Numbers for the keys of leaves that were mapped just now: rows of the base's run, or behind them.

Contract: a number names one key. There are none where different keys have equal hashes, or equal ones may look
different.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.contraction.columns.column import Column, Ints, concat
from incoop.contraction.columns.keys import Hashes, distinct, has_ties, hashes_of, same_keys, tells_apart
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.sorted_sets import distinct_numbers
from incoop.contraction.parts.part import Part


@dataclass(frozen=True, slots=True)
class KeyNumbers:
    """Keys that were emitted just now, and what is known of those before."""

    run: Run
    #: Hashes of all keys behind the rows of the run, by number.
    extra: Hashes
    #: The keys that were emitted, and the number of each.
    keys: Column
    numbers: Ints
    #: The keys of which the chunk had values before, by hash; and where they are kept.
    old: Part

    @classmethod
    def of(cls, emitted: list[Any], run: Run, extra: Hashes, old: Part) -> KeyNumbers | None:
        keys = Column.of(emitted)
        if has_ties(run.hashes) or (len(run) and not tells_apart(run.keys)):
            return None
        if emitted and (not distinct(emitted) or not tells_apart(keys)):
            return None
        hashes = hashes_of(emitted) if emitted else np.empty(0, np.uint64)
        if len(distinct_numbers(hashes)) != len(hashes):
            return None
        numbers = np.full(len(hashes), -1, np.int64)
        rows, at = _found(hashes, run.hashes)
        if not _same(keys, rows, run.keys, at):
            return None
        numbers[rows] = at
        others = np.flatnonzero(numbers < 0)
        order = np.argsort(extra)
        came, at = _found(hashes[others], extra[order])
        numbers[others[came]] = len(run) + order[at]
        if not _same_as_stored(keys, hashes, others[came], old):
            return None
        new = np.flatnonzero(numbers < 0)
        numbers[new] = len(run) + len(extra) + np.arange(len(new))
        return cls(run, np.concatenate([extra, hashes[new]]), keys, numbers, old)

    def __len__(self) -> int:
        return len(self.run) + len(self.extra)

    @property
    def hashes(self) -> Hashes:
        """By number."""
        return np.concatenate([self.run.hashes, self.extra])

    def named(self, numbers: Ints) -> Column:
        """The keys of sorted numbers, each of which was there before or emitted just now."""
        own = numbers < len(self.run)
        behind = numbers[~own]
        stored = self.old.select(np.sort(self.extra[behind - len(self.run)])) if len(behind) else None
        columns = [self.run.keys.take(numbers[own])]
        if stored is not None:
            code_of = dict(zip(self.numbers.tolist(), range(len(self.numbers)), strict=True))
            here, at = _found(self.extra[behind - len(self.run)], stored.hashes)
            place = np.array([len(stored) + code_of.get(number, -1) for number in behind.tolist()], np.int64)
            place[here] = at
            columns.append(concat([stored.keys, self.keys]).take(place))
        return concat(columns)


def _found(hashes: Hashes, among: Hashes) -> tuple[Ints, Ints]:
    """Which of the hashes are among the sorted others, and where."""
    if not len(among) or not len(hashes):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at = np.minimum(np.searchsorted(among, hashes), len(among) - 1)
    here = np.flatnonzero(among[at] == hashes)
    return here, at[here]


def _same(keys: Column, rows: Ints, others: Column, at: Ints) -> bool:
    """Whether keys at rows of two columns are the same, pair by pair."""
    if not len(rows):
        return True
    if keys.kind != others.kind:
        return False  # equal hashes of keys of different types
    mine, theirs = keys.take(rows), others.take(at)
    count = np.arange(len(rows))
    return bool(same_keys(concat([mine, theirs]), count, count + len(rows)).all())


def _same_as_stored(keys: Column, hashes: Hashes, codes: Ints, old: Part) -> bool:
    """Whether keys that seem to have come before are those that the chunk has, as far as it has them."""
    if not len(codes):
        return True
    stored = old.select(np.sort(hashes[codes]))
    if has_ties(stored.hashes):
        return False
    here, at = _found(hashes[codes], stored.hashes)
    return _same(keys, codes[here], stored.keys, at)
