"""Values count by content: properties over random values, and types with rules of their own."""

# ruff: noqa: E501 -- the table of distinct values
from __future__ import annotations

import copy
import dataclasses
import datetime
import enum
import pickle
import random
import re
import sys
import threading
import time
from collections import OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.core.broadcast import Broadcast

from incoop.fingerprint import CannotFingerprint, fingerprint
from incoop.fingerprint.api import FORMAT_VERSION
from incoop.fingerprint.tokens import LARGE_LENGTH, large_token, plain_token


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.sampled_from(list(Colour))
)
keys = st.booleans() | st.integers(-3, 3) | st.text(max_size=3) | st.tuples(st.integers(0, 3), st.text(max_size=1))
nested = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
        | st.tuples(inner, inner)
        | st.builds(Point, inner, inner)
        | st.builds(Slotted, inner)
    ),
    max_leaves=25,
)


def _marked(value: Any) -> Any:
    """Return a text in which unequal values differ, types included; the slow and obvious answer to compare with."""
    if isinstance(value, dict):
        return ("dict", [(_marked(k), _marked(v)) for k, v in value.items()])
    if isinstance(value, set | frozenset):
        return (type(value).__name__, sorted(repr(_marked(v)) for v in value))
    if isinstance(value, list | tuple):
        return (type(value).__name__, [_marked(v) for v in value])
    if isinstance(value, Point):
        return ("Point", _marked(value.x), _marked(value.y))
    if isinstance(value, Slotted):
        return ("Slotted", _marked(value.a))
    return (type(value).__name__, repr(value))


@given(nested, nested)
def test_fingerprints_are_equal_exactly_when_contents_are(one: Any, other: Any) -> None:
    assert (fingerprint(one) == fingerprint(other)) is (repr(_marked(one)) == repr(_marked(other)))


@given(nested)
def test_a_copy_has_the_same_fingerprint(value: Any) -> None:
    assert fingerprint(copy.deepcopy(value)) == fingerprint(value)
    assert fingerprint(pickle.loads(pickle.dumps(value))) == fingerprint(value)


@given(st.dictionaries(keys, nested), st.randoms())
def test_the_order_of_a_dict_counts(value: dict[Any, Any], rng: random.Random) -> None:
    pairs = list(value.items())
    rng.shuffle(pairs)
    assert (fingerprint(dict(pairs)) == fingerprint(value)) is (list(dict(pairs)) == list(value))
    assert fingerprint(dict(value.items())) == fingerprint(value)


@given(st.lists(nested, min_size=1), st.data())
def test_a_change_deep_inside_changes_the_fingerprint(value: list[Any], data: st.DataObject) -> None:
    before = fingerprint(value)
    target: Any = value
    while True:
        if isinstance(target, Point):
            place, inner = "x", target.x
        elif isinstance(target, list) and target:
            place = data.draw(st.integers(0, len(target) - 1))
            inner = target[place]
        elif isinstance(target, dict) and target:
            place = data.draw(st.sampled_from(sorted(target, key=repr)))
            inner = target[place]
        if isinstance(inner, Point) or (isinstance(inner, list | dict) and inner):
            target = inner
            continue
        changed = ("changed", copy.deepcopy(inner))
        if isinstance(target, Point):
            target.x = changed
        else:
            target[place] = changed
        break
    assert fingerprint(value) != before


@given(st.lists(st.integers(0, 30), min_size=2, max_size=30), st.integers(0, 29), st.integers(0, 29))
def test_a_graph_has_one_fingerprint_however_its_equal_parts_are_shared(edges: list[int], a: int, b: int) -> None:
    """Cells that point to each other at random; unrolling one step of a cycle cannot be seen by walking it."""
    cells: list[list[Any]] = [[index % 2] for index in range(len(edges))]
    for cell, target in zip(cells, edges, strict=True):
        cell.append(cells[target % len(cells)])
    cell = cells[a % len(cells)]
    assert fingerprint(list(cell)) == fingerprint(cell)
    order = [fingerprint(cells[b % len(cells)]), fingerprint(cell)]
    assert order == [fingerprint(cells[b % len(cells)]), fingerprint(cell)]


def test_a_long_chain_of_equal_nodes_that_points_back_ends_and_sees_its_last_node() -> None:
    def chain(last: int) -> list[Any]:
        first: list[Any] = [0]
        node = first
        for _ in range(3000):
            following: list[Any] = [0, node]
            node.append(following)
            node = following
        node[0] = last
        return first

    assert fingerprint(chain(1)) == fingerprint(chain(1))
    assert fingerprint(chain(1)) != fingerprint(chain(2))


def test_deep_nesting_and_heavy_sharing_end() -> None:
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    shared: list[Any] = []
    for _ in range(200):
        shared = [shared, shared]
    assert fingerprint(deep) != fingerprint(shared)


DISTINCT = [
    0, False, 0.0, -0.0, 0j, "", b"", bytearray(), (), [], {}, set(), frozenset(), None, ..., NotImplemented,
    1, True, 1.0, "1", b"1", Decimal("1"), Decimal("1.0"), Fraction(1), float("nan"), float("inf"), 10**5000, -(10**5000),
    range(1), range(0), slice(1), re.compile("a"), re.compile(b"a"), re.compile("a", re.I), PurePosixPath("a"), "a", "\ud800",
    datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), datetime.timedelta(1), Colour.RED, Colour.GREEN, Colour,
    Point(1), Point(1, 1), (1, 0), [1, 0], Slotted(1), OrderedDict(a=1), {"a": 1}, defaultdict(int, a=1), deque([1]), [1],
    deque([1], maxlen=3), np.int64(1), np.int32(1), np.float64(1), np.zeros(0), np.zeros((0, 2)), np.array(1), np.array([1]),
    np.array(["a"]), np.array(["a"], object), np.array([b"a"]), np.array([(1, 2)], [("a", "i4"), ("b", "i4")]),
    np.array([(1, 2)], [("a", "i4"), ("c", "i4")]), np.datetime64("2020"), np.array(["a"], np.dtypes.StringDType()),
    np.ma.masked_array([1], [True]), np.ma.masked_array([1], [False]), memoryview(b"a"), {"a": 1}.keys(), int, float, Point,
    len, str.upper, "a".upper, "b".upper, [[]], [[[]]], [None], "x" * 5000, "x" * 5001, b"x" * 5000, list[int], int | str,
]  # fmt: skip


def test_unlike_values_of_many_types_all_differ() -> None:
    seen = {fingerprint(value): value for value in DISTINCT}
    assert len(seen) == len(DISTINCT)
    assert [fingerprint(value) for value in DISTINCT] == [fingerprint(value) for value in DISTINCT]


def test_an_array_of_any_layout_counts_by_its_content() -> None:
    array = np.arange(24.0).reshape(4, 6)
    assert fingerprint(array) == fingerprint(np.asfortranarray(array)) == fingerprint(np.repeat(array, 2, 1)[:, ::2])
    assert fingerprint(array) != fingerprint(array.astype(">f8").view("<f8"))


def test_a_broadcast_counts_by_its_value(tmp_path: Path) -> None:
    def broadcast(name: str, value: Any) -> Broadcast[Any]:
        (tmp_path / name).write_bytes(pickle.dumps(value))
        return Broadcast(path=str(tmp_path / name))

    first = broadcast("a", {"stop": {"the", "a"}})
    assert fingerprint(first) == fingerprint(broadcast("b", {"stop": {"a", "the"}}))
    assert fingerprint(first) != fingerprint(broadcast("c", {"stop": {"the"}}))


def _generator() -> Any:
    yield 1


@pytest.mark.parametrize(
    "handle",
    [threading.Lock, lambda: sys.__stderr__, _generator, lambda: threading.local()],
    ids=["lock", "stream", "generator", "thread local"],
)
def test_what_has_no_content_is_an_error(handle: Any) -> None:
    with pytest.raises(CannotFingerprint):
        fingerprint([handle()])


class _Stated:
    """Says itself what counts of it."""

    def __init__(self, content: Any, folder: str) -> None:
        self.content, self.folder, self.handle = content, folder, threading.Lock()

    def __incoop_identity__(self) -> Any:
        return self.content


def test_an_object_that_states_its_content_counts_by_that() -> None:
    one = fingerprint(_Stated(["a", {1: 2}], "/tmp/x"))
    assert one == fingerprint(_Stated(["a", {1: 2}], "/tmp/y"))
    assert one != fingerprint(_Stated(["a", {1: 3}], "/tmp/x"))
    assert one != fingerprint(["a", {1: 2}])


def test_a_million_small_elements_take_a_few_seconds() -> None:
    big = {"ints": list(range(400_000)), "words": {str(i): i for i in range(200_000)}, "floats": [0.5] * 200_000}
    start = time.process_time()
    fingerprint(big)
    assert time.process_time() - start < 3.0


def test_a_large_array_is_hashed_at_memory_speed() -> None:
    array = np.zeros(25_000_000)  # 200 MB
    start = time.process_time()
    fingerprint(array)
    assert time.process_time() - start < 1.0


def test_the_format_of_values_is_pinned() -> None:
    """A changed row orphans every stored memo, so it comes with a raised FORMAT_VERSION."""
    value = {"a": [1, 2.5, None, b"x"], (True, -0.0): frozenset({"y", 3})}
    assert (FORMAT_VERSION, plain_token(value, {}).hex()) == (3, "6ed11da87b9cf420acc4eb182f0d7acc16")


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param(lambda n: {f"name {i}": i for i in range(n)}, id="a dict"),
        pytest.param(lambda n: [float(i) for i in range(n)], id="floats"),
        pytest.param(lambda n: {str(i) for i in range(n)}, id="a set"),
        pytest.param(lambda n: [[i, None, True] for i in range(n)], id="rows"),
        pytest.param(lambda n: [complex(i) for i in range(n)], id="complex numbers"),
    ],
)
def test_a_large_container_has_the_token_that_its_content_has_however_often_it_is_asked(entries: Any) -> None:
    n = 2 * LARGE_LENGTH
    once = fingerprint(partial(len, entries(n)))
    assert fingerprint(partial(len, entries(n))) == once
    assert fingerprint(partial(len, entries(n + 1))) != once
    assert large_token(entries(n), {}) == plain_token(entries(n), {})


def test_large_containers_of_look_alikes_differ() -> None:
    n = LARGE_LENGTH
    alike: list[Any] = [
        [1] * n,
        [True] * n,
        [1.0] * n,
        [b"a"] * n,
        [bytearray(b"a")] * n,
        ["a"] * n,
        [0.0] * n,
        [-0.0] * n,
    ]
    tokens = {large_token(each, {}) for each in [*alike, *alike, tuple([1] * n)]}
    assert len(tokens) == len(alike) + 1


def test_a_large_container_that_is_changed_in_place_has_another_token() -> None:
    table = {str(number): number for number in range(LARGE_LENGTH)}
    before = fingerprint(partial(len, table))
    table["0"] = 1
    assert fingerprint(partial(len, table)) != before
