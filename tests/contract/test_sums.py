"""Sums of a node, updated by what came and went below it: right, or left to others."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.keys import hash_of
from incoop.contraction.columns.run import EMPTY, Run
from incoop.contraction.tree.sums import Delta, appeared, sums_at, together, vanished

LIMIT = 1 << 61


def delta(amounts: dict[str, int], holders: dict[str, int] | None = None) -> Delta:
    """A delta; one more child holds each key unless it is said."""
    run = Run.of_values(amounts)
    assert run.values.numbers is not None or not amounts
    keys = run.keys.to_list()
    counts = [(holders or {}).get(key, 1) for key in keys]
    numbers = run.values.numbers if run.values.numbers is not None else np.empty(0, np.int64)
    return Delta(run.hashes, run.keys, numbers, np.array(counts, np.int64))


def said(one: Delta | None) -> dict[str, tuple[int, int]] | None:
    if one is None:
        return None
    amounts, holders = one.amounts.tolist(), one.holders.tolist()
    assert one.hashes.tolist() == sorted(map(hash_of, one.keys.to_list()))
    return dict(zip(one.keys.to_list(), zip(amounts, holders, strict=True), strict=True))


def tied(hashes: list[int], keys: list[str], values: list[int]) -> Run:
    return Run(np.array(hashes, np.uint64), Column.of(keys), Column.of(values))


def pairs(run: Run) -> dict[Any, Any]:
    return {key: value for key, (value,) in run.groups()}


def test_a_run_appears_and_vanishes_with_all_its_keys() -> None:
    run = Run.of_values({"a": 3, "b": -1})
    assert said(appeared(run)) == {"a": (3, 1), "b": (-1, 1)}
    assert said(vanished(run)) == {"a": (-3, -1), "b": (1, -1)}
    assert said(appeared(EMPTY)) == said(vanished(EMPTY)) == {}


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(Run.of_values({"a": 0.5}), id="no integers"),
        pytest.param(Run.of_values({"a": "text"}), id="text"),
        pytest.param(Run.of_values({"a": True}), id="truth values"),
        pytest.param(Run.of_values({"a": 1 << 70}), id="integers that are too large"),
        pytest.param(Run.of_groups({"a": [1, 2], "b": [1]}), id="several values of a key"),
    ],
)
def test_only_single_integers_are_added_up(run: Run) -> None:
    assert appeared(run) is None
    assert vanished(run) is None
    assert sums_at(run, delta({"a": 1})) is None


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(-3, 3), max_size=5), max_size=5), st.data())
def test_deltas_together_are_their_sum_without_what_cancels_out(
    runs: list[dict[str, int]], data: st.DataObject
) -> None:
    amounts: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    deltas = []
    for run in runs:
        goes = data.draw(st.booleans())
        deltas.append((vanished if goes else appeared)(Run.of_values(run)))
        for key, value in run.items():
            amounts[key] += -value if goes else value
            holders[key] += -1 if goes else 1
    expected = {key: (amounts[key], count) for key, count in holders.items() if amounts[key] or count}
    if not deltas:
        return
    found = said(together([each for each in deltas if each is not None]))
    if sum(map(bool, runs)) < 2:  # a single one is given as it is
        expected = {key: (amounts[key], count) for key, count in holders.items()}
    assert found == expected


def test_a_key_that_comes_and_goes_elsewhere_stays_for_whoever_counts_holders_or_sums() -> None:
    assert said(together([delta({"a": 1, "b": 2}), delta({"a": -1, "b": -2}, {"a": 0, "b": -1})])) == {"a": (0, 1)}
    assert said(together([delta({"a": 1}), delta({"a": 2}, {"a": -1})])) == {"a": (3, 0)}


def test_a_single_delta_is_given_as_it_is() -> None:
    one = delta({"a": 1})
    assert together([one]) is one
    assert together([delta({}), one, delta({})]) is one
    assert said(together([delta({}), delta({})])) == {}


def test_a_key_is_shown_as_it_came_first() -> None:
    whole, broken = (
        appeared(Run.of_values(dict.fromkeys(range(90), 1))),
        appeared(Run.of_values({float(at): 1 for at in range(90)})),
    )
    assert whole is not None and broken is not None
    for first, second, kind in ((whole, broken, int), (broken, whole, float)):
        both = together([first, second])
        assert both is not None and len(both) == 90
        assert {type(key) for key in both.keys.to_list()} == {kind}


def test_different_keys_of_one_hash_are_not_added_up() -> None:
    one, other = appeared(tied([5], ["a"], [1])), appeared(tied([5], ["b"], [1]))
    assert one is not None and other is not None
    assert together([one, other]) is None
    assert together([one, one]) is not None


def test_sums_that_may_not_fit_are_not_added_up() -> None:
    assert together([delta({"a": LIMIT // 2}), delta({"b": 1})]) is not None
    assert together([delta({"a": LIMIT // 2 + 1}), delta({"b": 1})]) is None
    assert together([delta({"a": -LIMIT // 2 - 1}), delta({"b": 1})]) is None


def test_a_delta_comes_back_from_the_run_that_stores_it() -> None:
    one = delta({"a": 1, "b": -5, "c": 0}, {"a": -1, "b": 3})
    again = Delta.of_run(Run.from_bytes(one.to_run().to_bytes()))
    assert said(again) == said(one)
    assert said(Delta.of_run(one.to_run().slice(0, 0))) == {}
    assert len(one) == 3


# At a node


def test_sums_are_the_old_ones_plus_the_change() -> None:
    at = sums_at(Run.of_values({"a": 1, "b": 2, "c": 3}), delta({"a": 10, "c": -3, "x": 7}))
    assert at is not None
    keys = at.delta.keys.to_list()
    assert dict(zip(keys, at.before.tolist(), strict=True)) == {"a": 1, "c": 3, "x": 0}
    assert dict(zip(keys, at.after.tolist(), strict=True)) == {"a": 11, "c": 0, "x": 7}
    assert dict(zip(keys, at.held.tolist(), strict=True)) == {"a": True, "c": True, "x": False}
    assert at.in_doubt().tolist() == [hash_of("c")]


def test_a_node_without_keys_gets_those_of_the_change() -> None:
    at = sums_at(EMPTY, delta({"a": 2, "b": 0}))
    assert at is not None
    assert at.before.tolist() == [0, 0]
    assert sorted(at.after.tolist()) == [0, 2]
    assert at.held.tolist() == [False, False]


def test_a_node_hears_of_sums_that_changed_and_of_keys_that_came_and_went() -> None:
    before = {"same": 1, "went": 2, "more": 3, "zero": 4, "swapped": 5}
    change = delta({"same": 0, "went": -2, "more": 1, "zero": -4, "came": 0, "not there": 0, "swapped": 0})
    at = sums_at(Run.of_values(before), change)
    assert at is not None
    there = np.array([key not in ("went", "not there") for key in change.keys.to_list()])
    up, run = at.outcome(there)
    assert said(up) == {"went": (-2, -1), "more": (1, 0), "zero": (-4, 0), "came": (0, 1)}
    assert pairs(run) == {"more": 4, "zero": 0, "came": 0}
    assert run.to_bytes() == Run.of_values({"more": 4, "zero": 0, "came": 0}).to_bytes()


def test_a_node_in_which_two_keys_have_one_hash_is_left_to_others() -> None:
    assert sums_at(tied([5, 5], ["a", "b"], [1, 1]), delta({"a": 1})) is None


def test_a_change_of_another_key_with_the_same_hash_is_left_to_others() -> None:
    change = appeared(tied([5], ["b"], [1]))
    assert change is not None
    assert sums_at(tied([3, 5], ["x", "a"], [1, 1]), change) is None
    assert sums_at(tied([3, 5], ["x", "b"], [1, 1]), change) is not None


def test_sums_near_the_end_of_the_integers_are_left_to_others() -> None:
    assert sums_at(Run.of_values({"a": LIMIT}), delta({"a": LIMIT})) is not None
    assert sums_at(Run.of_values({"a": LIMIT + 1}), delta({"a": 1})) is None
    assert sums_at(Run.of_values({"a": 1}), delta({"a": -LIMIT - 1})) is None
