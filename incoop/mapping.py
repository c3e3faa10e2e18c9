"""From records to a run: call the mapper, combine in place, leaf by leaf, in bounded memory.

Contract: the run depends on the chunk's bytes and the job's code alone. Values of a key are combined in input order.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np

from contraction.combine import Combiner, CombinerError, all_combined
from contraction.folds import Fold
from contraction.parts import SHARD_ROW, PackBuilder, Rows, shard_bounds, write_part, write_run
from contraction.run import EMPTY, Run, united
from incoop.counters import take_counts
from incoop.job import Mapper
from incoop.leaves import Leaf

#: Pairs held as Python objects before they become a run; about 200 bytes each.
_PENDING_PAIRS = 1_000_000

#: Pairs up to which a leaf's result is kept: one that is larger costs more to keep than to map.
_KEPT_PAIRS = 100_000

#: Records after which it is looked whether values are integers.
_TRIED = 16

Groups = dict[Any, list[Any]]


class UserError(Exception):
    """The user's mapper or combiner raised, at this record of the chunk."""

    def __init__(self, number: int, record: Any) -> None:
        super().__init__(number, record)
        self.number, self.record = number, record


@dataclass(frozen=True, slots=True)
class Piece:
    """A leaf to map, or a whole chunk."""

    #: Hash of its bytes; None for what is not kept by leaf.
    id: bytes | None
    records: Callable[[], Sequence[Any]]


@dataclass(slots=True)
class Mapped:
    """What a chunk gave."""

    runs: PartialRuns
    leaves: list[Leaf]
    #: Leaves that were mapped, not taken.
    mapped: int
    counters: dict[str, int]


def map_pieces(mapper: Mapper, pieces: Sequence[Piece], combiner: Combiner, kept: Mapping[bytes, Leaf]) -> Mapped:
    """Map a chunk's pieces; take those that were kept."""
    if combiner.fold is Fold.SUM:
        summed = _sum_pieces(mapper, pieces, kept)
        if summed is not None:
            return summed
    return _group_pieces(mapper, pieces, combiner, kept)


def _sum_pieces(mapper: Mapper, pieces: Sequence[Piece], kept: Mapping[bytes, Leaf]) -> Mapped | None:
    """Add values up as they come; None when they are not all integers, for which alone that is surely the same."""
    result = Mapped(PartialRuns(), [], 0, {})
    sums: dict[Any, Any] = {}
    get = sums.get
    for piece in pieces:
        leaf = _kept(piece, kept, summed=True)
        own: dict[Any, Any] | None = None
        if leaf is None:
            if len(pieces) == 1:  # nothing to keep by leaf: add to the chunk's sums at once
                if not _sum_into(mapper, piece.records(), sums):
                    return None
                _add(result.counters, take_counts())
                break
            own = {}
            if not _sum_into(mapper, piece.records(), own):
                return None
            leaf = Leaf.of_values(piece.id or b"", own, take_counts())
            result.mapped += 1
        result.leaves.append(leaf)
        _add(result.counters, leaf.counters)
        for key, value in own.items() if own is not None else leaf.values():
            sums[key] = get(key, 0) + value
    run = Run.of_values(sums)
    if run.firsts is not None:
        return None  # NaN as a key more than once, which only the general way adds up
    result.runs.add(run)
    return result


def _kept(piece: Piece, kept: Mapping[bytes, Leaf], summed: bool) -> Leaf | None:
    """The kept result of a piece. One that was made the other way is none: True added up is 1, and combined is True."""
    leaf = kept.get(piece.id) if piece.id is not None else None
    return leaf if leaf is not None and leaf.summed == summed else None


def _sum_into(mapper: Mapper, records: Sequence[Any], sums: dict[Any, Any]) -> bool:
    """Add the values of some records to `sums`; False when one is not an integer, or a call fails.

    The general way then runs, and says which record it was. A few records first, so that little is mapped in vain.
    """
    get = sums.get
    try:
        for some in (records[:_TRIED], records[_TRIED:]):
            for key, value in chain.from_iterable(map(mapper, repeat(None), some)):
                sums[key] = get(key, 0) + value
            if not set(map(type, sums.values())) <= {int}:
                take_counts()  # what this attempt counted is counted again
                return False
    except Exception:
        take_counts()
        return False
    return True


def _group_pieces(mapper: Mapper, pieces: Sequence[Piece], combiner: Combiner, kept: Mapping[bytes, Leaf]) -> Mapped:
    result = Mapped(PartialRuns(), [], 0, {})
    groups: Groups = {}
    pending = 0
    for number, piece in enumerate(pieces):
        leaf = _kept(piece, kept, summed=False)
        portions: Iterable[tuple[Iterable[tuple[Any, list[Any]]], int]]
        if leaf is not None:
            portions = [(leaf.groups(), 0)]
            _add(result.counters, leaf.counters)
            result.leaves.append(leaf)
        elif piece.id is None or len(pieces) == 1:
            portions = ((own.items(), size) for own, size in _grouped(mapper, pieces, number))
        else:
            mapped = [(_combine_groups(own, combiner), size) for own, size in _grouped(mapper, pieces, number)]
            portions = [(own.items(), size) for own, size in mapped]
            counters = take_counts()
            _add(result.counters, counters)
            result.mapped += 1
            if len(mapped) == 1 and mapped[0][1] <= _KEPT_PAIRS:
                result.leaves.append(Leaf.of_groups(piece.id, mapped[0][0], counters))
        for pairs, size in portions:
            for key, values in pairs:
                try:
                    groups[key] += values
                except KeyError:
                    groups[key] = list(values)
            pending += size
            if pending > _PENDING_PAIRS:
                result.runs.add(Run.of_groups(_combine_groups(groups, combiner)))
                groups, pending = {}, 0
    result.runs.add(Run.of_groups(_combine_groups(groups, combiner)))
    _add(result.counters, take_counts())
    return result


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
                if pending > _PENDING_PAIRS:
                    yield groups, pending
                    groups, pending = {}, 0
    except Exception as error:
        raise UserError(_records_before(pieces, which) + number, record) from error
    yield groups, pending


def _records_before(pieces: Sequence[Piece], which: int) -> int:
    """How many records of the chunk stand before a piece; counted only when one has failed."""
    return sum(len(piece.records()) for piece in pieces[:which])


def _combine_groups(groups: Groups, combiner: Combiner) -> Groups:
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


def _add(totals: dict[str, int], counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        totals[name] = totals.get(name, 0) + count


class PartialRuns:
    """The runs of a chunk whose pairs did not fit in memory at once; more than one go to a temporary file."""

    def __init__(self) -> None:
        self._first: Run | None = None
        self._file: Any = None
        #: For each run, its bytes sorted by hash: (offset, length).
        self._places: list[tuple[int, int]] = []

    def add(self, run: Run) -> None:
        if self._first is None:
            self._first = run
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="incoop-spill-")  # noqa: SIM115 - closed in write()
            self._spill(self._first)
        self._spill(run)

    def _spill(self, run: Run) -> None:
        data = run.to_bytes()
        self._places.append((self._file.tell(), len(data)))
        self._file.write(data)

    def write(self, shards: int, combiner: Combiner, pack: PackBuilder) -> Rows:
        """Combine the runs and add all parts to a pack; in memory is one shard of each at a time."""
        if self._file is None:
            return write_run(self._first if self._first is not None else EMPTY, shards, pack)
        self._file.flush()
        spilled = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        runs = [Run.from_bytes(memoryview(spilled)[at : at + size]) for at, size in self._places]
        bounds = [shard_bounds(run, shards) for run in runs]
        shard_bits = shards.bit_length() - 1
        rows = []
        for shard in range(shards):
            slices = [run.slice(bound[shard], bound[shard + 1]) for run, bound in zip(runs, bounds, strict=True)]
            rows.append(write_part(combiner.combine(slices), shard_bits, pack))
        self._file.close()
        return np.array(rows, SHARD_ROW)
