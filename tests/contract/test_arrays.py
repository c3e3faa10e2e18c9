"""Arrays of one type and shape are encoded together, to the bytes that each has by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.arrays import encoded_alike
from incoop.contraction.columns.column import Column
from incoop.contraction.columns.encoding import encode

kinds = st.sampled_from(["<f8", "<f4", "<i8", "u1", "?", "<c16"])
shapes = st.sampled_from([(1,), (3,), (50,), (2, 3), (1, 1, 2), (), (0,), (2, 0)])


@st.composite
def alike(draw: st.DrawFn) -> list[Any]:
    kind, shape = draw(kinds), draw(shapes)
    seeds = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
    return [(np.random.default_rng(seed).random(shape) * 9).astype(kind) for seed in seeds]


@given(values=alike(), other=st.none() | st.just("text") | st.just(np.arange(4)))
def test_a_column_of_arrays_has_the_bytes_and_values_of_each(values: list[Any], other: Any) -> None:
    values = values if other is None else [*values, other]
    column = Column.of(values)
    assert column.blob is not None and column.starts is not None
    assert column.blob.tobytes() == b"".join(map(encode, values))
    rows = np.arange(len(values))[::-1]
    for wanted, found in ((values, column.to_list()), (values[::-1], column.take(rows).to_list())):
        for one, same in zip(wanted, found, strict=True):
            assert type(one) is type(same) and encode(one) == encode(same)


def test_arrays_may_be_written_to_and_share_nothing() -> None:
    column = Column.of([np.zeros(60), np.zeros(60)])
    first, second = column.to_list()
    first += 1
    assert second.sum() == 0
    assert sum(array.sum() for array in column.to_list()) == 0


@pytest.mark.parametrize(
    "values",
    [[np.arange(3), np.arange(4)], [np.arange(3), np.arange(3.0)], [np.arange(6)[::2]] * 2, [np.array(["a"])], [[1]]],
    ids=["shapes", "types", "strides", "texts", "lists"],
)
def test_what_is_not_alike_is_encoded_one_by_one(values: list[Any]) -> None:
    assert encoded_alike(values) is None
