"""Contraction of two runs: by a sum that is recognised, and by a combiner that has to be called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from incoop.contraction.columns.run import Run
from incoop.contraction.tree.combine import Combiner


def total(key: Any, values: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum(values)


def called(key: Any, values: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum([*values])


@pytest.mark.parametrize("combiner", [total, called], ids=["sum", "called"])
def test_contract_two_runs(benchmark: Any, text: bytes, combiner: Callable[..., Any]) -> None:
    words = text.decode().split()
    halves = [Counter(words[::2]), Counter(words[1::2])]
    runs = [Run.of_values(half) for half in halves]
    combined = benchmark(Combiner.of(combiner).combine, runs)
    assert {key: value for key, (value,) in combined.groups()} == Counter(words)
