"""What the mapper gave for each leaf comes back as it was, whatever the leaves hold."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.engine.stages.map_contract.leaf_table import NO_LEAVES, LeafIds, LeafTable, all_leaves

Leaf = dict[int, list[Any]]


def table(leaves: list[Leaf], of_run: bool, counters: list[dict[str, int]] | None = None) -> LeafTable:
    """Leaves by the numbers of their keys; without values where they are those of the run."""
    entries = [(row, value) for leaf in leaves for row, values in sorted(leaf.items()) for value in values]
    return LeafTable(
        leaves=LeafIds(
            np.frombuffer(b"".join(bytes([65 + at]) * 16 for at in range(len(leaves))), "V16"),
            np.arange(len(leaves)) * 7 + 500,
        ),
        sizes=np.array([sum(map(len, leaf.values())) for leaf in leaves], np.int64),
        numbers=np.array([row for row, _ in entries], np.int64),
        values=None if of_run else Column.of([value for _, value in entries]),
        counters=counters if counters is not None else [{} for _ in leaves],
    )


def plain(one: LeafTable) -> list[Any]:
    values = one.values.to_list() if one.values is not None else None
    return [one.leaves.to_bytes(), one.sizes.tolist(), one.numbers.tolist(), values, one.counters, one.grouped]


rows = st.integers(0, 300) | st.integers(0, 2**40)
leaves = st.lists(
    st.dictionaries(rows, st.lists(st.integers(-5, 5) | st.text(max_size=3), min_size=1, max_size=3), max_size=5),
    max_size=6,
)


@given(leaves, st.booleans(), st.data())
def test_a_table_comes_back_equal(leaves: list[Leaf], of_run: bool, data: st.DataObject) -> None:
    counted = st.lists(st.dictionaries(st.text(max_size=3), st.integers()), min_size=len(leaves), max_size=len(leaves))
    one = table(leaves, of_run, data.draw(st.none() | counted))
    again = LeafTable.from_bytes(one.to_bytes(), LeafIds.from_bytes(one.leaves.to_bytes()))
    assert plain(again) == plain(one)


@pytest.mark.parametrize("of_run", [True, False], ids=["values of the run", "own values"])
@pytest.mark.parametrize(
    "leaves",
    [
        pytest.param([], id="no leaf"),
        pytest.param([{}], id="a leaf without keys"),
        pytest.param([{}, {3: [1]}, {}, {}, {3: [1], 4: [2]}, {}], id="empty leaves between others"),
        pytest.param([{5: [1]}, {2: [1]}], id="rows begin anew in each leaf"),
        pytest.param([{0: [1], 255: [1], 256: [1], 511: [1], 512: [1], 66_000: [1]}], id="gaps of every width"),
        pytest.param([{700: [1], 701: [2]}, {700: [1], 701: [2]}], id="the same rows again"),
    ],
)
def test_rows_are_kept_leaf_by_leaf(leaves: list[Leaf], of_run: bool) -> None:
    one = table(leaves, of_run)
    assert plain(LeafTable.from_bytes(one.to_bytes(), LeafIds.from_bytes(one.leaves.to_bytes()))) == plain(one)


def test_counters_are_kept_with_their_leaf() -> None:
    counters = [{"lines": 3}, {}, {"lines": 1, "words": 9}]
    one = table([{1: [1]}, {2: [1]}, {3: [1]}], True, counters)
    assert LeafTable.from_bytes(one.to_bytes(), LeafIds.from_bytes(one.leaves.to_bytes())).counters == counters


def test_tables_without_counters_spend_no_bytes_on_them() -> None:
    some = [{1: [1]} for _ in range(50)]
    assert len(table(some, True).to_bytes()) < len(table(some, True, [{"a": 1}, *({} for _ in range(49))]).to_bytes())


def test_where_a_leafs_entries_begin() -> None:
    assert table([{1: [1]}, {}, {1: [1], 2: [1]}], True).starts.tolist() == [0, 1, 1, 3]


def test_a_table_is_compressed_where_that_pays() -> None:
    same = table([{row: ["the same"] for row in range(5000)}], False)
    random = table([{row: [os.urandom(40)] for row in range(5000)}], False)
    assert len(same.to_bytes()) < 3000 and same.to_bytes()[:1] == b"\1"
    assert len(random.to_bytes()) > 200_000 and random.to_bytes()[:1] == b"\0"
    assert plain(LeafTable.from_bytes(same.to_bytes(), same.leaves)) == plain(same)
    assert plain(LeafTable.from_bytes(random.to_bytes(), random.leaves)) == plain(random)


IDS = [bytes([65 + at]) * 16 for at in range(3)]


def test_leaves_are_their_ids_and_how_long_they_are() -> None:
    some = LeafIds.of(IDS, [7, 2**32 - 1, 0])
    assert (len(some), [bytes(id_) for id_ in some.ids], some.lengths.tolist()) == (3, IDS, [7, 2**32 - 1, 0])
    assert some.to_bytes() == b"".join(IDS) + b"".join(length.to_bytes(4, "little") for length in (7, 2**32 - 1, 0))
    again = LeafIds.from_bytes(memoryview(some.to_bytes()))
    assert (again.ids.tolist(), again.lengths.tolist()) == (some.ids.tolist(), some.lengths.tolist())
    assert again.lengths.dtype == np.int64


def test_as_many_leaves_come_back_as_went() -> None:
    some = LeafIds.of([bytes([at]) * 16 for at in range(100)], range(100))
    again = LeafIds.from_bytes(some.to_bytes())
    assert (again.to_bytes(), again.lengths.tolist()) == (some.to_bytes(), list(range(100)))


def test_leaves_are_taken_by_their_places_and_put_behind_each_other() -> None:
    some = LeafIds.of(IDS, [1, 2, 3])
    back = some.take(np.array([2, 0]))
    assert ([bytes(id_) for id_ in back.ids], back.lengths.tolist()) == ([IDS[2], IDS[0]], [3, 1])
    both = all_leaves([back, NO_LEAVES, some])
    assert [bytes(id_) for id_ in both.ids] == [IDS[2], IDS[0], *IDS]
    assert both.lengths.tolist() == [3, 1, 1, 2, 3]
    assert (len(NO_LEAVES), NO_LEAVES.lengths.tolist(), NO_LEAVES.to_bytes()) == (0, [], b"")


def test_memory_is_that_of_all_arrays() -> None:
    assert LeafIds.of(IDS, [1, 2, 3]).nbytes == 3 * (16 + 8)
    leaves: list[Leaf] = [{1: [10, 20]}, {1: [30], 2: [40]}]
    of_run, own = table(leaves, True), table(leaves, False)
    assert of_run.nbytes == 2 * 8 + 4 * 8
    assert own.values is not None and own.nbytes == of_run.nbytes + own.values.nbytes > of_run.nbytes


@pytest.mark.parametrize("of_run", [True, False], ids=["values of the run", "own values"])
def test_it_is_kept_whether_leaves_are_groups(of_run: bool) -> None:
    one = replace(table([{1: [1]}, {2: [1]}], of_run), grouped=True)
    again = LeafTable.from_bytes(one.to_bytes(), one.leaves)
    assert again.grouped and (again.values is None) is of_run
    assert not LeafTable.from_bytes(table([], of_run).to_bytes(), NO_LEAVES).grouped


def test_whether_compressing_pays_is_tried_in_the_middle() -> None:
    """Numbers of keys lie at the beginning and compress; where values are many, they are what counts."""
    like = table([{row: [os.urandom(40)] for row in range(5000)}], False).to_bytes()
    short = table([{1: [1]}], True).to_bytes()
    assert like[:1] == b"\0" and short[:1] == b"\0"
    # A middle that compresses, between ends that do not.
    ends = [{row: [os.urandom(40) if not 300 < row < 4700 else "the same" * 5] for row in range(5000)}]
    packed = table(ends, False).to_bytes()
    assert packed[:1] == b"\1"
    assert plain(LeafTable.from_bytes(packed, LeafIds.of([b"A" * 16], [500]))) == plain(table(ends, False))
