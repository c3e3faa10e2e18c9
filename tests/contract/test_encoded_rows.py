"""Values of a column, encoded all at once, are what each is by itself."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.encoded_rows import encoded_rows
from incoop.contraction.columns.encoding import encode

#: Where one byte more is needed, and on both sides of it; the smallest number needs nine.
EDGES = [sign * (1 << bits) + step for bits in range(64) for sign in (1, -1) for step in (-1, 0, 1)]
NUMBERS = [number for number in EDGES if -(1 << 63) <= number < 1 << 63]

#: Where a length takes one byte more.
LENGTHS = [0, 1, 127, 128, 16383, 16384]

plain = [
    st.text(max_size=5) | st.sampled_from(["é" * length for length in LENGTHS]),
    st.binary(max_size=5) | st.sampled_from([bytes(length) for length in LENGTHS]),
    st.sampled_from(NUMBERS) | st.integers(),
    st.floats(),
    st.none(),
]
values = st.recursive(st.one_of(plain), lambda inner: st.tuples(inner, inner) | st.lists(inner, max_size=3))
#: Columns of one kind, of pairs of kinds, of pairs within pairs, and of what comes.
columns = st.one_of(
    *(st.lists(kind, max_size=6) for kind in plain),
    *(st.lists(st.tuples(one, other), max_size=6) for one in plain for other in plain),
    st.lists(st.tuples(plain[0], st.tuples(plain[2], plain[3])), max_size=6),
    st.lists(st.tuples(values, values), max_size=6),
    st.lists(values, max_size=6),
)


def rows(column: Column) -> list[bytes]:
    blob, starts = encoded_rows(column)
    assert len(starts) == len(column) + 1 and starts[-1] == len(blob)
    return [blob[low:high].tobytes() for low, high in pairwise(starts.tolist())]


@given(columns)
@example(NUMBERS)
@example([("x" * length, number) for length in LENGTHS for number in NUMBERS])
@example([("a", np.arange(3)), ("b", np.arange(3, 6))])
def test_each_row_is_the_encoded_value(given: list[Any]) -> None:
    assert rows(Column.of(given)) == [encode(value) for value in given]


@given(st.lists(st.tuples(plain[0], plain[2]), min_size=3, max_size=8))
def test_a_value_has_the_same_bytes_whatever_stands_beside_it(given: list[Any]) -> None:
    """One value of another type makes a column of encoded values; so do slices, and columns put together."""
    alone = rows(Column.of(given))
    assert rows(Column.of([*given, ("odd", None)]))[:-1] == alone
    assert rows(Column.of(given).slice(1, 3)) == alone[1:3]
    assert rows(Column.of(given).take(np.arange(len(given))[::-1])) == alone[::-1]
