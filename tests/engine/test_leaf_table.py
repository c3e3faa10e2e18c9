"""What the mapper gave for each leaf comes back as it was, whatever the leaves hold."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.engine.stages.map_contract.leaf_table import LeafIds, LeafTable

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
