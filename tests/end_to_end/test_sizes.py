"""What a run gives does not depend on how large the input was before: where it is cut follows from what it is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import incoop
from incoop.inchdfs.cutting import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def weights(_: Any, line: str) -> Iterator[tuple[str, float]]:
    for number, word in enumerate(line.split()):
        yield word, 0.1 * (number + len(line))


def total(key: Any, values: Iterable[float]) -> Iterator[tuple[Any, float]]:
    yield key, sum(values)


JOB = incoop.Job("weights", weights, total, total)


def test_sums_of_floats_are_those_of_an_empty_store_whatever_size_the_input_had(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "CHUNKS_OF_A_SMALL_INPUT", 1)  # sizes change at 64 KiB, not at 4 MiB
    monkeypatch.setattr(settings, "LARGEST_AVERAGE", 80 << 10)  # and at 80, not at 96 MiB
    monkeypatch.setattr(settings, "CHUNKS_OF_A_LARGE_INPUT", 1)
    path = tmp_path / "input"
    lines = [f"w{number % 7} v{number % 11} u{number % 300}" for number in range(9000)]
    with incoop.connect(tmp_path / "store", spark=spark) as session:
        for number, count in enumerate((2000, 9000, 7000, 3000, 2001)):
            path.write_text("\n".join(lines[:count]))
            result = session.run(JOB, path)
            with incoop.connect(tmp_path / f"scratch {number}", spark=spark) as empty:
                scratch = empty.run(JOB, path)
                assert result.as_dict() == scratch.as_dict()
                assert result.root == scratch.root
