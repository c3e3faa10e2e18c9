"""Runs of a chunk whose pairs did not fit in memory at once."""

from __future__ import annotations

import tempfile
from typing import Any

from incoop.contraction.columns.run import EMPTY, Run, join
from incoop.contraction.columns.shards import shard_bounds, shard_of
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.rows import COUNTS
from incoop.contraction.parts.write import bits_for, kind_of_sums, write_blocks, write_part
from incoop.contraction.tree.combine import Combiner

#: A spilled run is cut into this many ranges of its hashes, so that a shard is read without the rest of the run.
_RANGES = 256


class PartialRuns:
    """The runs of a chunk; more than one go to a temporary file."""

    def __init__(self) -> None:
        self._first: Run | None = None
        self._file: Any = None
        #: For each run, where each of its ranges ends in the file; they stand one behind the other.
        self._ends: list[list[int]] = []

    def add(self, run: Run) -> None:
        if self._first is None:
            self._first = run
            return
        if self._file is None:
            self._file = self._spilled()._file
            self._spill(self._first)
            self._first = EMPTY
        self._spill(run)

    @property
    def single(self) -> Run | None:
        """The only run, if there is but one."""
        return self._first if self._file is None else None

    def _spill(self, run: Run) -> None:
        bounds = shard_bounds(run, _RANGES)
        ends = [self._file.tell()]
        for number in range(_RANGES):
            ends.append(ends[-1] + self._file.write(run.slice(bounds[number], bounds[number + 1]).to_bytes()))
        self._ends.append(ends)

    def write(self, combiner: Combiner, pack: PackBuilder) -> tuple[Any, ...]:
        """Combine the runs and add them to a pack; return the SHARD_ROW. In memory is one range of each at a time."""
        if self._file is None:
            return write_part(self._first if self._first is not None else EMPTY, 0, pack, whole=True)
        together = PartialRuns._spilled()
        with self._file, together._file:
            keys, sums, ends = 0, COUNTS, [0]
            for number in range(_RANGES):
                made = combiner.combine([self._read(each, number, number + 1) for each in self._ends])
                keys, sums = keys + len(made), min(sums, kind_of_sums(made))
                ends.append(ends[-1] + together._file.write(made.to_bytes()))
            bits = bits_for(keys, whole=True)
            return write_blocks(
                (together._block(ends, number, bits) for number in range(1 << bits)), bits, keys, sums, pack, whole=True
            )

    @classmethod
    def _spilled(cls) -> PartialRuns:
        runs = cls()
        runs._file = tempfile.TemporaryFile(prefix="incoop-spill-")  # noqa: SIM115 - closed in write()
        return runs

    def _block(self, ends: list[int], number: int, bits: int) -> Run:
        """One of 2**bits equal ranges of all hashes."""
        count = 1 << bits
        first, behind = number * _RANGES // count, -(-(number + 1) * _RANGES // count)
        return shard_of(self._read(ends, first, behind), number, count)

    def _read(self, ends: list[int], first: int, behind: int) -> Run:
        """Some ranges of a spilled run."""
        self._file.seek(ends[first])
        data = memoryview(self._file.read(ends[behind] - ends[first]))
        ranges = [data[ends[at] - ends[first] : ends[at + 1] - ends[first]] for at in range(first, behind)]
        return join([Run.from_bytes(each) for each in ranges])
