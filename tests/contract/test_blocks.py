"""Blocks come back from their compressed form, take less, and what is damaged is found."""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.checksums import block_hash
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.blocks import compressed, decompressed, read_block
from incoop.contraction.parts.packs import BlockLost, PackBuilder
from incoop.contraction.parts.write import write_part
from incoop.contraction.tree.shape import WIDE_BITS, levels


@given(st.binary(), st.data())
def test_a_block_comes_back(data: bytes, draw: st.DataObject) -> None:
    random_bytes = draw.draw(st.integers(0, len(data)))
    assert decompressed(compressed(data, random_bytes), block_hash(data)) == data


@given(st.binary())
def test_bytes_that_are_no_block_are_no_error(data: bytes) -> None:
    assert not decompressed(data, block_hash(b"what is not there"))


def pairs_of_words(count: int) -> Run:
    rng = random.Random(7)
    words = [f"word{rng.randrange(3000)}" for _ in range(count)]
    return Run.of_values(dict.fromkeys(zip(words, reversed(words), strict=True), 1))


def test_pairs_of_words_take_half_of_their_bytes() -> None:
    run = pairs_of_words(3000)
    pack = PackBuilder()
    write_part(run, 0, pack)
    assert pack.size < len(run.to_bytes()) / 2


def test_every_damage_is_a_lost_block() -> None:
    run = pairs_of_words(40)
    pack = PackBuilder()
    write_part(run, 0, pack)
    stored = pack.parts[0]
    digest = block_hash(run.to_bytes())
    assert read_block(stored, digest, b"p" * 16).to_bytes() == run.to_bytes()
    for at in range(len(stored)):
        broken = bytearray(stored)
        broken[at] ^= 1
        with suppress(BlockLost):  # a bit that zstd does not look at changes nothing
            assert read_block(bytes(broken), digest, b"p" * 16).to_bytes() == run.to_bytes()
    for end in range(len(stored)):
        with pytest.raises(BlockLost):
            read_block(stored[:end], digest, b"p" * 16)


def test_a_tree_of_sums_has_fewer_levels() -> None:
    tails = np.random.default_rng(1).integers(0, 1 << 63, 20_000).astype(np.uint64)
    assert len(levels(tails, WIDE_BITS)) < len(levels(tails))
    assert all(max(np.diff(ends, prepend=0)) <= 4 << WIDE_BITS for ends in levels(tails, WIDE_BITS))
