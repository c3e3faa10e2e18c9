"""Jobs with few keys have few shards; when keys become many, or few again, results stay those of a run from scratch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import incoop
from incoop.contraction.parts.write import SMALL_RUN
from incoop.engine.blocks import ChunkBlock
from incoop.engine.stages.map_contract.map_task import ChunkTask
from incoop.engine.stages.map_contract.task_groups import shared_out
from incoop.inchdfs.store.packs import Location
from incoop.job import DEFAULT_SHARDS, FEW_SHARDS

from .places import Place


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def total(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum(counts)


def longest(_: Any, line: str) -> Iterator[tuple[str, float]]:
    for word in line.split():
        yield word, len(line) / 8


def largest(key: Any, lengths: Iterable[float]) -> Iterator[tuple[Any, float]]:
    yield key, max(lengths) + 0.0


def shown(key: Any, lengths: Iterable[float]) -> Iterator[tuple[Any, str]]:
    yield key, f"{max(lengths):.3f}"


SUMS = incoop.Job("sums", words, total, total)
FLOATS = incoop.Job("floats", longest, shown, largest)

FEW = [f"word{number % 50} word{number % 7} and {number % 3}" for number in range(200)]
#: One chunk of so many keys that its tree has all shards.
MANY = [*FEW[:100], " ".join(f"key{number}" for number in range(SMALL_RUN)), *FEW[100:]]


def sums(lines: list[str]) -> dict[str, Any]:
    return dict(Counter(word for line in lines for word in line.split()))


def floats(lines: list[str]) -> dict[str, Any]:
    found: dict[str, int] = defaultdict(int)
    for line in lines:
        for word in line.split():
            found[word] = max(found[word], len(line))
    return {word: f"{length / 8:.3f}" for word, length in found.items()}


@pytest.mark.parametrize(("job", "by_hand"), [(SUMS, sums), (FLOATS, floats)], ids=["sums", "floats"])
def test_shards_follow_the_keys_that_are_there_now(job: incoop.Job, by_hand: Any, place: Place) -> None:
    shards = []
    before: dict[str, Any] = {}
    for lines in (FEW, FEW[3:], MANY, MANY[5:], FEW, FEW[:4], [], FEW):
        place.write(lines)
        result = place.run(job)
        after = by_hand(lines)
        assert result.as_dict() == after
        assert {each.key: (each.old, each.new) for each in result.changes()} == {
            key: (before.get(key), after.get(key))
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)
        }
        if lines:
            shards.append(result.report.reduce.tasks)
        with place.scratch() as session:
            scratch = session.run(job, str(place.input))
            assert scratch.root == result.root
            assert scratch.collect() == result.collect()
        before = after
    few, many = FEW_SHARDS, DEFAULT_SHARDS
    assert shards == [few, few, many, many, few, few, few]


def test_nodes_that_a_switch_of_shards_leaves_as_they_were_are_cut_anew(place: Place) -> None:
    """A tree so deep that most inner nodes stand over the same chunks before and after."""
    few = [f"word{number % 50} word{number * 7 % 31} {number}" for number in range(0, 9000, 9)]
    many = [*few[:900], " ".join(f"key{number}" for number in range(SMALL_RUN)), *few[900:]]
    job = incoop.Job("deep", longest, shown, largest)
    contracted = []
    for lines in (few, many, few, many[1:]):
        place.write(lines)
        result = place.run(job)
        assert result.as_dict() == floats(lines)
        assert result.report.warnings == []
        contracted.append(set(result.events.executed("contract")))
    first, switched, back, edited = contracted
    assert len(switched) >= len(first) > 3, "a tree of several inner nodes, none of which can stay"
    assert not first & switched
    assert back == set(), "those of few shards are known"
    assert len(edited) < len(switched)


def test_a_known_tree_is_found_again_whatever_the_last_one_had(place: Place) -> None:
    place.write(MANY)
    place.run(SUMS)
    place.write(FEW)
    place.run(SUMS)
    place.forget_generations()  # then nothing says how many shards the tree has but its chunks
    result = place.run(SUMS)
    assert result.as_dict() == sums(FEW)
    assert (result.report.map.executed, result.report.combine.executed) == (0, 0)


def test_an_edit_of_few_keys_maps_some_chunks_and_reduces_its_keys(place: Place) -> None:
    place.write(FEW)
    place.run(FLOATS)
    place.write([*FEW[:100], "a line that is longer than all others, word1", *FEW[100:]])
    report = place.run(FLOATS).report
    assert report.map.executed <= 3
    assert report.keys_reduced <= 9


@pytest.mark.parametrize("shards", [1, 4, 16])
def test_a_job_that_says_how_many_shards_gets_them(shards: int, place: Place) -> None:
    place.write(FEW)
    job = incoop.Job("told", words, total, total, shards=shards)
    result = place.run(job)
    assert result.report.reduce.tasks == shards
    assert result.as_dict() == sums(FEW)


def test_without_a_combiner_reducers_are_spread(place: Place) -> None:
    place.write(FEW)
    assert place.run(incoop.Job("spread", words, total)).report.reduce.tasks == DEFAULT_SHARDS


M = 1 << 20


def tasks(*sizes: int) -> list[ChunkTask]:
    return [ChunkTask(bytes([at]), ChunkBlock(Location(b"", "", 0, size, size))) for at, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "cores", "expected"),
    [
        pytest.param([5, 3, 2], 2, [[5], [3, 2]], id="a task for each core, of about equal bytes"),
        pytest.param([7], 4, [[7]], id="no task without a chunk"),
        pytest.param([1, 9, 1, 1], 2, [[9], [1, 1, 1]], id="the longest alone"),
        pytest.param([M] * 16, 2, [[M] * 4, [M] * 3, [M] * 3, [M] * 2, [M] * 2, [M] * 2], id="less and less"),
        pytest.param([8 * M] * 4, 2, [[8 * M]] * 4, id="a chunk is mapped by one task"),
    ],
)
def test_chunks_are_shared_out(sizes: list[int], cores: int, expected: list[list[int]]) -> None:
    groups = shared_out(tasks(*sizes), cores)
    assert sorted([task.block.length for task in group] for group in groups) == sorted(expected)
    assert sorted(task.id for group in groups for task in group) == [task.id for task in tasks(*sizes)]
    for group in groups:
        assert [task.id for task in group] == sorted(task.id for task in group)
