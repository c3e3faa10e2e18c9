"""Runs to bytes and back: what every stored block goes through."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from incoop.contraction.columns.run import Run

KEYS = 20_000


@pytest.fixture(params=["words", "pairs"])
def counts(request: Any, text: bytes) -> dict[Any, int]:
    words = text.decode().split()
    keys = words if request.param == "words" else itertools.pairwise(words)
    return dict(Counter(keys).most_common(KEYS))


def test_encode_block(benchmark: Any, counts: dict[Any, int]) -> None:
    run = Run.of_values(counts)
    assert dict(Run.from_bytes(benchmark(run.to_bytes)).groups()) == {key: [count] for key, count in counts.items()}


def test_decode_block(benchmark: Any, counts: dict[Any, int]) -> None:
    run = benchmark(Run.from_bytes, Run.of_values(counts).to_bytes())
    assert dict(run.groups()) == {key: [count] for key, count in counts.items()}
