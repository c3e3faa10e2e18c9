"""Whose chunks may be large: jobs that map them by leaf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import incoop
from incoop.engine.stages.map_contract.leaves import has_leaves
from incoop.engine.stages.map_contract.mapping import Pairs, PiecesMapper
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def total(word: str, counts: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield word, sum(counts)


def lengths(lines: Any, **_: Any) -> Any:
    return [("lines", len(lines))]


def nothing(pieces: Any) -> Pairs:
    none = np.empty(0, np.int64)
    return Pairs([], none, [], none, [{}] * len(pieces))


@pytest.mark.parametrize(
    ("mapper", "leaf", "has"),
    [
        pytest.param(words, None, True, id="records"),
        pytest.param(words, 2048, True, id="of a size that was asked for"),
        pytest.param(words, 0, False, id="none are wanted"),
        pytest.param(ChunkMapper(lengths), None, False, id="whole chunks"),
        pytest.param(PiecesMapper(nothing), None, True, id="many pieces at once"),
        pytest.param(PiecesMapper(nothing, whole=True), None, False, id="a chunk as one piece"),
        pytest.param({"a": words, "b": ChunkMapper(lengths)}, None, False, id="one of two takes whole chunks"),
        pytest.param({"a": words, "b": words}, None, True, id="two of records"),
    ],
)
def test_chunks_may_be_large_where_all_mappers_can_be_given_less(mapper: Any, leaf: int | None, has: bool) -> None:
    assert has_leaves(incoop.Job("job", mapper, total, total, leaf=leaf)) == has
