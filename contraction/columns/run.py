"""Runs: the (key, value) pairs that one task produced, sorted by key hash, in columns.

Contract: a run holds each key once, with one or more values in input order; keys are ordered by hash, and those with
equal hashes by their bytes. The same pairs give the same run and the same bytes, however they were put together. A
shard is a slice of a run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.column import NONE, PAIR, Column, Index, Ints, concat, starts_of
from incoop.contraction.columns.column_bytes import read_column, write_column
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.keys import HASH_BYTES, Hashes, distinct, has_ties, hashes_of, same_keys, tied_rows
from incoop.contraction.columns.normal import normal
from incoop.contraction.columns.sorted_sets import distinct_numbers

_HEAD = struct.Struct("<I?")  # keys, whether some key has other than one value

_UNUSED_BITS = 64 - 8 * HASH_BYTES

#: Bytes of each gap between hashes that are random in a block of some thousand keys of a shard.
_RANDOM_PLANES = 4


class Run:
    """Immutable."""

    __slots__ = ("firsts", "hashes", "keys", "values")

    def __init__(self, hashes: Hashes, keys: Column, values: Column, firsts: Ints | None = None) -> None:
        self.hashes, self.keys, self.values = hashes, keys, values
        #: Where each key's values begin, and their number; None when every key has exactly one.
        self.firsts = firsts

    @classmethod
    def of_groups(cls, groups: Mapping[Any, Sequence[Any]]) -> Run:
        """A run of keys, each with its values in order."""
        groups = united(groups)
        keys = list(groups)
        counts = np.fromiter(map(len, groups.values()), np.int64, len(keys))
        values = [value for each in groups.values() for value in each]
        return _sorted(keys, Column.of(values), counts)

    @classmethod
    def of_values(cls, single: Mapping[Any, Any]) -> Run:
        """A run of keys with one value each (several where the dict holds NaN more than once)."""
        if not distinct(list(single)):
            return cls.of_groups({key: [value] for key, value in single.items()})
        return _sorted(list(single), Column.of(list(single.values())), None)

    @classmethod
    def of_counted(cls, hashes: Hashes, keys: Column, values: Column, counts: Ints) -> Run:
        """A run of keys in order, each with so many values; keys without any are dropped."""
        run = cls(hashes, keys, values, _firsts(starts_of(counts)))
        return run if run.firsts is None or counts.all() else run.take(np.flatnonzero(counts))

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        firsts = self.firsts.nbytes if self.firsts is not None else 0
        return self.hashes.nbytes + self.keys.nbytes + self.values.nbytes + firsts

    def groups(self) -> Iterable[tuple[Any, list[Any]]]:
        """Each key with its values, decoded."""
        keys, values = self.keys.to_list(), self.values.to_list()
        if self.firsts is None:
            return ((key, [value]) for key, value in zip(keys, values, strict=True))
        firsts = self.firsts.tolist()
        return ((key, values[firsts[i] : firsts[i + 1]]) for i, key in enumerate(keys))

    def take(self, rows: Index) -> Run:
        """The keys at `rows` (ascending) with their values."""
        if self.firsts is None:
            return Run(self.hashes[rows], self.keys.take(rows), self.values.take(rows))
        counts = np.diff(self.firsts)[rows]
        values = self.values.take(group_rows(self.firsts[rows], counts))
        return Run(self.hashes[rows], self.keys.take(rows), values, _firsts(starts_of(counts)))

    def slice(self, low: int, high: int) -> Run:
        """The keys from `low` up to `high` with their values."""
        keys = self.keys.slice(low, high)
        if self.firsts is None:
            return Run(self.hashes[low:high], keys, self.values.slice(low, high))
        firsts = self.firsts[low : high + 1]
        values = self.values.slice(int(firsts[0]), int(firsts[-1]))
        return Run(self.hashes[low:high], keys, values, _firsts(firsts - firsts[0]))

    def paired(self) -> Run:
        """The run in which each key's value is the pair of the key and its only value."""
        return Run(self.hashes, self.keys, Column(PAIR, len(self), children=(self.keys, self.values)))

    def counts(self) -> Ints:
        """How many values each key has."""
        return np.ones(len(self), np.int64) if self.firsts is None else np.diff(self.firsts)

    def to_bytes(self) -> bytes:
        """Canonical bytes; empty for an empty run."""
        if not len(self):
            return b""
        # Gaps between sorted hashes, lowest bytes first: the upper bytes are nearly all zero and compress to nothing.
        hashes = self.hashes >> np.uint64(_UNUSED_BITS)
        gaps = np.concatenate([hashes[:1], hashes[1:] - hashes[:-1]])
        planes = gaps.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :HASH_BYTES].T
        out: list[bytes | memoryview] = [_HEAD.pack(len(self), self.firsts is not None), planes.tobytes()]
        write_column(self.keys, out)
        if self.firsts is not None:
            write_column(Column.of(np.diff(self.firsts).tolist()), out)
        write_column(self.values, out)
        return b"".join(out)

    @property
    def random_bytes(self) -> int:
        """How many of its first bytes look random: those of the hashes."""
        return _HEAD.size + _RANDOM_PLANES * len(self) if len(self) else 0

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Run:
        """Read a run back. The bytes must have been verified."""
        if not len(data):
            return EMPTY
        length, grouped = _HEAD.unpack_from(data)
        at = _HEAD.size
        gaps = np.zeros((length, 8), np.uint8)
        gaps[:, :HASH_BYTES] = np.frombuffer(data, np.uint8, length * HASH_BYTES, at).reshape(HASH_BYTES, length).T
        hashes = np.cumsum(gaps.view("<u8").ravel(), dtype=np.uint64) << np.uint64(_UNUSED_BITS)
        keys, at = read_column(data, at + length * HASH_BYTES)
        firsts = None
        if grouped:
            counts, at = read_column(data, at)
            assert counts.numbers is not None
            firsts = starts_of(counts.numbers)
        values, _ = read_column(data, at)
        return cls(hashes, keys, values, firsts)


EMPTY = Run(np.empty(0, np.uint64), Column(NONE, 0), Column(NONE, 0))


def _firsts(firsts: Ints) -> Ints | None:
    """None when every group has exactly one value: the canonical form."""
    return None if firsts[-1] == len(firsts) - 1 and (np.diff(firsts) == 1).all() else firsts


def united(groups: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Groups of a dict in which no two keys are the same, as `keys.py` sees it: a dict tells NaNs apart."""
    if distinct(list(groups)):
        return groups
    together: dict[bytes, tuple[Any, list[Any]]] = {}
    for key, values in groups.items():
        together.setdefault(encode(normal(key)), (key, []))[1].extend(values)
    return dict(together.values())


def _sorted(keys: list[Any], values: Column, counts: Ints | None) -> Run:
    """A run of distinct keys in any order."""
    if not keys:
        return EMPTY
    hashes, order = _order(keys)
    ordered = [keys[at] for at in order.tolist()]
    if counts is None:
        return Run(hashes, Column.of(ordered), values.take(order))
    rows = group_rows(starts_of(counts)[order], counts[order])
    return Run(hashes, Column.of(ordered), values.take(rows), _firsts(starts_of(counts[order])))


def order_keys(keys: list[Any]) -> tuple[Hashes, Index] | None:
    """The hashes of a dict's keys, sorted, and the order that sorts the keys.

    None where the dict tells keys apart that are the same.
    """
    hashes, order = _order(keys)
    return None if has_ties(hashes) and not distinct(keys) else (hashes, order)


def _order(keys: list[Any]) -> tuple[Hashes, Index]:
    """The hashes of keys, sorted, and the order that sorts the keys."""
    hashes = hashes_of(keys)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    tied = tied_rows(hashes)
    if len(tied):
        _untangle(hashes, order, tied, lambda rows: [keys[row] for row in rows.tolist()])
    return hashes, order


def merge(runs: Sequence[Run]) -> tuple[Run, npt.NDArray[np.bool_]]:
    """One run with the values of all, in the order of `runs`; and which of its keys occur in more than one.

    (1) All keys are sorted by hash; equal keys keep the order of their runs.
    (2) Different keys with equal hashes are told apart, and put in the order of their bytes.
    (3) Rows of the same key become one key; their values stand together.
    """
    runs = [run for run in runs if len(run)]
    if not runs:
        return EMPTY, np.empty(0, np.bool_)
    if len(runs) == 1:
        return runs[0], np.zeros(len(runs[0]), np.bool_)
    hashes = np.concatenate([run.hashes for run in runs])
    keys = concat([run.keys for run in runs])
    order = np.argsort(hashes, kind="stable")  # step (1)
    hashes = hashes[order]
    tied = tied_rows(hashes)
    same = same_keys(keys, order[tied], order[tied + 1])
    if not same.all():  # step (2)
        _untangle(hashes, order, tied[~same], lambda rows: keys.take(rows).to_list())
        same = same_keys(keys, order[tied], order[tied + 1])
    begins = np.ones(len(hashes), np.bool_)  # step (3)
    begins[tied[same] + 1] = False
    first_rows = np.flatnonzero(begins)
    counts = np.concatenate([run.counts() for run in runs])
    values = concat([run.values for run in runs]).take(group_rows(starts_of(counts)[:-1][order], counts[order]))
    sizes = np.add.reduceat(counts[order], first_rows)
    rows = np.diff(np.append(first_rows, len(hashes)))
    return Run(hashes[first_rows], keys.take(order[first_rows]), values, _firsts(starts_of(sizes))), rows > 1


def join(runs: Sequence[Run]) -> Run:
    """Runs whose hashes ascend from one to the next, as one run."""
    runs = [run for run in runs if len(run)]
    if len(runs) < 2:
        return runs[0] if runs else EMPTY
    hashes = np.concatenate([run.hashes for run in runs])
    firsts = None
    if any(run.firsts is not None for run in runs):
        firsts = starts_of(np.concatenate([run.counts() for run in runs]))
    return Run(hashes, concat([run.keys for run in runs]), concat([run.values for run in runs]), firsts)


def group_rows(begins: Ints, counts: Ints) -> Index:
    """The rows of groups that begin at `begins` and have `counts` members, one group after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    if total == len(begins) and (counts == 1).all():
        return begins
    return np.repeat(begins - ends + counts, counts) + np.arange(total)


def _untangle(hashes: Hashes, order: Index, tied: Index, keys_at: Callable[[Index], list[Any]]) -> None:
    """Sort the rows of each hash that stands at `tied` by their keys' bytes, keeping the order of equal keys."""
    for tangled in distinct_numbers(hashes[tied]):
        begin, end = (int(np.searchsorted(hashes, tangled, side=side)) for side in ("left", "right"))
        names = [encode(normal(key)) for key in keys_at(order[begin:end])]
        order[begin:end] = order[begin:end][sorted(range(end - begin), key=names.__getitem__)]
