"""The shape of the tree: decided by boundaries alone, balanced, and hardly changed by an edit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.tree.shape import (
    BATCH_BITS,
    GROUP_BITS,
    LARGEST_GROUP,
    SMALLEST_GROUP,
    WIDE_BITS,
    boundaries,
    group_ends,
    heights,
    levels,
)


def tails(*each: int) -> np.ndarray:
    return np.array(each, np.uint64)


def ends(heights: list[int], level: int = 1, largest: int = 64) -> list[int]:
    return group_ends(np.array(heights, np.int64), level, largest).tolist()


def test_a_chunk_is_as_high_as_its_tail_has_zeros_at_the_end() -> None:
    some = tails(1, 8, 16, 16 + 8, 1 << 7, 1 << 8, 1 << 63, (1 << 64) - 1, (1 << 64) - 16, 0)
    assert heights(some, 4).tolist() == [0, 0, 1, 0, 1, 2, 15, 0, 1, 16]
    assert heights(some, 7).tolist() == [0, 0, 0, 0, 1, 1, 9, 0, 0, 9]
    assert heights(tails(0), 13).tolist() == [4]
    assert heights(tails(), 4).tolist() == []


@pytest.mark.parametrize(
    ("given", "level", "largest", "expected"),
    [
        pytest.param([0, 0, 1, 0, 2, 0], 1, 64, [3, 5, 6], id="a group ends behind a child that is high enough"),
        pytest.param([0, 0, 1, 0, 2, 0], 2, 64, [5, 6], id="higher up, fewer are"),
        pytest.param([1, 0, 0], 1, 64, [3], id="a group has two children at least"),
        pytest.param([1, 1, 1, 1], 1, 64, [2, 4], id="also where all are high"),
        pytest.param([0, 1, 1], 1, 64, [2, 3], id="the last one may have one"),
        pytest.param([0] * 10, 1, 4, [4, 8, 10], id="a group ends when it is too large"),
        pytest.param([0, 0, 0, 0, 1, 0, 0], 1, 4, [4, 7], id="and takes no end that is too near behind that"),
        pytest.param([0, 0, 0, 0, 0, 1, 0], 1, 4, [4, 6, 7], id="but the next one"),
        pytest.param([0, 0, 0, 1], 1, 4, [4], id="as large as it may be"),
        pytest.param([5], 1, 64, [1], id="one child"),
        pytest.param([], 1, 64, [], id="none"),
    ],
)
def test_where_groups_end(given: list[int], level: int, largest: int, expected: list[int]) -> None:
    assert ends(given, level, largest) == expected
    assert group_ends(np.array(given, np.int64), level, largest).dtype == np.int64


def test_a_boundary_is_what_is_before_and_behind_it() -> None:
    assert boundaries(tails(1, 1, 1), tails(5, 2 << 32, 0)).tolist() == [3, 1, 1]
    assert boundaries(tails(7), tails(9)).tolist() == [7], "nothing is behind the last"
    assert boundaries(tails(), tails()).tolist() == []


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), max_size=30), st.data())
def test_another_chunk_changes_no_boundary_but_its_own_two(chunks: list[tuple[int, int]], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(chunks)))
    other = [*chunks[:at], (1, 2), *chunks[at:]]
    before, after = (boundaries(tails(*(t for _, t in each)), tails(*(h for h, _ in each))) for each in (chunks, other))
    assert after[: max(at - 1, 0)].tolist() == before[: max(at - 1, 0)].tolist()
    assert after[at + 1 :].tolist() == before[at:].tolist()


def test_chunks_that_all_end_alike_make_a_tree_as_others_do() -> None:
    heads = np.random.default_rng(20).integers(0, 1 << 63, 4000, np.uint64) * np.uint64(2)
    alike = levels(boundaries(np.full(4000, 0x5ED16DAAA89FDA19, np.uint64), heads))
    assert 4000 / 24 < len(alike[0]) < 4000 / 10, "groups of about 16"


def test_levels_go_on_until_there_is_one_node() -> None:
    assert [each.tolist() for each in levels(tails(1, 16, 1, 256, 1))] == [[2, 4, 5], [2, 3], [2]]
    assert [each.tolist() for each in levels(tails(1, 16, 1, 256, 1), 7)] == [[4, 5], [2]]
    assert levels(tails(1)) == []
    assert levels(tails()) == []
    assert [each.tolist() for each in levels(tails(1, 1))] == [[2]]


def test_without_any_marker_a_group_has_four_times_the_average() -> None:
    assert levels(np.ones(1000, np.uint64), 3)[0].tolist() == [*range(32, 1000, 32), 1000]
    assert levels(np.ones(200, np.uint64))[0].tolist() == [64, 128, 192, 200]


@given(st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 16, 256, 4096]), max_size=200), st.integers(1, 5))
def test_every_level_covers_the_one_below_in_groups_of_a_bounded_size(some: list[int], bits: int) -> None:
    below = len(some)
    for each in levels(np.array(some, np.uint64), bits):
        sizes = np.diff(each, prepend=0)
        assert each[-1] == below
        assert (sizes[:-1] >= SMALLEST_GROUP).all() and sizes[-1] >= 1
        assert (sizes <= LARGEST_GROUP << bits).all()
        below = len(each)
    assert below <= 1


@given(st.lists(st.integers(0, 2**20), min_size=1, max_size=100), st.data())
def test_what_lies_before_an_appended_chunk_is_grouped_as_before(some: list[int], data: st.DataObject) -> None:
    more = data.draw(st.lists(st.integers(0, 2**20), min_size=1, max_size=10))
    for one, other in zip(levels(np.array(some, np.uint64)), levels(np.array(some + more, np.uint64)), strict=False):
        assert one[:-1].tolist() == other[: len(one) - 1].tolist()


def test_the_constants_that_ids_of_nodes_depend_on() -> None:
    """They are part of a job's identity: another value makes every stored tree of no use."""
    assert (GROUP_BITS, BATCH_BITS, WIDE_BITS, SMALLEST_GROUP, LARGEST_GROUP) == (4, 7, 14, 2, 4)
