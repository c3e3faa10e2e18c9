"""Plain values are encoded by C code, all others as before: each comes back as it was, with the types that it had."""

from __future__ import annotations

import enum
import pickle
from array import array
from collections import OrderedDict, namedtuple
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.encoding import decode, encode
from incoop.contraction.columns.plain import plain_bytes, plain_rows, values_of_rows

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(),
    st.text(st.characters(), max_size=6),
    st.sampled_from(["", "a", "\ud800", "ß"]),
    st.binary(max_size=6),
)
KEYS = st.one_of(st.integers(), st.text(max_size=3), st.tuples(st.integers(), st.text(max_size=2)))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=20,
)

Point = namedtuple("Point", "x y")


class Level(enum.IntEnum):
    LOW = 1


class Text(str):
    pass


def told_apart(value: Any) -> str:
    """A text that tells values apart that Python calls equal, by types and signs."""
    if isinstance(value, dict):
        return f"{type(value)}{[(told_apart(key), told_apart(each)) for key, each in value.items()]}"
    if isinstance(value, list | tuple):
        return f"{type(value)}{[told_apart(each) for each in value]}"
    return f"{type(value)}{value!r}"


@given(VALUES)
def test_a_value_comes_back_with_its_types(value: Any) -> None:
    assert told_apart(decode(encode(value))) == told_apart(value)


@given(VALUES)
def test_bytes_do_not_tell_which_objects_are_shared(value: Any) -> None:
    apart = pickle.loads(pickle.dumps(value))  # shares nothing with the other, and strings are not interned
    assert encode(apart) == encode(value)
    both = [value, value, apart]
    assert encode(both) == encode([pickle.loads(pickle.dumps(value)) for _ in both])


CONTAINERS = st.one_of(
    st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4).map(tuple), st.dictionaries(KEYS, VALUES, max_size=3)
)


@given(st.lists(st.one_of(CONTAINERS, VALUES), max_size=5) | st.lists(CONTAINERS, max_size=6))
@example([["x" * size] for size in range(100, 150)])
@example([["x" * 127], ["x" * 16_360], ["x" * 16_400]])
@example([["x" * size] for size in range(16_360, 16_400, 3)])
@example([[1], []])
@example([])
def test_many_at_once_are_as_each_by_itself(values: list[Any]) -> None:
    rows = plain_rows(values)
    each = [encode(value) for value in values]
    assert rows is None or rows == each
    are_lists = all(type(value) is list and row[:1] == b"m" for value, row in zip(values, each, strict=True))
    assert rows is not None or not are_lists or max(map(len, each)) > 16_000, "they are not encoded one by one"
    starts = np.array([0, *accumulate(map(len, each))])
    found = values_of_rows(np.frombuffer(b"".join(each), np.uint8), starts)
    assert found is None or list(map(told_apart, found)) == list(map(told_apart, values))
    column = Column.of(values)
    assert list(map(told_apart, column.to_list())) == list(map(told_apart, values))


@given(VALUES, VALUES)
def test_other_values_have_other_bytes(one: Any, other: Any) -> None:
    assert (encode(one) == encode(other)) == (told_apart(one) == told_apart(other))


@pytest.mark.parametrize(
    "value",
    [
        np.int64(3),
        np.float64(0.5),
        np.str_("a"),
        np.arange(3),
        bytearray(b"abc"),
        array("i", [1, 2]),
        Point(1, 2),
        Level.LOW,
        Text("a"),
        OrderedDict(a=1),
        {1, 2},
        1j,
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize(
    "wrapped", [lambda value: [value], lambda value: ("a", (1, [value])), lambda value: {"k": value}]
)
def test_what_only_looks_plain_is_not_taken_for_it(wrapped: Any, value: Any) -> None:
    whole = wrapped(value)
    assert plain_bytes(whole) is None
    assert told_apart(decode(encode(whole))) == told_apart(whole)


def test_a_list_that_holds_itself_and_one_without_end() -> None:
    itself: list[Any] = [1]
    itself.append(itself)
    found = decode(encode(itself))
    for _ in range(100):
        one, found = found
        assert one == 1
    assert found[1] is found
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    found = decode(encode(deep))
    for _ in range(200):
        (found,) = found
    assert found == []
