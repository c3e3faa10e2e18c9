"""Rows found, changed and replaced by the hashes of their keys, also where different keys have one hash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.by_hash import changed_hashes, rows_with, without
from incoop.contraction.columns.column import ANY, NONE, PAIR, Column
from incoop.contraction.columns.keys import Hashes, hash_of, hashes_of
from incoop.contraction.columns.run import EMPTY, Run, merge
from incoop.contraction.columns.shards import block_numbers, shard_bounds, shard_of
from incoop.contraction.columns.sorted_sets import difference, distinct_numbers, member, union
from incoop.contraction.columns.splice import replaced_keys


def hashes(*each: int) -> Hashes:
    return np.array(each, np.uint64)


def run(pairs: dict[int, Any], keys: list[Any] | None = None) -> Run:
    """A run with hashes of our choice; the keys are the hashes unless they are given."""
    return Run(
        np.array(list(pairs), np.uint64),
        Column.of(keys or [f"key{each}" for each in pairs]),
        Column.of([*pairs.values()]),
    )


def tied(of: list[int], keys: list[Any], values: list[Any]) -> Run:
    return Run(np.array(of, np.uint64), Column.of(keys), Column.of(values))


def held(each: Run) -> list[tuple[Any, list[Any]]]:
    return list(each.groups())


# Which rows


@given(st.lists(st.lists(st.integers(0, 20)), min_size=1))
def test_sets_of_numbers_are_those_of_python(lists: list[list[int]]) -> None:
    sets = [distinct_numbers(np.array(each, np.uint64)) for each in lists]
    assert [each.tolist() for each in sets] == [sorted(set(each)) for each in lists]
    assert union(sets).tolist() == sorted(set().union(*lists))
    assert difference(sets[0], sets[-1]).tolist() == sorted(set(lists[0]) - set(lists[-1]))


def test_membership_is_looked_up_hash_by_hash() -> None:
    assert member(hashes(1, 5, 9, 9, 12), hashes(0, 5, 9)).tolist() == [False, True, True, True, False]
    assert member(hashes(1, 5), hashes()).tolist() == [False, False]
    assert member(hashes(), hashes(1)).tolist() == []
    assert member(hashes(7), hashes(7)).tolist() == [True]


@given(st.lists(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_rows_with_some_hashes_are_all_of_them_in_order(rows: list[int], wanted: set[int]) -> None:
    rows.sort()
    some = tied(rows, list(range(len(rows))), list(range(len(rows))))
    found = [at for at, each in enumerate(rows) if each in wanted]
    assert rows_with(some, hashes(*sorted(wanted))).tolist() == found
    assert [key for key, _ in held(without(some, hashes(*sorted(wanted))))] == [
        at for at, each in enumerate(rows) if each not in wanted
    ]


def test_a_run_that_holds_none_of_the_hashes_stays_the_same_object() -> None:
    some = run({1: "a", 2: "b"})
    assert without(some, hashes(0, 3)) is some


# What changed

kinds = st.sampled_from([1, 2, "a", "bb", None, 1.5, (1, 2)])
groups = st.dictionaries(st.integers(0, 12), st.lists(kinds, min_size=1, max_size=3), max_size=10)
singles = st.dictionaries(st.integers(0, 12), kinds.map(lambda value: [value]), max_size=10)


@given(groups | singles, groups | singles)
def test_a_hash_changed_if_its_keys_values_did(old: dict[int, list[Any]], new: dict[int, list[Any]]) -> None:
    changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    found = changed_hashes(Run.of_groups(old), Run.of_groups(new))
    assert found.tolist() == sorted(map(hash_of, changed))


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        pytest.param({1: ["a"]}, {1: ["b"]}, [1], id="another value"),
        pytest.param({1: ["a", "b"]}, {1: ["b", "a"]}, [1], id="the same values in another order"),
        pytest.param({1: ["a", "b"]}, {1: ["a"]}, [1], id="fewer values"),
        pytest.param({1: ["a", "b"], 2: ["c"]}, {1: ["a", "x"], 2: ["c"]}, [1], id="the last of several values"),
        pytest.param({1: ["a", "b"], 2: ["c"]}, {1: ["a", "b"], 2: ["d"]}, [2], id="a single one behind several"),
        pytest.param({1: ["a"], 2: ["c"]}, {1: ["a"], 2: ["c", "c"]}, [2], id="more values, where all had one"),
        pytest.param({1: ["a"]}, {}, [1], id="a key that went"),
        pytest.param({}, {1: ["a"]}, [1], id="a key that came"),
        pytest.param({}, {}, [], id="nothing there"),
    ],
)
def test_what_changed(old: dict[int, list[str]], new: dict[int, list[str]], changed: list[int]) -> None:
    expected = sorted(hash_of(key) for key in changed)
    assert changed_hashes(Run.of_groups(old), Run.of_groups(new)).tolist() == expected


def test_another_key_of_the_same_hash_is_a_change() -> None:
    assert changed_hashes(tied([1, 2], ["a", "b"], [1, 1]), tied([1, 2], ["a", "x"], [1, 1])).tolist() == [2]


def test_where_two_keys_have_one_hash_all_counts_as_changed() -> None:
    plain, double = tied([1, 2], ["a", "b"], [1, 1]), tied([1, 2, 2], ["a", "b", "x"], [1, 1, 1])
    assert changed_hashes(plain, double).tolist() == [1, 2]
    assert changed_hashes(double, plain).tolist() == [1, 2]
    assert changed_hashes(double, double).tolist() == [1, 2]
    assert changed_hashes(plain, plain).tolist() == []


def test_hashes_of_keys_that_came_and_went_are_each_told_once_in_order() -> None:
    assert changed_hashes(EMPTY, tied([3, 5, 5], ["a", "b", "c"], [1, 1, 1])).tolist() == [3, 5]
    assert changed_hashes(tied([3, 5, 5], ["a", "b", "c"], [1, 1, 1]), EMPTY).tolist() == [3, 5]
    assert changed_hashes(run({1: 1, 9: 1}), run({5: 1, 9: 1, 12: 1})).tolist() == [1, 5, 12]


# Replaced

columns = {
    "nothing": [None],
    "integers": [0, 1, -(2**40)],
    "numbers": [0.5, -1.0, 2e300],
    "text": ["", "a", "längere"],
    "raw": [b"", b"a", b"longer"],
    "pairs": [(1, "a"), (2, ""), (3, "ccc")],
    "pairs of pairs": [((1, "a"), None), ((2, "bb"), None)],
    "pairs of anything": [((1, 2), 3), (("a", 2), 4)],
    "anything": [1, "a", None, [1, 2]],
    "arrays": [[1, 2], [3], []],
}


@pytest.mark.parametrize("new_values", columns)
@pytest.mark.parametrize("old_values", columns)
def test_replacing_keys_gives_the_bytes_that_merging_gives(old_values: str, new_values: str) -> None:
    old = Run.of_values({key: columns[old_values][key % len(columns[old_values])] for key in range(9)})
    for changed, fresh_keys in (([1, 2, 5], [2, 5]), ([0, 3, 8, 20], [0, 20]), ([4], [4]), ([30], [30]), ([1], [])):
        fresh = Run.of_values({key: columns[new_values][key % len(columns[new_values])] for key in fresh_keys})
        gone = np.unique(hashes_of(changed))
        expected = merge([without(old, gone), fresh])[0]
        found = replaced_keys(old, gone, fresh)
        assert found.to_bytes() == expected.to_bytes()
        assert held(found) == held(expected)


values = st.sampled_from([*columns["text"], *columns["integers"]])


@given(
    st.dictionaries(st.text(max_size=3), st.lists(values, min_size=1, max_size=2), max_size=12),
    st.dictionaries(st.text(max_size=3), st.lists(values, min_size=1, max_size=2), max_size=6),
    st.sets(st.text(max_size=3), max_size=6),
)
def test_the_keys_of_the_hashes_are_the_fresh_ones_and_the_others_stay(
    old: dict[str, list[Any]], fresh: dict[str, list[Any]], gone: set[str]
) -> None:
    changed = np.unique(hashes_of([*fresh, *gone])) if fresh or gone else hashes()
    after = {key: value for key, value in old.items() if key not in gone} | fresh
    found = replaced_keys(Run.of_groups(old), changed, Run.of_groups(fresh))
    assert found.to_bytes() == Run.of_groups(after).to_bytes()


several = st.lists(st.text(max_size=3), min_size=1, max_size=2)
single = st.text(max_size=3).map(lambda value: [value])


@given(
    st.dictionaries(st.integers(0, 12), several, max_size=9) | st.dictionaries(st.integers(0, 12), single, max_size=9),
    st.dictionaries(st.integers(0, 12), several, max_size=4) | st.dictionaries(st.text(max_size=2), single, max_size=4),
)
def test_keys_with_several_values_and_those_with_one_replace_each_other(
    old: dict[Any, list[str]], fresh: dict[Any, list[str]]
) -> None:
    changed = np.unique(hashes_of(list(fresh))) if fresh else hashes()
    found = replaced_keys(Run.of_groups(old), changed, Run.of_groups(fresh))
    assert found.to_bytes() == Run.of_groups(old | fresh).to_bytes()


@pytest.mark.parametrize("kind", [each for each in columns if each not in ("anything", "arrays", "pairs of anything")])
def test_rows_of_one_kind_are_put_between_the_others_without_sorting(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sorts(runs: list[Run]) -> tuple[Run, Any]:
        raise AssertionError("merged")

    monkeypatch.setattr("incoop.contraction.columns.splice.merge", sorts)
    values = columns[kind]
    old = Run.of_values({key: values[key % len(values)] for key in range(9)})
    fresh = Run.of_values(dict.fromkeys((2, 20), values[0]))
    assert len(replaced_keys(old, np.unique(hashes_of([1, 2, 20])), fresh)) == 9
    for other in ({"text": values[0]}, {2: "another kind" if kind != "text" else 1}):
        with pytest.raises(AssertionError, match="merged"):
            replaced_keys(old, hashes(), Run.of_values(other))


def test_replacing_everything_gives_what_is_fresh() -> None:
    fresh = run({2: "b", 3: "c"})
    assert replaced_keys(run({2: "a"}), hashes(2, 3), fresh) is fresh


def test_all_keys_of_a_hash_are_replaced() -> None:
    old = tied([1, 5, 5, 9], ["a", "b", "c", "d"], [1, 2, 3, 4])
    assert held(replaced_keys(old, hashes(5), tied([5], ["b"], [7]))) == [("a", [1]), ("b", [7]), ("d", [4])]
    twice = replaced_keys(old, hashes(1, 5), tied([5, 5], ["b", "c"], [7, 8]))
    assert held(twice) == [("b", [7]), ("c", [8]), ("d", [4])]


def test_pairs_stay_columns_of_pairs_and_mixed_ones_are_settled() -> None:
    old = run({1: (1, "a"), 2: (2, "b")})
    assert replaced_keys(old, hashes(2), run({2: (3, "c")})).values.kind == PAIR
    mixed = replaced_keys(run({1: 1, 2: "b"}), hashes(2), run({2: 5}))
    assert mixed.values.kind != ANY and held(mixed) == [("key1", [1]), ("key2", [5])]
    nothing = replaced_keys(run({1: None, 2: None}), hashes(2), run({2: None, 3: None}))
    assert (nothing.values.kind, len(nothing.values)) == (NONE, 3)


# Shards and blocks


def test_shards_are_equal_ranges_of_the_hashes() -> None:
    some = run({0: 1, 1 << 62: 2, (1 << 62) + 1: 3, 1 << 63: 4, (1 << 64) - 1: 5})
    assert shard_bounds(some, 1) == [0, 5]
    assert shard_bounds(some, 2) == [0, 3, 5]
    assert shard_bounds(some, 4) == [0, 1, 3, 4, 5]
    assert [len(shard_of(some, shard, 4)) for shard in range(4)] == [1, 2, 1, 1]
    assert [value for shard in range(4) for _, value in held(shard_of(some, shard, 4))] == [[1], [2], [3], [4], [5]]
    assert held(shard_of(some, 0, 1)) == held(some)


def test_a_hash_just_below_a_shard_belongs_to_the_one_before() -> None:
    assert shard_bounds(run({(1 << 63) - 1: 1, 1 << 63: 2}), 2) == [0, 1, 2]
    assert shard_bounds(run({3 * (1 << 62) - 1: 1, 3 << 62: 2}), 4) == [0, 0, 0, 1, 2]


def test_a_block_is_known_by_the_bits_behind_those_of_the_shard() -> None:
    some = hashes(0, 1 << 60, 1 << 61, 3 << 60, 1 << 63, (1 << 64) - 1)
    assert block_numbers(some, 0, 0).tolist() == [0] * 6
    assert block_numbers(some, 3, 0).tolist() == [0] * 6
    assert block_numbers(some, 0, 4).tolist() == [0, 1, 2, 3, 8, 15]
    assert block_numbers(some, 2, 2).tolist() == [0, 1, 2, 3, 0, 3]
    assert block_numbers(some, 0, 1).tolist() == [0, 0, 0, 0, 1, 1]
    assert block_numbers(some, 0, 1).dtype == np.int64
