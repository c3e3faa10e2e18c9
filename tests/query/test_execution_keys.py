"""Keys of groups: values that are one have one key, and only they; keys are read back; keys are of one type."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.keys import tells_apart
from incoop.query.execution.keys import KeyForm, Values
from incoop.query.execution.order_bytes import decoded, row_order
from incoop.query.execution.row_orders import in_order, row_orders
from incoop.query.order import Direction, bag_key, canonical, encoded, sort_key
from incoop.query.types import BYTES, INT, LONG, TEXT, Row

from .strategies import PLAIN, values_of
from .test_columns_mean_what_rows_mean import looks


@settings(max_examples=200)
@given(st.data())
def test_what_is_encoded_is_read_back(data: st.DataObject) -> None:
    value = data.draw(values_of(data.draw(st.sampled_from(PLAIN))))
    for each in (value, (value, None), [(value,)], {"k": value}):
        assert looks(decoded(encoded(each))) == looks(canonical(each))


@settings(max_examples=200)
@given(st.data())
def test_rows_are_ordered_by_bytes_as_by_value(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=2))
    rows = st.tuples(*(values_of(kind) for kind in kinds))
    one, other = data.draw(rows), data.draw(rows)
    assert (row_order(one) < row_order(other)) == (bag_key(one) < bag_key(other))
    assert (row_order(one) == row_order(other)) == (bag_key(one) == bag_key(other))


@settings(max_examples=100)
@given(st.data())
def test_many_rows_are_ordered_as_each_of_them_is(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from([*PLAIN, INT, TEXT, TEXT]), min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(*(values_of(kind) for kind in kinds)), max_size=8))
    rows = [tuple(0 if value is None else value for value in row) for row in rows] if data.draw(st.booleans()) else rows
    ways = [Direction(data.draw(st.booleans())) for _ in data.draw(st.lists(st.none(), max_size=2))]
    places = [data.draw(st.integers(0, len(kinds) - 1)) for _ in ways]
    keys = [[row[place] for row in rows] for place in places]
    names = [row_order(row, [row[place] for place in places], ways) for row in rows]
    assert row_orders(rows, keys, ways) == names
    found = in_order(rows, keys, ways)
    assert [looks(row) for row in found] == [looks(row) for _, row in sorted(zip(names, rows, strict=True), key=_name)]


def _name(named: tuple[bytes, Row]) -> bytes:
    return named[0]


@settings(max_examples=200)
@given(st.data())
def test_keys_tell_values_apart_and_give_them_back(data: st.DataObject) -> None:
    kinds = tuple(data.draw(st.lists(st.sampled_from(PLAIN), max_size=3)))
    row = st.tuples(*(values_of(kind) for kind in kinds))
    rows = [canonical(each) for each in data.draw(st.lists(row, min_size=1, max_size=4))]
    for form in (KeyForm(kinds), KeyForm(kinds, marked=True), KeyForm(None)):
        keys = form.keys(columns(rows, form))
        assert tells_apart(Column.of(keys)) or any(each == -(1 << 63) for row in rows for each in row)
        assert [looks(form.values(key)) for key in keys] == [looks(each) for each in rows]
        if form.types:
            assert [looks(each) for each in zip(*form.columns(keys), strict=True)] == [looks(each) for each in rows]
        assert len(set(keys)) == len({sort_key(each) for each in rows})


def columns(rows: list[Row], form: KeyForm) -> Values:
    if form.types is None:
        return Values([rows], len(rows))
    return Values([[row[at] for row in rows] for at in range(len(form.types))], len(rows))


def test_text_bytes_and_integers_that_look_like_a_mark_are_told_apart() -> None:
    found: list[tuple[object, ...]]
    for kind, found in (
        (LONG, [(None,), (-(1 << 63),), ((1 << 63) - 1,), (1 - (1 << 63),), (0,)]),
        (TEXT, [(None,), ("",), ("\0",), ("\0\0",), ("\0n",)]),
        (BYTES, [(None,), (b"",), (b"\0",), (b"\0n",), (b"\0b\0n",), (b"\0v",), (1,), (1.0,), (True,)]),
    ):
        form = KeyForm((kind,))
        keys = form.keys(columns(found, form))
        assert len(set(keys)) == len(found)
        assert [looks(form.values(key)) for key in keys] == [looks(row) for row in found]
