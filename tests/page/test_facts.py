"""What became of each chunk, from events alone."""

from __future__ import annotations

import numpy as np

from incoop.engine.events import DidBegin, DidDecide, DidMap, Event
from incoop.page.charts import COLUMNS, ROWS, cell_chunks, strip
from incoop.page.facts import Fate, RunFacts

from .runs import CHUNK, events_of, id_of, ids_of


def test_chunks_are_reused_patched_mapped_or_lost() -> None:
    facts = RunFacts.of(events_of(6, {1: 700, 3: -1, 5: -1}, lost=(5,)))
    assert facts.fates.tolist() == [Fate.REUSED, Fate.PATCHED, Fate.REUSED, Fate.MAPPED, Fate.REUSED, Fate.LOST]
    assert [(chunk.index, chunk.mapped) for chunk in facts.mapped] == [(1, 700), (3, CHUNK), (5, CHUNK)]
    assert facts.count(Fate.REUSED) == 3 and facts.bytes_of(Fate.PATCHED) == CHUNK
    assert facts.levels == ((625, 620), (40, 37), (3, 1), (1, 0)) and facts.gone == 2


def test_a_chunk_of_which_nothing_new_was_mapped_is_patched_and_one_of_one_byte_is_mapped() -> None:
    facts = RunFacts.of(events_of(3, {0: 0, 1: 1, 2: -1}))
    assert facts.fates.tolist() == [Fate.PATCHED, Fate.PATCHED, Fate.MAPPED]
    assert [chunk.mapped for chunk in facts.mapped] == [0, 1, CHUNK]


def test_chunks_of_equal_content_share_a_fate() -> None:
    same = np.concatenate([ids_of(1), ids_of(1), ids_of(2)[1:]])
    decided = DidDecide(same, np.full(3, CHUNK), np.array([False, False, True]), frozenset(), 0, "2 chunks are new")
    facts = RunFacts.of([DidBegin("job"), decided, DidMap((id_of(0),), (CHUNK,), (-1,), ("here",))])
    assert facts.fates.tolist() == [Fate.MAPPED, Fate.MAPPED, Fate.REUSED]


def test_an_attempt_that_begins_anew_counts_alone() -> None:
    facts = RunFacts.of([*events_of(4, {0: -1}), *events_of(4, {2: 10})])
    assert facts.fates.tolist() == [0, 0, Fate.PATCHED, 0]


def goes_on(events: list[Event]) -> list[Event]:
    return [DidBegin("word count", goes_on=True), *events[1:]]


def test_an_attempt_that_goes_on_keeps_what_was_mapped_and_why() -> None:
    first = events_of(4, {0: -1, 1: 5}, why="the job has not run in this store")
    facts = RunFacts.of([*first, *goes_on(events_of(4, {1: -1}, why="the job is new, but its chunks are known"))])
    assert facts.fates.tolist() == [Fate.MAPPED, Fate.MAPPED, 0, 0]
    assert [(chunk.index, chunk.fate) for chunk in facts.mapped] == [(0, Fate.MAPPED), (1, Fate.MAPPED)]
    assert facts.why == "the job has not run in this store"


def test_a_stage_that_tells_nothing_of_chunks_has_none() -> None:
    facts = RunFacts.of([DidBegin("lines")])
    assert len(facts.fates) == 0 and facts.levels == () and facts.why == ""


def test_of_the_chunks_of_a_cell_the_worst_is_seen() -> None:
    count = COLUMNS * ROWS * 8
    assert cell_chunks(count) == 8 and cell_chunks(count + 1) == 9 and cell_chunks(COLUMNS * ROWS) == 1
    for index in (0, 7, 8, count - 1):
        fates = np.zeros(count, np.int8)
        fates[index] = Fate.PATCHED
        column, row = index // 8 % COLUMNS, index // 8 // COLUMNS
        assert f'<path class="patched" d="M{column} {row}h1v1h-1z"/>' in strip(fates, "")


def test_a_strip_stays_small_whatever_it_shows() -> None:
    for count in (0, 1, 79, 80, 81, 10_000, 1_000_000):
        fates = (np.arange(count) // cell_chunks(count) % 4).astype(np.int8)
        assert len(strip(fates, "")) < 25_000
