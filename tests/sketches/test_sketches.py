"""Sketches merge canonically: any order, any split, any tree gives equal bytes; and they are as near as they say."""

from __future__ import annotations

import math
import pickle
import random
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop import BadCall
from incoop.contraction.columns.encoding import decode, encode
from incoop.sketches import Distinct, Quantiles
from incoop.sketches.quantiles import RELATIVE_ERROR

#: Text of which few registers are filled, and numbers that fill so many that all registers are kept.
DISTINCT_VALUES = st.lists(st.text(max_size=3) | st.integers(), max_size=50) | st.integers(1, 6000).map(
    lambda count: [*range(count)]
)
NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6), max_size=50)
KINDS = st.sampled_from([Distinct, Quantiles])


def values_of(kind: type) -> st.SearchStrategy[list[Any]]:
    return DISTINCT_VALUES if kind is Distinct else NUMBERS


def merged_by_a_tree(kind: Any, values: list[Any], rng: random.Random) -> Any:
    """Sketches of pieces, merged with each other in a random tree."""
    rng.shuffle(values)
    cuts = sorted(rng.randrange(len(values) + 1) for _ in range(rng.randrange(8)))
    waiting = [kind(values[low:high]) for low, high in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    while len(waiting) > 1:
        rng.shuffle(waiting)
        some = rng.randrange(1, len(waiting) + 1)
        waiting = [kind.merged(waiting[:some]), *waiting[some:]]
    return waiting[0]


@given(st.data(), KINDS, st.randoms(use_true_random=False))
def test_any_order_any_split_and_any_tree_give_equal_bytes(data: st.DataObject, kind: Any, rng: random.Random) -> None:
    values = data.draw(values_of(kind))
    whole = kind(values)
    other = merged_by_a_tree(kind, [*values], rng)
    assert bytes(other) == bytes(whole)
    assert (other, hash(other)) == (whole, hash(whole))
    assert encode(other) == encode(whole)
    assert pickle.dumps(other) == pickle.dumps(whole)


@given(st.data(), KINDS)
def test_a_sketch_comes_back_from_the_store_as_it_was(data: st.DataObject, kind: Any) -> None:
    sketch = kind(data.draw(values_of(kind)))
    for again in (decode(encode(sketch)), pickle.loads(pickle.dumps(sketch))):
        assert type(again) is kind and again == sketch
        assert kind.merged([again, again, kind()]) == kind.merged([sketch, sketch])


@given(st.data(), KINDS)
def test_merging_leaves_sketches_as_they_were(data: st.DataObject, kind: Any) -> None:
    one, other = kind(data.draw(values_of(kind))), kind(data.draw(values_of(kind)))
    before = bytes(one), bytes(other)
    assert one | other == other | one == kind.merged(iter([one, other]))
    assert (bytes(one), bytes(other)) == before


@pytest.mark.parametrize("kind", [Distinct, Quantiles])
def test_a_sketch_of_nothing_changes_nothing(kind: Any) -> None:
    some = kind([1, 2])
    assert kind.merged([]) == kind()
    assert some | kind() == some
    assert bytes(kind()) == b""
    assert kind([1]) != kind([2])
    assert kind([1]) != [1]


@pytest.mark.parametrize("count", [0, 1, 2, 10, 100, 1_000, 3_000, 10_000, 100_000])
@pytest.mark.parametrize("precision", [8, 12, 14])
def test_so_many_different_values_are_counted_to_within_the_error(count: int, precision: int) -> None:
    """Estimates of several sets: their errors have the deviation that is promised, and no bias."""
    sets = 4
    error = 1.04 / math.sqrt(1 << precision)
    found = [Distinct((f"{which} {number}" for number in range(count)), precision) for which in range(sets)]
    estimates = [sketch.count() for sketch in found]
    assert all(abs(estimate - count) <= 4 * error * count + 0.5 for estimate in estimates)
    assert abs(sum(estimates) / sets - count) <= 4 * error / math.sqrt(sets) * count + 0.5
    assert all(len(bytes(sketch)) <= 1 << precision for sketch in found)
    again = Distinct([f"0 {number}" for number in range(count)] * 2, precision)
    assert again == found[0]  # what came twice counts once


def test_values_of_different_types_are_different() -> None:
    values = ["1", 1, 1.5, b"1", ("1",), None, "\udcff", ("a", 1)]
    assert Distinct(values).count() == len(values)


def test_the_bytes_are_the_same_in_every_process() -> None:
    assert bytes(Distinct(["visitor", 7])).hex() == GOLDEN
    entry = struct.Struct("<iQ")
    assert bytes(Quantiles([-1, 1, 1, 1.01, 2])) == entry.pack(-65473, 1) + entry.pack(65472, 3) + entry.pack(65536, 1)


#: A changed one makes sketches of earlier runs count the same values again: they are computed anew, since code counts.
GOLDEN = "d20001830104"


@given(NUMBERS.filter(bool), st.floats(0, 1))
def test_a_quantile_is_as_near_as_it_says(numbers: list[float], share: float) -> None:
    sketch = Quantiles(numbers)
    assert sketch.count == len(numbers) and RELATIVE_ERROR < 0.008
    exact = float(sorted(numbers)[int(share * (len(numbers) - 1))])
    # Below the smallest normal number floats themselves are that coarse.
    assert abs(sketch.quantile(share) - exact) <= RELATIVE_ERROR * abs(exact) + 1e-300


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_latencies_as_they_are(scale: float) -> None:
    rng = random.Random(7)
    numbers = [rng.lognormvariate(0, 1.5) * scale for _ in range(20_000)]
    sketch, exact = Quantiles(numbers), sorted(numbers)
    for share in (0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1):
        wanted = exact[int(share * 19_999)]
        assert abs(sketch.quantile(share) - wanted) <= RELATIVE_ERROR * wanted
    assert len(bytes(sketch)) < 12_000


def test_zero_is_zero_and_numbers_of_any_kind_are_numbers() -> None:
    assert Quantiles([0.0, -0.0, 0]).quantile(0.5) == 0.0
    assert Quantiles([0.0]) == Quantiles([-0.0])
    assert Quantiles([True, Decimal(1), Fraction(1), np.float32(1), np.int8(1), 1]) == Quantiles([1.0] * 6)


BAD: dict[str, Callable[[], Any]] = {
    "NaN": lambda: Quantiles([math.nan]),
    "an infinity": lambda: Quantiles([1, -math.inf]),
    "text": lambda: Quantiles(["1.5"]),
    "one text": lambda: Quantiles("15"),
    "nothing": lambda: Quantiles([None]),
    "too large": lambda: Quantiles([10**400]),
    "a quantile of nothing": lambda: Quantiles().quantile(0.5),
    "a share in percent": lambda: Quantiles([1]).quantile(99),
    "one text to count": lambda: Distinct("visitor"),
    "few registers": lambda: Distinct([], precision=3),
    "many registers": lambda: Distinct([], precision=17),
    "two precisions": lambda: Distinct([1], precision=8) | Distinct([1]),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD.keys())
def test_a_wrong_call_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(BadCall):
        call()
