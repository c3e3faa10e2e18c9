"""Runs cut apart, and put together again."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.run import Run, join

GROUPS = st.dictionaries(st.text(max_size=3), st.lists(st.integers() | st.text(max_size=2), min_size=1, max_size=3))


@given(GROUPS, st.lists(st.integers(0, 20), max_size=4))
def test_slices_of_a_run_join_to_the_run(groups: dict[str, list[object]], cuts: list[int]) -> None:
    run = Run.of_groups(groups)
    bounds = [0, *sorted(min(cut, len(run)) for cut in cuts), len(run)]
    slices = [run.slice(low, high) for low, high in itertools.pairwise(bounds)]
    assert join(slices).to_bytes() == run.to_bytes()
