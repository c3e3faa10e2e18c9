"""To verify is to compute from scratch, also where it is known what a chunk has of the one before it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop import inchdfs
from incoop.engine.failures import NotDeterministic

#: Many stretches in a chunk, and some chunks: only those that changed are read in a few places.
CHUNKS = inchdfs.ChunkSettings(average=64 << 10)


def odd_ones(_: Any, line: str) -> Iterator[tuple[str, int]]:
    yield line, os.getpid() if line.startswith("odd") else 1


def in_order(key: str, values: Any) -> Iterator[tuple[str, list[int]]]:
    yield key, list(values)


@pytest.mark.parametrize("reducer", [None, in_order], ids=["map only", "lists"])
def test_a_leaf_that_stayed_is_mapped_again_to_verify_it(reducer: Any, base: Path, tmp_path: Path) -> None:
    file, job = tmp_path / "list.txt", incoop.Job("odd", odd_ones, reducer)
    rng = random.Random(4)
    lines = [f"{rng.randrange(10**12)} of some length" for _ in range(30_000)]
    for at in range(650, 20_000, 1000):  # not where the input's end ends a chunk
        lines[at] = f"odd line {at}"
    with incoop.connect(tmp_path / "store", chunks=CHUNKS) as session:
        for day in range(3):
            for at in range(150 + day, len(lines), 1000):  # in each chunk, and in none of the leaves with odd lines
                lines[at] = f"changed on day {day}: {at}"
            file.write_text("".join(f"{line}\n" for line in lines))
            if day < 2:
                result = session.run(job, str(file))
        assert result.report.map.executed >= result.report.map.tasks - 1  # one has none of these lines
        assert result.report.fresh_bytes < result.report.input_bytes / 4
        with pytest.raises(NotDeterministic):
            session.run(job, str(file), verify=1.0)
