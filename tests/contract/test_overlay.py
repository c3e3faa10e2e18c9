"""Overlays as values: what they decide about, and what they leave alone."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.keys import hash_of, hashes_of
from incoop.contraction.columns.run import EMPTY, Run
from incoop.contraction.parts.overlay import NOTHING, Overlay, joined
from incoop.contraction.parts.rows import (
    BLOCK_ROW,
    COUNTS,
    INTEGERS,
    OTHER,
    OWN_PACK,
    REF_ROW,
    SHARD_ROW,
    as_row,
    with_own_pack,
)

Pairs = dict[str, int]

words = st.sampled_from("abcdefghijklmnop")
pairs = st.dictionaries(words, st.integers(0, 9), max_size=12)


def hashes(keys: Any) -> np.ndarray:
    each = list(keys)
    return np.unique(hashes_of(each)) if each else np.empty(0, np.uint64)


def overlay(gone: str, fresh: Pairs) -> Overlay:
    return Overlay(hashes(gone), Run.of_values(fresh))


def held(run: Run) -> Pairs:
    assert run.hashes.tolist() == sorted(run.hashes.tolist())
    return {key: value for key, (value,) in run.groups()}


def test_an_overlay_decides_about_what_is_gone_and_what_is_fresh() -> None:
    one = overlay("ab", {"c": 3, "d": 4, "e": 5})
    assert one.changed.tolist() == hashes("abcde").tolist()
    assert len(one) == 5
    assert held(one.over(Run.of_values({"a": 1, "c": 1, "x": 9}))) == {"c": 3, "d": 4, "e": 5, "x": 9}
    assert len(NOTHING) == 0 and NOTHING.changed.tolist() == []


def test_of_some_hashes_an_overlay_gives_no_others() -> None:
    one = overlay("ab", {"c": 3, "d": 4})
    blocks = Run.of_values({"a": 1, "d": 1, "x": 9})
    assert held(one.selected(blocks, hashes("adxy"))) == {"d": 4, "x": 9}


@given(pairs, st.lists(st.tuples(pairs, st.sets(words)), max_size=4))
def test_updates_of_an_overlay_are_one_overlay(base: Pairs, updates: list[tuple[Pairs, set[str]]]) -> None:
    one, now = NOTHING, base
    for fresh, gone in updates:
        one = one.updated(hashes([*fresh, *gone]), Run.of_values(fresh))
        now = {key: value for key, value in now.items() if key not in gone} | fresh
    assert held(one.over(Run.of_values(base))) == now
    assert not set(one.gone.tolist()) & set(one.fresh.hashes.tolist())
    touched = {key for fresh, gone in updates for key in (*fresh, *gone)}
    assert one.changed.tolist() == hashes(touched).tolist()
    assert one.gone.tolist() == hashes(touched - now.keys()).tolist()


@given(st.sets(words), pairs, st.integers(0, 3), st.data())
def test_an_overlay_cut_by_ranges_is_joined_again_to_what_it_was(
    gone: set[str], fresh: Pairs, bits: int, data: st.DataObject
) -> None:
    one = overlay("".join(gone - fresh.keys()), fresh)
    cut = one.cut(0, bits)
    assert len(cut) == 1 << bits
    for number, each in enumerate(cut):
        assert all(int(hash_) >> 64 - bits == number for hash_ in each.changed.tolist()) if bits else True
    again = joined(cut)
    assert again.gone.tolist() == one.gone.tolist()
    assert again.fresh.to_bytes() == one.fresh.to_bytes()
    some = sorted(data.draw(st.sets(st.integers(0, (1 << bits) - 1))))
    assert [each.to_bytes() for each in one.cut(0, bits, some)] == [cut[number].to_bytes() for number in some]


def test_inside_a_shard_ranges_are_those_of_the_bits_behind_the_shards() -> None:
    both = np.array([1 << 62, (1 << 62) + (1 << 61)], np.uint64)
    fresh = Run(both, Column.of(["a", "b"]), Column.of([1, 2]))
    cut = Overlay(np.empty(0, np.uint64), fresh).cut(2, 1)
    assert [held(each.fresh) for each in cut] == [{"a": 1}, {"b": 2}]


def test_joining_none_gives_nothing_and_joining_one_gives_it() -> None:
    one = overlay("a", {"b": 2})
    assert joined([]) is NOTHING
    assert joined([one]) is one


@given(st.sets(words), pairs)
def test_an_overlay_comes_back_from_its_bytes(gone: set[str], fresh: Pairs) -> None:
    one = overlay("".join(gone), fresh)
    again = Overlay.from_bytes(one.to_bytes())
    assert again.gone.tolist() == one.gone.tolist() and again.gone.dtype == np.uint64
    assert again.fresh.to_bytes() == one.fresh.to_bytes()


def test_an_overlays_bytes_are_the_number_of_hashes_the_hashes_and_the_run() -> None:
    one = overlay("ab", {"c": 3})
    names = b"".join(each.to_bytes(8, "little")[2:] for each in sorted(map(hash_of, "ab")))
    assert one.to_bytes() == (2).to_bytes(4, "little") + names + one.fresh.to_bytes()
    assert one.random_bytes == 4 + 2 * 6 + one.fresh.random_bytes
    assert Overlay(np.empty(0, np.uint64), EMPTY).random_bytes == 4


# Rows


def test_rows_that_lie_in_their_own_pack_get_its_name_and_others_keep_theirs() -> None:
    rows = np.array(
        [as_row((b"c" * 16, b"d" * 16, pack, 7, 8, 9, 1, 0, 1)) for pack in (OWN_PACK, b"other" * 3 + b"!")]
    )
    placed = with_own_pack(rows, b"p" * 16)
    assert [bytes(each) for each in placed["pack"]] == [b"p" * 16, b"other" * 3 + b"!"]
    assert bytes(rows["pack"][0]) == OWN_PACK, "the rows that were given stay as they are"
    assert placed[0].item() == (b"c" * 16, b"d" * 16, b"p" * 16, 7, 8, 9, 1, 0, 1)
    assert rows.dtype == SHARD_ROW


def test_rows_are_laid_out_as_they_are_stored() -> None:
    row = as_row((b"c" * 16, b"d" * 16, b"p" * 16, 7, 8, 9, 1, 0, 1))
    assert row.tobytes() == b"c" * 16 + b"d" * 16 + b"p" * 16 + struct.pack("<QIIBBB", 7, 8, 9, 1, 0, 1)
    assert SHARD_ROW.names == ("content", "digest", "pack", "offset", "length", "keys", "sums", "bare", "whole")
    assert BLOCK_ROW.names == ("hash", "pack", "offset", "length")
    assert np.array([(b"h" * 16, 1, 2, 3)], BLOCK_ROW).tobytes() == b"h" * 16 + struct.pack("<IQI", 1, 2, 3)
    assert REF_ROW.names == ("pack", "digest", "offset", "length", "few")
    ref = np.array([(b"p" * 16, b"d" * 16, 2, 3, True)], REF_ROW)
    assert ref.tobytes() == b"p" * 16 + b"d" * 16 + struct.pack("<QI?", 2, 3, True)
    assert bytes(16) == OWN_PACK


def test_what_is_known_of_values_is_stored_as_a_number() -> None:
    assert (OTHER, INTEGERS, COUNTS) == (0, 1, 2)


@pytest.mark.parametrize("name", ["content", "digest", "pack"])
def test_names_of_sixteen_bytes_that_end_with_zeros_keep_them(name: str) -> None:
    row = as_row((b"c" * 15 + b"\0", b"d" * 15 + b"\0", b"p" * 15 + b"\0", 0, 0, 0, 0, 0, 0))
    assert len(bytes(row[name])) == 16 and bytes(row[name])[-1:] == b"\0"
