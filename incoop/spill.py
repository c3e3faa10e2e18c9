"""Runs of a chunk whose pairs did not fit in memory at once."""

from __future__ import annotations

import mmap
import tempfile
from typing import Any

import numpy as np

from contraction.combine import Combiner
from contraction.parts import SHARD_ROW, PackBuilder, Rows, shard_bounds, write_part, write_run
from contraction.run import EMPTY, Run


class PartialRuns:
    """The runs of a chunk; more than one go to a temporary file."""

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

    @property
    def single(self) -> Run | None:
        """The only run, if there is but one."""
        return self._first if self._file is None else None

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
