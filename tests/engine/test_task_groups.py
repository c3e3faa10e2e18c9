"""Which chunks a task maps: all of them once, in input order, and none of the cores left waiting at the end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.parts.headers import RunRef
from incoop.engine.stages.map_contract.map_task import ChunkTask
from incoop.engine.stages.map_contract.task_groups import FEW_NODES, even_parts, shards_shared_out, shared_out
from incoop.engine.stages.map_contract.write_chunk import KnownBase

MB = 1 << 20


def tasks(sizes: list[int]) -> list[ChunkTask]:
    blocks: list[Any] = [SimpleNamespace(length=size) for size in sizes]
    return [ChunkTask(at.to_bytes(16), each) for at, each in enumerate(blocks)]


def shared(sizes: list[int], cores: int) -> list[list[int]]:
    return [[int.from_bytes(task.id) for task in group] for group in shared_out(tasks(sizes), cores)]


sizes = st.lists(st.integers(1, 300), max_size=60).flatmap(
    lambda each: st.sampled_from([1 << 10, 1 << 16, MB]).map(lambda unit: [unit * size for size in each])
)


@given(sizes, st.integers(1, 8))
def test_every_chunk_is_in_one_group_and_groups_are_in_input_order(sizes: list[int], cores: int) -> None:
    groups = shared(sizes, cores)
    assert sorted(at for group in groups for at in group) == list(range(len(sizes)))
    assert all(group == sorted(group) for group in groups)
    assert all(groups)


@pytest.mark.parametrize(
    ("sizes", "cores", "groups"),
    [
        pytest.param([], 4, [], id="nothing"),
        pytest.param([5, 5, 5], 8, [[0], [1], [2]], id="fewer chunks than cores"),
        pytest.param([5, 5, 5, 5], 2, [[0, 2], [1, 3]], id="as many for each core"),
        pytest.param([1, 9, 2, 3, 3], 2, [[1], [0, 2, 3, 4]], id="as many bytes for each core"),
        pytest.param([4, 3, 3], 1, [[0, 1, 2]], id="one core"),
        pytest.param([MB, MB, MB, MB], 2, [[0, 2], [1, 3]], id="up to two megabytes a core"),
    ],
)
def test_a_little_is_shared_out_evenly(sizes: list[int], cores: int, groups: list[list[int]]) -> None:
    assert shared(sizes, cores) == groups


@pytest.mark.parametrize(
    ("megabytes", "cores", "groups"),
    [
        # Half of 5 for each of 2 cores is less than a task is given at least: two megabytes.
        pytest.param([1] * 5, 2, [[0, 1], [2, 3], [4]], id="just more than a little"),
        # 32 // 4, then 24 // 4, 18 // 4 (so 5 chunks of one), 13 // 4, 9 // 4, 6 // 4, at least two.
        pytest.param([1] * 32, 2, [8, 6, 5, 4, 3, 2, 2, 2], id="each a core's part of half of what is left"),
        pytest.param([16] * 20, 2, [3, 3, 3, 3, 2, 2, 1, 1, 1, 1], id="at most a quarter of a core's part"),
        pytest.param([1] * 100, 2, [16, 16, 16, 13, 10, 8, 6, 4, 3, 2, 2, 2, 2], id="or sixteen megabytes"),
        pytest.param([2 - 1 / MB, 1, 1, 1], 2, [2, 2], id="a byte too little is too little"),
        pytest.param([20] * 4, 1, [1, 1, 1, 1], id="a chunk is never cut"),
    ],
)
def test_much_is_shared_out_in_groups_that_become_smaller(
    megabytes: list[float], cores: int, groups: list[Any]
) -> None:
    found = shared([int(size * MB) for size in megabytes], cores)
    assert [len(group) for group in found] == [len(each) if isinstance(each, list) else each for each in groups]
    assert [at for group in found for at in group] == list(range(len(megabytes)))


def described(number: int, new_bytes: int) -> ChunkTask:
    """A chunk of a megabyte of which so much is new."""
    block: Any = SimpleNamespace(length=MB)
    pieces: Any = SimpleNamespace(new_bytes=new_bytes)
    return ChunkTask(number.to_bytes(16), block, base=KnownBase(RunRef(b"", b"", 0, 0), pieces))


def described_shares(new_bytes: list[int], cores: int) -> list[list[int]]:
    groups = shared_out([described(at, each) for at, each in enumerate(new_bytes)], cores)
    return [[int.from_bytes(task.id) for task in group] for group in groups]


def test_of_chunks_that_are_described_each_core_has_its_part_of_the_input() -> None:
    parts = [[*range(14)], [*range(16, 30)], [14, 15], [30, 31]]
    assert described_shares([100_000] * 32, 2) == parts
    assert described_shares([100_000 + at % 2 for at in range(32)], 2) == parts, "nearly the same one in each update"
    assert described_shares([1_000_000, *[10_000] * 31], 2)[0] == [0], "by what there is to do"


@given(st.lists(st.integers(0, MB), min_size=3, max_size=40), st.integers(1, 8))
def test_every_described_chunk_is_in_one_group(new_bytes: list[int], cores: int) -> None:
    groups = described_shares(new_bytes, cores)
    assert sorted(at for group in groups for at in group) == [*range(len(new_bytes))]
    assert all(group and group == sorted(group) for group in groups)


@given(st.integers(1, 64), st.integers(1, 20))
def test_parts_are_even_and_in_order(count: int, most: int) -> None:
    parts = even_parts(count, most)
    assert [number for part in parts for number in part] == list(range(count))
    assert len(parts) == min(count, most)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize(
    ("nodes", "cores", "clustered", "groups"),
    [
        pytest.param(FEW_NODES, 2, False, [[0, 1, 2, 3], [4, 5, 6, 7]], id="of a path or two, a task a core"),
        pytest.param(FEW_NODES + 1, 2, False, [[0, 1], [2, 3], [4, 5], [6, 7]], id="of more nodes, two"),
        pytest.param(1, 2, True, [[0, 1], [2, 3], [4, 5], [6, 7]], id="on a cluster always the same"),
        pytest.param(99, 2, True, [[0, 1], [2, 3], [4, 5], [6, 7]], id="whatever there is to do"),
        pytest.param(99, 16, False, [[number] for number in range(8)], id="no more tasks than shards"),
    ],
)
def test_shards_are_shared_out(nodes: int, cores: int, clustered: bool, groups: list[list[int]]) -> None:
    assert FEW_NODES == 8
    assert shards_shared_out(8, nodes, cores, clustered) == groups
