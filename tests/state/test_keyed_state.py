"""A state reads as a dict after the same changes, in all its versions; what was not touched is left alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import incoop
from incoop.base.checksums import block_hash
from incoop.base.ids import split_ids
from incoop.contraction.columns.encoding import encode
from incoop.contraction.parts import write as write_module
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.stored import BlobReader, entry_of_run, run_of_entry
from incoop.memo import Keep, MemoStore, collect
from incoop.state.keyed_state import GONE, Difference, KeyedState, Version
from tests.contract.test_equal_hashes import ALIKE


class Packs:
    """Packs in memory, and what was read and written of them."""

    def __init__(self) -> None:
        self.held: dict[bytes, bytes] = {}
        self.reads: list[tuple[bytes, int, int]] = []
        self.written = 0

    def read(self, pack: bytes, offset: int, length: int) -> bytes:
        self.reads.append((pack, offset, length))
        if pack not in self.held:
            raise BlockLost(pack, "missing")
        return self.held[pack][offset : offset + length]

    def write(self, parts: list[bytes]) -> bytes:
        data = b"".join(parts)
        self.written += len(data)
        name = block_hash(data)
        self.held[name] = data
        return name

    def during(self, act: Callable[[], Any]) -> tuple[Any, int, int]:
        """What an act gives, how many readings it made, and how many bytes it wrote."""
        self.reads, self.written = [], 0
        return act(), len(self.reads), self.written


def state_of(shards: int = 4) -> tuple[KeyedState, Packs]:
    packs = Packs()
    return KeyedState(packs, packs.write, shards), packs


keys = st.sampled_from([*range(30), *(key for group in ALIKE for key in group), "a", "b", ("a", 1), None, 2.5])
values = st.integers(-3, 3) | st.sampled_from(["x", None, [1, 2], {"k": 1.5}, GONE])
histories = st.lists(st.dictionaries(keys, values, max_size=25), max_size=8)
(A, B, C), *_ = ALIKE


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("keys_per_block", [2, 4096])
@settings(max_examples=60, deadline=None)
@given(history=histories, asked=st.lists(keys, max_size=10))
@example(history=[{A: 1}, {B: 2}, {A: GONE}], asked=[A, B, C])  # one hash, several keys
@example(history=[{n: n for n in range(30)}, dict.fromkeys(range(30), GONE), {1: 1}], asked=[1, 2])
@example(history=[{n: n for n in range(30)}, {n: -n for n in range(0, 30, 7)}, {3: GONE, 40: 1}], asked=[7, 3, 40])
@example(history=[{1: "one"}, {True: "true"}, {1.0: GONE}], asked=[1])  # equal keys
def test_a_state_is_a_dict_in_every_version(
    shards: int, keys_per_block: int, history: list[dict[Any, Any]], asked: list[Any]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", keys_per_block)
        state, _ = state_of(shards)
        expected: dict[Any, Any] = {}
        versions: list[tuple[Version, dict[Any, Any]]] = [(state.version(), {})]
        for changes in history:
            expected = {key: value for key, value in {**expected, **changes}.items() if value is not GONE}
            versions.append((state.apply(versions[-1][0], changes), expected))
        for version, held in versions:
            assert same(dict(state.items(version)), held) and len(version) == len(held)
            assert same(state.select(version, asked), {key: held[key] for key in asked if key in held})
            assert version.ref is None or same(dict(state.items(state.version(version.ref))), held)
        for old, before in versions:
            for new, after in versions:
                found = {each.key: (each.old, each.new) for each in state.changed(old, new)}
                assert same(found, differences(before, after))


def same(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    return {key: encode_all(value) for key, value in one.items()} == {key: encode_all(v) for key, v in other.items()}


def encode_all(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(encode_all, value))
    return value if value is GONE else encode(value)


def differences(before: dict[Any, Any], after: dict[Any, Any]) -> dict[Any, tuple[Any, Any]]:
    pairs = {key: (before.get(key, GONE), after.get(key, GONE)) for key in before | after}
    return {key: pair for key, pair in pairs.items() if encode_all(pair[0]) != encode_all(pair[1])}


MANY = {f"key {number}": number for number in range(40_000)}


@pytest.fixture(scope="module")
def large() -> tuple[KeyedState, Packs, Version]:
    """Sixteen shards of some blocks each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 256)
        state, packs = state_of(16)
        version = state.apply(state.version(), MANY)
    return state, packs, version


def test_a_key_that_is_asked_for_reads_its_block_and_no_other(large: tuple[KeyedState, Packs, Version]) -> None:
    state, packs, version = large
    found, reads, written = packs.during(lambda: state.select(version, ["key 7"]))
    assert (found, reads, written) == ({"key 7": 7}, 2, 0)  # the header of its part, and the block
    found, reads, _ = packs.during(lambda: state.select(version, ["no such key"]))
    assert (found, reads) == ({}, 2)
    assert packs.during(lambda: state.select(version, [])) == ({}, 0, 0)
    # Many keys of one block, and blocks that lie side by side, are one reading.
    every, reads, _ = packs.during(lambda: state.select(version, MANY))
    assert every == MANY and reads == len(set(packs.reads)) == 16 + 16


def test_a_changed_key_reads_and_writes_its_block_and_shares_all_others(
    large: tuple[KeyedState, Packs, Version], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_module, "KEYS_PER_BLOCK", 256)
    state, packs, version = large
    whole = len(packs.held[version.ref.pack]) if version.ref is not None else 0
    after, reads, written = packs.during(lambda: state.apply(version, {"key 7": "new"}))
    assert reads == 2 and 0 < written < whole / 20
    assert state.select(after, ["key 7"]) == {"key 7": "new"} and state.select(version, ["key 7"]) == {"key 7": 7}
    differing = np.flatnonzero(version.header.rows["digest"] != after.header.rows["digest"])
    assert len(differing) == 1
    assert version.packs() < after.packs()

    found, reads, written = packs.during(lambda: list(state.changed(version, after)))
    assert found == [Difference("key 7", 7, "new")]
    assert (reads, written) == (4, 0)  # of each version a part's header and a block
    assert packs.during(lambda: list(state.changed(after, after))) == ([], 0, 0)


def test_what_is_as_it_was_writes_nothing(large: tuple[KeyedState, Packs, Version]) -> None:
    state, packs, version = large
    same_version, _, written = packs.during(lambda: state.apply(version, {"key 7": 7, "none": GONE, "key 9": 9}))
    assert same_version is version and written == 0
    assert packs.during(lambda: state.apply(version, {})) == (version, 0, 0)


def test_the_same_change_gives_the_same_version(large: tuple[KeyedState, Packs, Version]) -> None:
    state, packs, version = large
    once = state.apply(version, {"key 7": 8, "key 9": GONE})
    held = len(packs.held)
    again = state.apply(version, {"key 9": GONE, "key 7": 8})
    assert again.ref == once.ref and len(packs.held) == held


def test_a_state_without_keys_is_the_one_to_begin_with() -> None:
    state, _ = state_of()
    version = state.apply(state.version(), {"a": 1, "b": 2})
    empty = state.apply(version, {"a": GONE, "b": GONE})
    assert empty.ref is None and len(empty) == 0 and empty.packs() == set()
    assert [each.new for each in state.changed(version, empty)] == [GONE, GONE]
    assert repr(GONE) == "GONE"
    # A shard that has become empty, and others that have not.
    fewer = state.apply(version, {"a": GONE})
    assert dict(state.items(fewer)) == {"b": 2}
    assert dict(state.items(state.version(fewer.ref))) == {"b": 2}


def test_a_version_whose_pack_is_lost_says_so() -> None:
    state, packs = state_of()
    version = state.apply(state.version(), {"a": 1})
    packs.held.clear()
    with pytest.raises(BlockLost):
        state.select(version, ["a"])
    with pytest.raises(BlockLost):
        state.version(version.ref)


@pytest.mark.parametrize("shards", [0, 3, -4])
def test_shards_are_a_power_of_two(shards: int) -> None:
    with pytest.raises(incoop.BadCall, match="power of two"):
        state_of(shards)


def test_a_generation_that_names_a_version_keeps_all_of_it(tmp_path: Path) -> None:
    first_id, last_id = b"1" * 16, b"2" * 16

    def run(store: MemoStore, id_: bytes, version: Version) -> None:
        generation = store.begin_generation("flow")
        assert version.ref is not None
        store.store({id_: entry_of_run(version.ref, refs=b"".join(sorted(version.packs())))})
        assert store.commit_generation("flow", generation, b"", id_)

    def state_in(store: MemoStore) -> KeyedState:
        return KeyedState(BlobReader(store.blobs), store.blobs.write)

    with MemoStore.open(tmp_path / "store") as store:
        state = state_in(store)
        first = state.apply(state.version(), MANY)
        run(store, first_id, first)
        gone = state.apply(first, {"key 1": "for a moment"})  # named by nobody
        last = state.apply(first, {"key 7": "new"})
        run(store, last_id, last)
    time.sleep(0.02)
    with MemoStore.open(tmp_path / "store", maintenance=True, create=False) as store:
        collect(store, Keep(last=1))
    with MemoStore.open(tmp_path / "store") as store:
        state = state_in(store)
        before, entry = store.lookup([first_id, last_id])
        assert before is None and entry is not None
        assert set(split_ids(entry.refs)) == last.packs()
        version = state.version(run_of_entry(entry))
        assert dict(state.items(version)) == {**MANY, "key 7": "new"}
        assert gone.ref is not None
        with pytest.raises(BlockLost):
            state.version(gone.ref)
