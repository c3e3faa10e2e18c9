"""Different keys with equal hashes, in updates: whatever is changed by hash is right for each of the keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incoop.contraction.columns.by_hash import changed_hashes, rows_with
from incoop.contraction.columns.keys import hash_of, hashes_of
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.splice import replaced_keys
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.sums import appeared, sums_at, together, vanished

from .test_contraction_laws import Version, check_history, histories, longest, total

#: Integers whose hashes differ in the bits alone that are not kept.
ALIKE = [
    [-1754237076698435574, -8023816403998008445, 4410875275077251615],
    [1800883160624040073, 2621466187140536673, -2366808599368531634],
    [6283855659380149233, 8336851924542046598, 6025964914654906660],
]
(A, B, C), (D, E, F), _ = ALIKE

keys = st.sampled_from([key for group in ALIKE for key in group] + list(range(12)))
chunks = st.dictionaries(keys, st.integers(1, 4), max_size=12)
signed = st.dictionaries(keys, st.integers(-3, 3), max_size=12)

#: Keys of other hashes, so that changes of two or three are few.
MANY: dict[Any, Any] = dict.fromkeys(range(40), 1)


def test_these_keys_have_equal_hashes() -> None:
    for group in ALIKE:
        assert len({hash_of(key) for key in group}) == 1
        assert len(set(hashes_of(group).tolist())) == 1


@pytest.mark.parametrize("function", [total, longest, None], ids=["sums", "calls", "not combined"])
@pytest.mark.parametrize("keys_per_block", [2, 512])
@settings(max_examples=40)
@given(history=histories(chunks) | histories(signed))
@example(history=[[{**MANY, A: 1}, {A: 2}], [{**MANY, A: 1}, {B: 2}]])  # one comes for the other
@example(history=[[{**MANY, A: 1, B: 2}, MANY], [{**MANY, A: 1, B: 3}, MANY]])  # both there, one changes
@example(history=[[{**MANY, A: 1}, MANY], [{**MANY, A: 1, B: 1}, MANY]])  # the second comes
@example(history=[[{**MANY, A: 1, B: 1, C: 1}, MANY], [{**MANY, B: 1}, MANY]])  # two of three go
@example(history=[[{**MANY, A: 1}, {B: 1}], [{**MANY, A: 2}, {B: 2}]])  # different children changed both
def test_updates_of_keys_with_equal_hashes_equal_those_from_scratch(
    function: Any, keys_per_block: int, history: list[Version]
) -> None:
    check_history(function, keys_per_block, history)


def test_amounts_of_different_keys_are_not_added_up() -> None:
    one, other = appeared(Run.of_values({A: 5, D: 1})), vanished(Run.of_values({B: 5}))
    assert one is not None and other is not None
    assert together([one, other]) is None
    same_key = vanished(Run.of_values({A: 2}))
    assert same_key is not None
    added = together([one, same_key])
    assert added is not None
    assert dict(zip(added.keys.to_list(), added.amounts.tolist(), strict=True)) == {A: 3, D: 1}


@pytest.mark.parametrize("node", [{A: 1, B: 1}, {B: 1}, {B: 1, D: 4}], ids=["both", "the other", "the other, and more"])
def test_a_sum_is_not_added_to_that_of_another_key(node: dict[int, int]) -> None:
    delta = appeared(Run.of_values({A: 5}))
    assert delta is not None
    assert sums_at(Run.of_values(node), delta) is None


def test_all_keys_of_a_changed_hash_are_found_and_replaced() -> None:
    run = Run.of_values({**MANY, A: 1, B: 2, D: 3})
    hashes = np.unique(hashes_of([A, D]))
    assert {key for key, _ in run.take(rows_with(run, hashes)).groups()} == {A, B, D}
    fresh = Run.of_values({B: 7, C: 8})
    assert replaced_keys(run, hashes, fresh).to_bytes() == Run.of_values({**MANY, B: 7, C: 8}).to_bytes()


@pytest.mark.parametrize(("alone", "shared"), [(A, B), (B, A)])
def test_keys_with_equal_hashes_stand_in_one_order_whichever_of_them_was_combined(alone: int, shared: int) -> None:
    runs = [Run.of_values({alone: 1, shared: 2}), Run.of_values({shared: 3})]
    assert Combiner.of(longest).combine(runs).to_bytes() == Run.of_values({alone: 1, shared: 3}).to_bytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [({A: 1}, {B: 1}), ({A: 1, B: 1}, {A: 1, C: 1}), ({A: 1, B: 2}, {A: 2, B: 1}), ({A: 1}, {A: 1, B: 1})],
    ids=["another key", "another second key", "values swapped", "one more"],
)
def test_a_hash_whose_keys_differ_has_changed(old: dict[int, int], new: dict[int, int]) -> None:
    found = changed_hashes(Run.of_values({**MANY, **old}), Run.of_values({**MANY, **new}))
    assert hash_of(A) in found.tolist()
    assert changed_hashes(Run.of_values(MANY), Run.of_values(MANY)).tolist() == []
