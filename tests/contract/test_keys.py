"""Hashes of keys, and when two rows hold the same key."""

from __future__ import annotations

import enum
import ipaddress
import math
import re
import uuid
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.keys import (
    HASH_BYTES,
    distinct,
    has_ties,
    hash_of,
    hashes_of,
    same_keys,
    tells_apart,
    tied_rows,
)
from incoop.contraction.columns.normal import name_of, normal

#: Hashes are part of every stored run: another one orphans them all, and comes with another ENCODING_VERSION.
GOLDEN: dict[Any, str] = {
    "": "2d06800538d3",
    "tree": "87cac43fdb47",
    0: "000000000000",
    1: "5692161d100b",
    -1: "b4d055fcf2cb",
    2**63: "0da21a23cd4a",
    0.5: "df36e8959ce7",
    math.nan: "4dbf121bf934",
    None: "9ae16a3b2f90",
    b"tree": "87cac43fdb47",
    (None, 1): "9127a0d02b88",
    ("tree", 1): "efaf6525cafb",
    ("a", "b", "c"): "67d840b95987",
}


class Colour(enum.Enum):
    RED = 1


class Bits(enum.Flag):
    LOW = 1


@dataclass(frozen=True)
class Tagged:
    name: str
    note: str = field(default="", compare=False)


#: The same for keys that are stored in a form of their own.
GOLDEN_FORMS: dict[str, tuple[Any, str]] = {
    "Colour.RED": (Colour.RED, "deb5165b06ff"),
    "Bits.LOW": (Bits.LOW, "aba837205508"),
    'Tagged("a")': (Tagged("a"), "c3dbf0364e15"),
    "uuid.UUID(int=7)": (uuid.UUID(int=7), "294e48eb364a"),
    'PurePosixPath("a/B")': (PurePosixPath("a/B"), "0f45b134bdb8"),
    'PureWindowsPath("a/B")': (PureWindowsPath("a/B"), "a4061038cb88"),
    'ipaddress.ip_address("10.0.0.1")': (ipaddress.ip_address("10.0.0.1"), "ea466e2de046"),
    'ipaddress.ip_address("::7")': (ipaddress.ip_address("::7"), "b69d587ad379"),
    'ipaddress.ip_network("10.0.0.0/8")': (ipaddress.ip_network("10.0.0.0/8"), "2e3388121195"),
    'ipaddress.ip_network("::/96")': (ipaddress.ip_network("::/96"), "9d6eff12381d"),
    'ipaddress.ip_interface("10.0.0.1/8")': (ipaddress.ip_interface("10.0.0.1/8"), "ee4cc266281a"),
    'ipaddress.ip_interface("::7/96")': (ipaddress.ip_interface("::7/96"), "0d5af7aa356a"),
    "UTC": (UTC, "bce17ec9c368"),
    're.compile("a", re.IGNORECASE)': (re.compile("a", re.IGNORECASE), "fd0b81a55856"),
    "range(1, 7, 2)": (range(1, 7, 2), "67f14a74b49c"),
    "range(1)": (range(1), "3a5934841df2"),
    "len": (len, "04baa833d8f5"),
    "date(2024, 5, 1)": (date(2024, 5, 1), "e26be2146b2b"),
    "datetime(2024, 5, 1, 12, tzinfo=UTC)": (datetime(2024, 5, 1, 12, tzinfo=UTC), "7f419d91ca39"),
    "time(12)": (time(12), "bfe5711b929a"),
    "timedelta(1)": (timedelta(1), "670b29ec8716"),
    "Fraction(1, 3)": (Fraction(1, 3), "8bacdb32c4b8"),
    "complex(1, 2)": (complex(1, 2), "de827db6aac7"),
    "frozenset({1, 2})": (frozenset({1, 2}), "4970d366d2fc"),
}

scalars = st.integers(-(2**70), 2**70) | st.text(max_size=4) | st.floats() | st.none() | st.booleans() | st.binary()
keys = scalars | st.tuples(scalars, scalars) | st.tuples(scalars) | st.tuples(scalars, scalars, scalars)


@pytest.mark.parametrize("key", GOLDEN, ids=repr)
def test_a_hash_is_what_it_always_was(key: Any) -> None:
    assert hash_of(key).to_bytes(8).hex() == GOLDEN[key] + "0000"
    assert hashes_of([key]).tolist() == [hash_of(key)]


@pytest.mark.parametrize("name", GOLDEN_FORMS)
def test_a_hash_of_a_special_key_is_what_it_always_was(name: str) -> None:
    key, hexadecimal = GOLDEN_FORMS[name]
    assert hash_of(key).to_bytes(8).hex() == hexadecimal + "0000"


def test_a_hash_has_six_bytes() -> None:
    assert HASH_BYTES == 6
    hashes = hashes_of(list(range(1000)))
    assert not (hashes & np.uint64(0xFFFF)).any()
    assert len(np.unique(hashes)) == 1000
    assert len(np.unique(hashes >> np.uint64(56))) > 240 and len(np.unique(hashes & np.uint64(0xFF0000))) > 240


@given(st.lists(keys, max_size=6) | st.lists(st.integers(-(2**70), 2**70)) | st.lists(st.text(max_size=3)))
def test_many_hashes_are_those_of_each_key(some: list[Any]) -> None:
    assert hashes_of(some).tolist() == list(map(hash_of, some))


@pytest.mark.parametrize(
    "some",
    [
        ["a", "\ud800"],
        [1, 2**63],
        [2**63 - 1, -(2**63)],
        [(1, "a"), (2, "b")],
        [(1, 2), (1, 2, 3)],
        [(), (1,)],
        [1, "a"],
    ],
    ids=repr,
)
def test_many_hashes_are_those_of_each_key_also_at_the_edges(some: list[Any]) -> None:
    assert hashes_of(some).tolist() == list(map(hash_of, some))


@pytest.mark.parametrize("edge", [2**63, -(2**63), 2**64, 2**70])
def test_integers_beyond_a_word_have_hashes_of_their_own(edge: int) -> None:
    near = [edge - 1, edge, edge + 1, edge - 2**64, edge + 2**64, 0]
    assert len(set(map(hash_of, near))) == len(set(near))


def test_keys_that_look_alike_have_different_hashes() -> None:
    some = [
        0,
        1,
        -1,
        "1",
        "",
        None,
        b"\1",
        0.5,
        "0.5",
        (1, 2),
        (2, 1),
        (1,),
        (1, 2, 3),
        ((1, 2), 3),
        (1, (2, 3)),
        math.nan,
    ]
    assert len(set(map(hash_of, some))) == len(some)


def test_keys_that_are_one_key_have_one_hash() -> None:
    for same in ([1, 1.0, True, Decimal(1)], [0.0, -0.0, 0], [math.nan, float("nan")], [2**70, float(2**70)]):
        assert len(set(map(hash_of, same))) == 1
    assert hash_of((1, 2)) == hash_of((1.0, Fraction(2)))
    assert hash_of((1, 2, 3)) == hash_of((True, 2.0, 3))


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        pytest.param([1, 2, True + 1, "a"], True, id="what a dict tells apart"),
        pytest.param([(1, "a"), (1, "b")], True, id="tuples of such"),
        pytest.param([math.nan, float("nan")], False, id="NaN twice"),
        pytest.param([(math.nan, 1), (float("nan"), 1)], False, id="NaN twice in tuples"),
        pytest.param([math.nan, 1.5], True, id="NaN once"),
        pytest.param([1.5, 2.5, 1], True, id="numbers"),
        pytest.param([], True, id="none"),
    ],
)
def test_only_nan_can_be_one_key_twice(some: list[Any], expected: bool) -> None:
    assert distinct(some) is expected


def test_keys_whose_hashes_are_equal_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incoop.contraction.columns.keys._full_hashes", lambda keys: np.zeros(len(keys), np.uint64))
    assert distinct([1.5, 2.5])
    assert not distinct([1.5, math.nan, float("nan")])


@pytest.mark.parametrize(
    ("column", "same", "other"),
    [
        pytest.param([1, 2, 1], (0, 2), (0, 1), id="integers"),
        pytest.param([0.0, 1.5, -0.0], (0, 2), (0, 1), id="numbers, by value"),
        pytest.param([math.nan, 1.5, math.nan], (0, 2), (1, 2), id="NaN is NaN, and no number"),
        pytest.param(["a", "b", "a"], (0, 2), (0, 1), id="text"),
        pytest.param([(1, "a"), (1, "b"), (1, "a")], (0, 2), (0, 1), id="pairs that differ in the second"),
        pytest.param([("a", 1), ("b", 1), ("a", 1)], (0, 2), (0, 1), id="pairs that differ in the first"),
        pytest.param([1, "a", True], (0, 2), (0, 1), id="mixed keys that look different"),
        pytest.param([(1, 2, 3), (1, 2, 4), (1.0, 2, 3)], (0, 2), (0, 1), id="long tuples"),
    ],
)
def test_rows_hold_the_same_key(column: list[Any], same: tuple[int, int], other: tuple[int, int]) -> None:
    here, there = np.array([same[0], other[0], 1]), np.array([same[1], other[1], 1])
    assert same_keys(Column.of(column), here, there).tolist() == [True, False, True]
    assert same_keys(Column.of(column), there, here).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        pytest.param(["a"], True, id="text"),
        pytest.param([b"a"], True, id="bytes"),
        pytest.param([1], True, id="integers"),
        pytest.param([None], True, id="nothing"),
        pytest.param([1.0], False, id="numbers: 0.0 is -0.0"),
        pytest.param([1, "a"], False, id="mixed keys: 1 is True"),
        pytest.param([("a", 1)], True, id="pairs of such"),
        pytest.param([("a", 1.0)], False, id="pairs with a number behind"),
        pytest.param([(1.0, "a")], False, id="pairs with a number before"),
    ],
)
def test_bytes_tell_keys_apart_where_equal_ones_have_one_form(some: list[Any], expected: bool) -> None:
    assert tells_apart(Column.of(some)) is expected


def test_ties_are_hashes_that_stand_twice() -> None:
    hashes = np.array([1, 3, 3, 3, 7, 9, 9], np.uint64)
    assert tied_rows(hashes).tolist() == [1, 2, 5]
    assert has_ties(hashes) and not has_ties(hashes[:2]) and not has_ties(hashes[:0])


def test_a_key_that_is_unfit_is_named_by_itself() -> None:
    assert name_of(1.0) == name_of(True) == encode(1)
    assert name_of([1, 2]) == encode([1, 2])


def test_a_negative_zero_is_zero_wherever_it_stands() -> None:
    for same in ([0.0, -0.0, 0], [complex(0.0, 1), complex(-0.0, 1)], [(0.0, 1.5), (-0.0, 1.5)]):
        assert len({encode(normal(key)) for key in same}) == 1


@pytest.mark.parametrize(
    ("key", "form"),
    [
        (Fraction(1, 3), Fraction(1, 3)),
        (Fraction(1, 4), 0.25),
        (Fraction(2**60 + 1, 2**60), Fraction(2**60 + 1, 2**60)),
        (Decimal("-Infinity"), -math.inf),
        (complex(1, 2), complex(1, 2)),
        (complex(0.5, 0), 0.5),
        (3.0, 3),
        (3.25, 3.25),
        (frozenset({1.0}), frozenset({1})),
    ],
    ids=repr,
)
def test_the_normal_form_is_the_plainest_equal_value(key: Any, form: Any) -> None:
    assert normal(key) == form
    assert type(normal(key)) is type(form)
    assert encode(normal(key)) == encode(form)
