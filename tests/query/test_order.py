"""The order of values: total, the same as Python keys and as bytes, of kinds that Python confuses."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.query.order import (
    Direction,
    canonical,
    canonical_bag,
    encoded,
    encoded_keys,
    microseconds,
    moment_of,
    sort_key,
    unique,
)

from .strategies import ANY_VALUE, DATETIMES, DECIMALS, DOUBLES
from .test_columns_mean_what_rows_mean import looks

SETTINGS = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
BIG = st.integers(-(2**900), 2**900)


@SETTINGS
@given(ANY_VALUE | BIG | DOUBLES | DECIMALS, ANY_VALUE | BIG | DOUBLES | DECIMALS)
def test_bytes_are_ordered_as_values_are(one: object, other: object) -> None:
    mine, its = encoded(one), encoded(other)
    assert (mine < its) == (sort_key(one) < sort_key(other))
    assert (mine == its) == (sort_key(one) == sort_key(other))
    assert mine == its or not its.startswith(mine)
    assert encoded(canonical(one)) == mine
    assert pickle.dumps(canonical(one)) == pickle.dumps(canonical(canonical(one)))


@SETTINGS
@given(st.lists(st.tuples(ANY_VALUE, ANY_VALUE), max_size=5), st.lists(st.booleans(), min_size=4, max_size=4))
def test_several_keys_are_ordered_each_in_its_direction(rows: list[tuple[object, object]], says: list[bool]) -> None:
    directions = (Direction(says[0], says[1]), Direction(says[2], None))
    found = sorted(rows, key=lambda row: encoded_keys(row, directions))
    expected = list(rows)
    for at, nulls_first in ((1, not says[2]), (0, says[1])):  # the last key first: sorts are stable
        nulls = [row for row in expected if row[at] is None]
        there = [row for row in expected if row[at] is not None]
        there.sort(key=lambda row: sort_key(row[at]), reverse=directions[at].descending)
        expected = nulls + there if nulls_first else there + nulls
    assert [encoded_keys(row, directions) for row in found] == [encoded_keys(row, directions) for row in expected]


@SETTINGS
@given(st.lists(st.tuples(ANY_VALUE), max_size=5), st.randoms())
def test_a_bag_has_one_order(rows: list[tuple[object]], rng: object) -> None:
    shuffled = list(rows)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert looks(canonical_bag(shuffled)) == looks(canonical_bag(rows))


def test_kinds_that_python_confuses_are_apart_and_zeros_are_one() -> None:
    assert unique([1, 1.0, True, Decimal(1)]) == [1, 1.0, True, Decimal(1)]
    assert len(unique([0.0, -0.0])) == 1
    assert len(unique([math.nan, -math.nan, float("nan")])) == 1
    assert math.copysign(1, canonical(-0.0)) == 1


@given(DATETIMES)
def test_a_moment_is_its_microseconds(moment: object) -> None:
    assert moment_of(microseconds(moment)) == moment  # type: ignore[arg-type]
