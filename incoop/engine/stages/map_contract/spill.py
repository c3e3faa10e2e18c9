"""Runs of a chunk whose pairs did not fit in memory at once."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from incoop.contraction.columns.run import EMPTY, Run, join
from incoop.contraction.columns.shards import shard_bounds, shard_of
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.rows import SHARD_ROW, Rows
from incoop.contraction.parts.write import write_part, write_run
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
            self._file = tempfile.TemporaryFile(prefix="incoop-spill-")  # noqa: SIM115 - closed in write()
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

    def write(self, shards: int, may_be_small: bool, combiner: Combiner, pack: PackBuilder) -> Rows:
        """Combine the runs and add all parts to a pack; in memory is one shard of each at a time."""
        if self._file is None:
            return write_run(self._first if self._first is not None else EMPTY, shards, pack, may_be_small)
        shard_bits = shards.bit_length() - 1
        with self._file:
            rows = [
                write_part(combiner.combine([self._read(ends, shard, shards) for ends in self._ends]), shard_bits, pack)
                for shard in range(shards)
            ]
        return np.array(rows, SHARD_ROW)

    def _read(self, ends: list[int], shard: int, shards: int) -> Run:
        """One shard of a spilled run."""
        first, behind = shard * _RANGES // shards, -(-(shard + 1) * _RANGES // shards)
        self._file.seek(ends[first])
        data = memoryview(self._file.read(ends[behind] - ends[first]))
        ranges = [data[ends[at] - ends[first] : ends[at + 1] - ends[first]] for at in range(first, behind)]
        return shard_of(join([Run.from_bytes(each) for each in ranges]), shard, shards)
