"""Mappers that see a whole chunk and combiners that see many keys give what their plain twins give."""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import pytest

import incoop
from incoop import inchdfs
from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.known_combiners import LawfulCombiner, QuickBatchCombiner
from incoop.job import Hints

from .places import Place
from .test_features import some_lines, total, words


def chunk_counts(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Keeps state from line to line, as an in-mapper combiner does."""
    yield from Counter(word for line in lines for word in line.split()).items()


def sums(groups: Iterable[tuple[str, list[int]]]) -> list[tuple[str, int]]:
    return [(word, sum(counts)) for word, counts in reversed(list(groups))]


def blocks(pairs: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    yield "pairs", len(pairs)
    yield "calls", 1


def failing(groups: Iterable[tuple[str, list[int]]]) -> list[tuple[str, int]]:
    raise ValueError("no sums today")


def other_keys(groups: Iterable[tuple[str, list[int]]]) -> list[tuple[str, int]]:
    return [(word.upper(), sum(counts)) for word, counts in groups]


def added(word: str, counts: Iterable[int]) -> list[tuple[str, int]]:
    return [(word, reduce(operator.add, counts))]


def long_words(_: Any, line: str) -> list[tuple[str, bool]]:
    return [(word, len(word) > 3) for word in line.split()]


def largest(word: str, counts: Iterable[int]) -> list[tuple[str, int]]:
    return [(word, max(counts))]


def reusing(lines: Any, old: Any) -> Any:
    """Counts words, and how many of the counts an old chunk has, too."""
    before = {word: counts for chunk in old() for word, counts in chunk.items()}
    for word, count in chunk_counts(lines):
        incoop.counter("words")
        if before.get(word) == [count]:
            incoop.counter("words as in an old chunk")
        yield word, count


def where(lines: Any) -> Any:
    yield str(os.getpid()), 1


ADDED = LawfulCombiner(added, Fold.SUM)
BATCHES = incoop.Job("batches", incoop.ChunkMapper(chunk_counts), total, incoop.BatchCombiner(sums))
PLAIN = incoop.Job("plain", words, total, total)
CHAINED = incoop.Job("blocks", incoop.ChunkMapper(blocks), total, total)


def test_batches_equal_single_calls_on_every_update(place: Place) -> None:
    lines = some_lines()
    for edit in (lambda: None, lambda: lines.insert(200, "word1 word2 fresh"), lambda: lines.pop(10)):
        edit()
        place.write({"a.txt": lines})
        result = place.run(BATCHES)
        assert result.as_dict() == Counter(word for line in lines for word in line.split())
        assert result.as_dict() == place.run(PLAIN).as_dict()
    assert 0 < result.report.map.executed < result.report.map.tasks / 4


def test_a_chunk_mapper_of_a_result_sees_whole_blocks(place: Place) -> None:
    place.write({"a.txt": some_lines()})
    counted = place.run(PLAIN)
    seen = place.session.run(CHAINED, counted).as_dict()
    assert seen["pairs"] == len(counted.as_dict())
    assert seen["calls"] < seen["pairs"]


def test_a_chunk_mapper_may_look_at_the_chunk_whose_place_it_takes(place: Place) -> None:
    lines = some_lines()
    with_old = incoop.Job(
        "old", incoop.ChunkMapper(reusing), total, incoop.BatchCombiner(sums), hints=Hints(takes_old=True)
    )
    for edit in (lambda: None, lambda: lines.insert(200, "word1 word2 fresh"), lambda: lines.pop(10)):
        edit()
        place.write({"a.txt": lines})
        result = place.run(with_old)
        assert result.as_dict() == Counter(word for line in lines for word in line.split())
        seen = result.report.counters
        if result.report.map.executed < result.report.map.tasks:
            assert 0 < seen["words as in an old chunk"] < seen["words"]
        else:
            assert "words as in an old chunk" not in seen


def test_few_chunks_are_mapped_in_the_driver_where_the_mapper_allows_it(place: Place) -> None:
    lines = some_lines()
    here = str(os.getpid())
    nearby = incoop.Job("nearby", incoop.ChunkMapper(where), total, hints=Hints(nearby=3))
    place.write({"a.txt": lines})
    assert here not in place.run(nearby).as_dict()
    lines[200] += " more"
    place.write({"a.txt": lines})
    result = place.run(nearby)
    assert 0 < result.report.map.executed <= 3  # of the two beside it one may have to be cut again
    assert result.as_dict()[here] == result.report.map.executed


def test_a_batch_that_fails_says_so_and_keeps_nothing(place: Place) -> None:
    place.write({"a.txt": some_lines(50)})
    with pytest.raises(incoop.JobFailed, match="no sums today"):
        place.run(incoop.Job("failing", words, total, incoop.BatchCombiner(failing)))


def test_a_batch_that_changes_keys_runs_without_its_combiner(place: Place) -> None:
    lines = some_lines(50)
    place.write({"a.txt": lines})
    job: Any = incoop.Job("other keys", words, total, incoop.BatchCombiner(other_keys))
    result = place.run(job)
    assert result.as_dict() == Counter(word for line in lines for word in line.split())
    assert any("without the combiner" in warning for warning in result.report.warnings)


def test_a_lawful_combiner_folds_integers_and_leaves_other_values_as_they_are(place: Place) -> None:
    lines = [*some_lines(), "ab unique"]
    for edit in (lambda: None, lambda: lines.insert(200, "word1 word2 fresh")):
        edit()
        place.write({"a.txt": lines})
        result = place.run(incoop.Job("added", words, ADDED, ADDED))
        assert result.as_dict() == Counter(word for line in lines for word in line.split())
        flags = place.run(incoop.Job("flags", long_words, ADDED, ADDED)).as_dict()
        assert (flags["ab"], flags["unique"], type(flags["ab"])) == (False, True, bool)  # added to nothing
        assert type(flags["word1"]) is int
    assert 0 < result.report.map.executed < result.report.map.tasks / 4


def test_a_lawful_combiner_is_taken_at_its_word(place: Place) -> None:
    place.write({"a.txt": some_lines()})
    with pytest.raises(incoop.IncoopError, match="combiner"):
        place.run(incoop.Job("tried", words, total, largest))
    assert place.run(incoop.Job("trusted", words, total, LawfulCombiner(largest))).report.keys_total > 0


def test_a_combiner_of_batches_that_costs_little_is_called_for_groups_of_leaves(place: Place) -> None:
    """A key has values in many groups, and is in no call twice; floats come out as from scratch."""
    place.chunks = inchdfs.ChunkSettings(average=1 << 20)

    def called(groups: Iterable[tuple[str, list[float]]]) -> list[tuple[str, float]]:
        given = list(groups)
        assert len({word for word, _ in given}) == len(given)
        return [(word, sum(numbers)) for word, numbers in given]

    def tenths(_: Any, line: str) -> Iterator[tuple[str, float]]:
        for word in line.split():
            yield word, 0.1 * len(word)

    def job(name: str) -> incoop.Job:
        return incoop.Job(name, tenths, total, QuickBatchCombiner(called))

    lines = [f"{'w' * (number % 7 + 1)} {number % 601} {'-' * 40}" for number in range(16000)]
    place.write(lines)
    first = place.run(job("leaves"))
    lines.insert(8000, "w ww 600")
    place.write(lines)
    update = place.run(job("leaves"))
    assert 0 < update.report.fresh_bytes < first.report.fresh_bytes / 20
    with incoop.connect(place.folder / "scratch", spark=place.spark, chunks=place.chunks) as empty:
        assert list(update) == list(empty.run(job("leaves"), str(place.input)))
