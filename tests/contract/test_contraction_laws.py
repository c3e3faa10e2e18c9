"""The contraction tree's law: an updated tree equals one built from scratch, to the byte."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import incoop.contraction.parts.write as write_module
from incoop.contraction.columns.column import Column, equal_rows
from incoop.contraction.columns.encoding import decode, encode
from incoop.contraction.columns.keys import hash_of, hashes_of
from incoop.contraction.columns.run import Run, merge
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rows import SHARD_ROW
from incoop.contraction.parts.write import write_part
from incoop.contraction.tree.alignment import replaced
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.node import NodeTask, ShardContraction
from incoop.contraction.tree.node_of_shards import contract_node
from incoop.contraction.tree.shape import levels
from tests.quick import some_turn_takes_less


def total(key: Any, values: Any) -> Any:
    yield key, sum(values)


def longest(key: Any, values: Any) -> Any:
    """Depends on the order of values, and is no recognised fold."""
    yield key, max(values, key=lambda value: (abs(value), value))


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats()
    | st.text(max_size=6)
    | st.binary(max_size=6)
)
any_keys = st.recursive(scalars, lambda inner: st.tuples(inner, inner) | st.tuples(inner, inner, inner), max_leaves=5)
any_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


#: Long and short values side by side, some of them equal.
long_values = st.lists(
    st.tuples(st.binary(max_size=2), st.sampled_from([1, 90, 400])).map(lambda made: made[0] * made[1])
)


def same(one: Any, other: Any) -> bool:
    return encode(one) == encode(other)


@given(any_values | any_keys)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    back = decode(encode(value))
    assert type(back) is type(value)
    assert same(back, value)


@given(
    arrays(
        st.sampled_from(["?", "i1", "<i4", ">i4", "u8", "f4", "f8", "c16", "U3"]), array_shapes(min_dims=0, min_side=0)
    ),
    st.booleans(),
)
def test_an_array_comes_back_as_it_was(array: Any, by_columns: bool) -> None:
    value = np.asfortranarray(array) if by_columns else array
    back = decode(encode(value))
    native = value.astype(value.dtype.newbyteorder("="))  # which numpy's own pickles make of it, too
    assert (back.dtype, back.shape, back.tobytes()) == (native.dtype, native.shape, native.tobytes())
    assert back.flags.writeable
    assert encode(back) == encode(native)


@given(st.lists(any_values))
def test_a_column_gives_its_values_back(values: list[Any]) -> None:
    assert same(Column.of(values).to_list(), values)


@given(st.lists(any_values) | long_values, st.data())
def test_a_cut_column_is_the_column_of_the_cut_values(values: list[Any], data: st.DataObject) -> None:
    from incoop.contraction.columns.column_bytes import write_column

    def written(column: Column) -> bytes:
        out: list[bytes] = []
        write_column(column, out)
        return b"".join(out)

    low = data.draw(st.integers(0, len(values)))
    high = data.draw(st.integers(low, len(values)))
    rows = data.draw(st.lists(st.integers(0, len(values) - 1))) if values else []
    column = Column.of(values)
    assert written(column.slice(low, high)) == written(Column.of(values[low:high]))
    assert written(column.take(np.array(rows, np.intp))) == written(Column.of([values[row] for row in rows]))


@given(st.lists(any_values) | long_values, st.data())
def test_rows_are_equal_where_their_values_are(values: list[Any], data: st.DataObject) -> None:
    rows = st.lists(st.tuples(*[st.integers(0, len(values) - 1)] * 2)) if values else st.just([])
    pairs = np.array(data.draw(rows), np.intp).reshape(-1, 2)
    found = equal_rows(Column.of(values), pairs[:, 0], pairs[:, 1])
    assert found.tolist() == [same(values[one], values[other]) for one, other in pairs.tolist()]


@given(st.lists(any_keys))
def test_hashing_many_keys_equals_hashing_one_by_one(keys: list[Any]) -> None:
    assert hashes_of(keys).tolist() == [hash_of(key) for key in keys]


@given(st.integers(-(2**53), 2**53))
def test_equal_numbers_are_one_key(number: int) -> None:
    assert hash_of(number) == hash_of(float(number))
    assert hash_of((number, "a")) == hash_of((float(number), "a"))


class Shade(str, Enum):  # noqa: UP042 - its str() is not its value
    DARK = "dark"


class Level(IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: float
    y: float


NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param((1, 1.0, True, Level.LOW, np.int64(1), np.float64(1), Decimal(1), Fraction(1), 1 + 0j), id="one"),
        pytest.param((0.5, Fraction(1, 2), Decimal("0.50"), np.float32(0.5)), id="a half"),
        pytest.param((Fraction(1, 10), Decimal("0.1"), Decimal("0.10")), id="a tenth, which no float is"),
        pytest.param((2**70, 2.0**70, Fraction(2**70)), id="more than 64 bits"),
        pytest.param((0, 0.0, -0.0, False, -0.0 + 0j, Decimal("-0")), id="zero"),
        pytest.param((math.inf, Decimal("inf")), id="infinity"),
        pytest.param((math.nan, -math.nan, float("nan"), np.float64("nan"), Decimal("nan")), id="nan"),
        pytest.param(("dark", Shade.DARK, np.str_("dark")), id="text"),
        pytest.param(((1, 2.5), Point(1, 2.5), Point(True, 2.5)), id="a named tuple"),
        pytest.param(((1, (2, math.nan)), (1.0, (Level(1) + 1, float("nan")))), id="a nested tuple"),
        pytest.param((frozenset({1, 2}), frozenset({True, 2.0})), id="a set"),
        pytest.param((NOON, NOON.astimezone(timezone(timedelta(hours=5)))), id="a moment"),
    ],
)
def test_equal_keys_are_one_key_whatever_their_types(keys: tuple[Any, ...]) -> None:
    assert len({hash_of(key) for key in keys}) == 1
    merged, shared = merge([Run.of_values({key: at}) for at, key in enumerate(keys)])
    assert [values for _, values in merged.groups()] == [list(range(len(keys)))]
    assert shared.all()


def test_unequal_keys_of_related_types_are_told_apart() -> None:
    keys = ["1", b"1", 1, (1,), None, "None", 1.5, (1, 1), (1, (1,)), frozenset({1}), 1j, Fraction(1, 3), NOON, ()]
    run = Run.of_values(dict.fromkeys(keys, 0))
    assert len(run) == len(keys)
    assert len(merge([run, run])[0]) == len(keys)


def test_a_dict_with_several_nans_makes_a_run_with_one() -> None:
    nans = [float("nan") for _ in range(3)]
    assert [values for _, values in Run.of_values({nan: at for at, nan in enumerate(nans)}).groups()] == [[0, 1, 2]]
    groups = {(nan, "a"): [at, at] for at, nan in enumerate(nans)} | {("b", 1): [7]}
    found = {str(key): values for key, values in Run.of_groups(groups).groups()}
    assert found == {"(nan, 'a')": [0, 0, 1, 1, 2, 2], "('b', 1)": [7]}


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: (inner,), lambda inner: {"a": inner}])
def test_deep_values_come_back(wrap: Any) -> None:
    deep: Any = 1
    for _ in range(400):
        deep = wrap(deep)
    assert decode(encode(deep)) == deep
    assert Column.of([deep, deep]).to_list() == [deep, deep]


def test_a_value_that_contains_itself_comes_back() -> None:
    knot: list[Any] = [1]
    knot.append(knot)
    back = decode(encode(knot))
    for _ in range(200):
        assert back[0] == 1 and len(back) == 2
        back = back[1]


@given(st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=90), st.lists(st.sampled_from([b"a", b"b"]), max_size=90))
def test_stretches_that_differ_put_one_list_in_place_of_the_other(old: list[bytes], new: list[bytes]) -> None:
    left, at = list(old), 0
    for gone, come in replaced(tuple(old), tuple(new)):
        while tuple(left[at : at + len(gone)]) != gone:
            at += 1
        left[at : at + len(gone)] = come
        at += len(come)
    # The stretches are in order, and between them nothing changes: what they leave has the length of the new list.
    assert len(left) == len(new)


def test_aligning_many_equal_children_takes_no_time() -> None:
    same_chunks = (b"same",) * 20_000
    old, new = (b"x", *same_chunks, b"y"), (b"z", *same_chunks, b"same", b"w")
    assert replaced(old, new)
    assert some_turn_takes_less(1, lambda: replaced(old, new))


@given(st.lists(st.tuples(any_keys, any_values)))
def test_a_run_groups_pairs_as_a_dict_does(pairs: list[tuple[Any, Any]]) -> None:
    merged, _ = merge([Run.of_values({key: value}) for key, value in pairs])
    expected: dict[int | bytes, list[Any]] = defaultdict(list)
    for key, value in pairs:
        from incoop.contraction.columns.normal import normal

        expected[encode(normal(key))].append(value)
    found = {encode(normal(key)): values for key, values in merged.groups()}
    assert same({k: found[k] for k in sorted(found)}, {k: expected[k] for k in sorted(expected)})


@given(st.lists(st.tuples(any_keys, any_values)))
def test_a_run_comes_back_from_its_bytes(pairs: list[tuple[Any, Any]]) -> None:
    run, _ = merge([Run.of_values({key: value}) for key, value in pairs])
    again = Run.from_bytes(run.to_bytes())
    assert again.to_bytes() == run.to_bytes()
    assert same(list(again.groups()), list(run.groups()))


@given(st.lists(st.tuples(st.sampled_from(range(9)), st.integers()), max_size=40), st.randoms(use_true_random=False))
def test_keys_with_colliding_hashes_are_told_apart(pairs: list[tuple[int, int]], random: Any) -> None:
    """All keys get one of two hashes: everything then rests on comparing keys."""

    def collide(run: Run) -> Run:
        order = np.lexsort([run.hashes, run.hashes & np.uint64(1 << 40)])
        names = {key: encode(key) for key in run.keys.to_list()}
        ordered = sorted(
            order.tolist(), key=lambda row: (int(run.hashes[row] & np.uint64(1 << 40)), names[run.keys.to_list()[row]])
        )
        taken = run.take(np.array(ordered, np.intp))
        return Run(taken.hashes & np.uint64(1 << 40), taken.keys, taken.values, taken.firsts)

    runs = [collide(Run.of_values({f"key {key}": value})) for key, value in pairs]
    expected: dict[str, int] = defaultdict(int)
    for key, value in pairs:
        expected[f"key {key}"] += value
    combined = Combiner.of(total).combine(runs)
    assert {key: values for key, (values,) in combined.groups()} == expected


class Memory:
    """Packs in memory."""

    def __init__(self) -> None:
        self.packs: dict[bytes, bytes] = {}

    def keep(self, pack: PackBuilder) -> bytes:
        name = len(self.packs).to_bytes(16, "big")[::-1].replace(bytes(16), b"\xff" * 16)
        self.packs[name] = b"".join(pack.parts)
        return name

    def read(self, pack: bytes, offset: int, length: int) -> bytes:
        return self.packs[pack][offset : offset + length]

    def stamp(self, pack: bytes) -> object:
        return id(self), pack


def store_run(run: Run, memory: Memory) -> Any:
    pack = PackBuilder()
    row = np.array([write_part(run, 0, pack)], SHARD_ROW)
    row["pack"] = memory.keep(pack)
    return row[0]


Version = list[dict[Any, Any]]


def contract_version(
    version: Version, function: Any, memory: Memory, before: tuple[dict[bytes, Any], Any] | None
) -> tuple[dict[bytes, Any], Any, int]:
    """Contract chunks (dicts) into a tree of one node; the node's id is its position in history."""
    ids = [b"chunk" + encode(sorted(chunk.items(), key=repr)) for chunk in version]
    rows: dict[bytes, Any] = dict(before[0]) if before else {}
    for id_, chunk in zip(ids, version, strict=True):
        if id_ not in rows:
            rows[id_] = store_run(Run.of_values(chunk), memory)
    pack = PackBuilder()
    shard = ShardContraction(0, 1, rows, dict.fromkeys(rows, b""), Combiner.of(function), memory, pack)
    node = b"node" + b"".join(ids)
    old = before[1] if before else None
    task = NodeTask(node, tuple(ids), old[0] if old else None, old[1] if old else ())
    contract_node([shard], task)
    name = memory.keep(pack)
    row = rows[node].copy()
    if bytes(row["pack"]) == bytes(16):
        row["pack"] = name
    rows[node] = row
    return rows, (node, tuple(ids)), shard.combiner.calls


words = st.sampled_from([f"word{i}" for i in range(60)])
chunks = st.dictionaries(words, st.integers(-5, 5), max_size=30)
counts = st.dictionaries(words, st.integers(1, 5), max_size=30)
#: Sums near the end of 64 bits, and equal keys and values that look different.
hard_cases = st.dictionaries(
    st.sampled_from([1, 1.0, True, 0, -0.0, "1", b"1", None, (1, "a"), (1.0, "a"), (True, "a")]),
    st.integers(-2, 2) | st.booleans() | st.sampled_from([2**61, -(2**61), 2**62, 2**63 - 1, 1.0, 0.0, -0.0]),
    max_size=6,
)


@st.composite
def histories(draw: st.DrawFn, chunks: Any = chunks) -> list[Version]:
    """A version and edits of it: insert, delete, replace, move, change one key."""
    current = draw(st.lists(chunks, min_size=1, max_size=8))
    history = [current]
    for _ in range(draw(st.integers(1, 5))):
        current = [dict(chunk) for chunk in current]
        at = draw(st.integers(0, len(current) - 1))
        match draw(st.sampled_from(["insert", "delete", "replace", "move", "one key", "again"])):
            case "insert":
                current.insert(at, draw(chunks))
            case "delete" if len(current) > 1:
                del current[at]
            case "replace":
                current[at] = draw(chunks)
            case "move":
                current.insert(draw(st.integers(0, len(current) - 1)), current.pop(at))
            case "one key":
                current[at] = {**current[at], **dict([*draw(chunks).items()][:1])}
        history.append(current)
    return history


def check_history(function: Any, keys_per_block: int, history: list[Version]) -> None:
    """Every version's node, updated from the one before, equals one that is combined from scratch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", keys_per_block)
        memory = Memory()
        before = None
        for version in history:
            rows, node, _ = contract_version(version, function, memory, before)
            scratch, _, _ = contract_version(version, function, Memory(), None)
            part = Part.load(rows[node[0]], 0, memory)
            assert part.content() == bytes(scratch[node[0]]["content"])
            expected = Combiner.of(function).combine([Run.of_values(chunk) for chunk in version])
            assert part.whole().to_bytes() == expected.to_bytes()
            before = rows, node


@pytest.mark.parametrize("function", [total, longest, None])
@pytest.mark.parametrize("keys_per_block", [2, 512])
@settings(max_examples=60)
@given(history=histories())
def test_every_updated_node_equals_one_combined_from_scratch(
    function: Any, keys_per_block: int, history: list[Version]
) -> None:
    check_history(function, keys_per_block, history)


@pytest.mark.parametrize("keys_per_block", [2, 512])
@settings(max_examples=150)
@given(history=histories(counts) | histories(hard_cases))
@example(history=[[{1: 1}], [{1: (1 << 63) - 1}, {1: 1}]])
# A chunk below zero, whose coming changes no sum; then a sum of zero, which is there.
@example(history=[[{1: 2}, {1: 3}], [{1: 6}, {1: -1}], [{1: 1}, {1: -1}]])
def test_sums_updated_by_addition_equal_sums_from_scratch(keys_per_block: int, history: list[Version]) -> None:
    check_history(total, keys_per_block, history)


def test_children_that_stayed_are_not_read_for_a_sum() -> None:
    memory = Memory()
    version: Version = [{f"word{i}": count for i in range(1000)} for count in range(1, 9)]
    rows, node, _ = contract_version(version, total, memory, None)
    version[3] = {**version[3], "word7": 5, "new": 1}
    read: set[bytes] = set()
    plain_read = memory.read

    def noted(pack: bytes, offset: int, length: int) -> bytes:
        read.add(pack)
        return plain_read(pack, offset, length)

    memory.read = noted  # type: ignore[method-assign]
    kept = {bytes(rows[child]["pack"]) for number, child in enumerate(node[1]) if number != 3}
    contract_version(version, total, memory, (rows, node))
    assert read and not read & kept


def test_one_changed_key_calls_the_combiner_for_that_key_alone() -> None:
    memory = Memory()
    version: Version = [{f"word{i}": 1 for i in range(1000)} for _ in range(8)]
    rows, node, _ = contract_version(version, longest, memory, None)
    version[3]["word7"] = 5
    _, _, calls = contract_version(version, longest, memory, (rows, node))
    assert calls == 1


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=400))
def test_every_level_covers_the_one_below_and_shrinks(tails: list[int]) -> None:
    below = len(tails)
    for ends in levels(np.array(tails, np.uint64)):
        assert ends[-1] == below and (np.diff(ends) > 0).all()
        assert len(ends) < below
        below = len(ends)
    assert below == 1


@given(st.lists(st.integers(0, 2**64 - 1), min_size=50, max_size=300), st.data())
def test_an_inserted_chunk_recuts_few_groups(tails: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(tails)))
    inserted = [*tails[:at], data.draw(st.integers(0, 2**64 - 1)), *tails[at:]]

    def groups(of: Sequence[int]) -> list[tuple[int, ...]]:
        ends = levels(np.array(of, np.uint64))[0].tolist()
        return [tuple(of[low:high]) for low, high in zip([0, *ends], ends, strict=False)]

    before, after = groups(tails), groups(inserted)
    assert len(set(after) - set(before)) <= 6
