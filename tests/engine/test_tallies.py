"""Counters of what ran and of what is reused, added up."""

from __future__ import annotations

import numpy as np

from incoop.engine.stages.map_contract.contract_task import ShardDone
from incoop.engine.stages.map_contract.record import TreeRecord
from incoop.engine.stages.map_contract.tallies import Tallies

A, B, C = (letter * 16 for letter in (b"a", b"b", b"c"))


def done(**counters: int) -> ShardDone:
    return ShardDone(0, [], [], 0, 0, 0.0, 0.0, counters)


def before(map_counters: dict[bytes, dict[str, int]] | None = None, **reducers: int) -> TreeRecord:
    return TreeRecord([], 1, "", "", 1, map_counters=map_counters or {}, reduce_counters=reducers)


def ids(*each: bytes) -> np.ndarray:
    return np.frombuffer(b"".join(each), "V16")


def test_reducers_of_all_shards_count_together() -> None:
    tallies = Tallies()
    tallies.reduced([done(keys=2, long=1), done(keys=3)], None)
    assert tallies.by_reducers == {"keys": 5, "long": 1}


def test_an_updated_output_counts_on_from_what_it_held() -> None:
    tallies = Tallies()
    tallies.reduced([done(keys=-2, long=1), done(gone=-1)], before(keys=10, gone=1))
    assert tallies.by_reducers == {"keys": 8, "long": 1}


def test_a_counter_that_came_to_nothing_is_not_kept_but_one_below_zero_is() -> None:
    tallies = Tallies()
    tallies.reduced([done(none=0, less=-1)], None)
    assert tallies.by_reducers == {"less": -1}


def test_mappers_and_reducers_count_together() -> None:
    tallies = Tallies({A: {"lines": 2}, B: {"lines": 3, "words": 7}}, {"lines": 1, "keys": 4})
    assert tallies.in_all(ids(A, B), None) == {"lines": 6, "words": 7, "keys": 4}


def test_a_chunk_that_stands_twice_counts_twice() -> None:
    assert Tallies({A: {"lines": 2}, B: {"lines": 3}}).in_all(ids(A, B, A), None) == {"lines": 7}


def test_what_an_earlier_run_counted_counts_for_chunks_that_are_still_there() -> None:
    tallies = Tallies({B: {"lines": 5}})
    assert tallies.in_all(ids(A, B), before({A: {"lines": 1}, C: {"lines": 100}})) == {"lines": 6}
    assert tallies.by_chunk == {A: {"lines": 1}, B: {"lines": 5}}


def test_what_ran_now_counts_in_place_of_what_ran_before() -> None:
    assert Tallies({A: {"lines": 5}}).in_all(ids(A), before({A: {"lines": 1}})) == {"lines": 5}


def test_without_counters_there_are_none() -> None:
    assert Tallies().in_all(ids(A), None) == {}
    assert Tallies().in_all(ids(A), before()) == {}
