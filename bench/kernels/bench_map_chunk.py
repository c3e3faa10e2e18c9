"""Mapping one chunk: sums as they come, and values collected by key for a combiner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from incoop.contraction.columns.run import Run
from incoop.contraction.tree.combine import Combiner
from incoop.engine.stages.map_contract.grouping import map_chunk
from incoop.engine.stages.map_contract.mapping import Piece


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def longest(word: str, values: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield word, len([*values]) and max(values)


def total(word: str, values: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield word, sum(values)


def chunk(text: bytes) -> tuple[Piece, list[str]]:
    lines = text[: 1 << 20].decode().split("\n")
    return Piece(lambda: lines), lines


def single(run: Run | None) -> dict[Any, int]:
    assert run is not None
    return {key: value for key, (value,) in run.groups()}


def test_map_chunk_by_summing(benchmark: Any, text: bytes) -> None:
    piece, lines = chunk(text)
    mapped = benchmark(lambda: map_chunk(words, [piece], Combiner.of(total)))
    assert single(mapped.runs.single) == Counter(word for line in lines for word in line.split())


def test_map_chunk_by_grouping(benchmark: Any, text: bytes) -> None:
    piece, lines = chunk(text)
    mapped = benchmark(lambda: map_chunk(words, [piece], Combiner.of(longest)))
    assert single(mapped.runs.single) == {word: 1 for line in lines for word in line.split()}
