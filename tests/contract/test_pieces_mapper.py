"""Mappers that are given many pieces at once; and what mappers counted, where pairs come in portions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

import incoop
from incoop.contraction.tree.combine import Combiner
from incoop.engine.stages.map_contract import mapping
from incoop.engine.stages.map_contract.grouping import map_chunk
from incoop.engine.stages.map_contract.identity import identify
from incoop.engine.stages.map_contract.mapping import Pairs, Piece, PiecesMapper, UserError, collect, pairs_of
from incoop.job import Job

PIECES = [Piece(partial(list, text)) for text in ("ab", "", "cab", "b")]


def at_once(pieces: Sequence[Sequence[str]]) -> Pairs:
    keys = sorted({each for piece in pieces for each in piece})
    codes = [keys.index(each) for piece in pieces for each in piece]
    sizes = np.array([len(piece) for piece in pieces], np.int64)
    return Pairs(keys, np.array(codes, np.int64), [1] * len(codes), sizes, [{"seen": len(each)} for each in pieces])


def one_by_one(_: Any, letter: str) -> Iterator[tuple[str, int]]:
    incoop.counter("seen")
    yield letter, 1


def test_pieces_at_once_give_what_records_give() -> None:
    mine, its = collect(PiecesMapper(at_once), PIECES), collect(one_by_one, PIECES)
    assert mine is not None and its is not None
    assert list(pairs_of(mine)) == list(pairs_of(its))
    assert mine.sizes.tolist() == its.sizes.tolist() == [2, 0, 3, 1]
    nothing = collect(PiecesMapper(at_once), [])
    assert nothing is not None and not len(nothing.codes)


@pytest.mark.parametrize("mapper", [PiecesMapper(at_once), one_by_one], ids=["at once", "one by one"])
def test_what_was_counted_stays_where_pairs_come_in_portions(mapper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = map_chunk(mapper, PIECES, Combiner.of(None))
    monkeypatch.setattr(mapping, "PENDING_PAIRS", 1)
    portions = map_chunk(mapper, PIECES, Combiner.of(None))
    assert whole.counters == portions.counters == {"seen": 6}


def test_a_mapper_that_fails_on_pieces_is_a_users_error() -> None:
    def fails(pieces: Sequence[Any]) -> Pairs:
        raise ValueError("no")

    with pytest.raises(UserError) as raised:
        collect(PiecesMapper(fails), PIECES)
    assert isinstance(raised.value.__cause__, ValueError)


def test_mappers_of_one_job_are_told_apart_by_their_versions() -> None:
    def job(*versions: str) -> Job:
        mappers = {str(at): PiecesMapper(at_once, version) for at, version in enumerate(versions)}
        return Job("pieces", mappers, lambda key, values: [(key, sum(values))], version="1")

    one, other = identify(job("left", "right")).map
    assert one != other
    assert identify(job("left", "left")).map == (one, one)
