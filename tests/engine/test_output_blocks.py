"""The blocks of an output as the chunks of a next job: all pairs are in them; which there are follows from the keys."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import numpy as np
import pytest

from incoop.contraction.columns.keys import hashes_of
from incoop.contraction.columns.run import Run
from incoop.contraction.parts import rewrite, write
from incoop.contraction.parts.headers import RunHeader
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rewrite import rewrite_part
from incoop.contraction.parts.rows import SHARD_ROW, with_own_pack
from incoop.contraction.parts.write import write_part
from incoop.engine.inputs import _Pairs
from incoop.engine.output import OutputBlock, Sharded
from incoop.engine.stored import BlobReader

from ..contract.test_contraction_laws import Memory


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of some ten keys have several blocks, some of them empty; changes go beside them."""
    monkeypatch.setattr(write, "KEYS_PER_BLOCK", 1)
    monkeypatch.setattr(rewrite, "_spread", lambda *_: True)


def run_of(keyed: dict[Any, Any]) -> Run:
    return Run.of_values({key: (key, value) for key, value in keyed.items()})


def stored(row: tuple[Any, ...], pack: PackBuilder, memory: Memory) -> Sharded:
    rows = with_own_pack(np.array([row], SHARD_ROW), memory.keep(pack))
    return Sharded(RunHeader(rows, (b"",)))


def written(keyed: dict[Any, Any], memory: Memory) -> Sharded:
    pack = PackBuilder()
    return stored(write_part(run_of(keyed), 0, pack), pack, memory)


def changed(old: Sharded, before: dict[Any, Any], after: dict[Any, Any], memory: Memory) -> Sharded:
    keys = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    pack = PackBuilder()
    row, _ = rewrite_part(
        old.part(0, cast(BlobReader, memory)),
        np.sort(hashes_of(keys)),
        run_of({key: after[key] for key in keys if key in after}),
        sum(key in before for key in keys),
        pack,
    )
    return stored(row, pack, memory)


def chunks(output: Sharded, memory: Memory) -> list[OutputBlock]:
    """The blocks that a next job maps."""
    return cast(list[OutputBlock], _Pairs(output.blocks(0, cast(BlobReader, memory))).blocks)


def pairs(blocks: list[OutputBlock], memory: Memory) -> Counter[tuple[Any, Any]]:
    return Counter(pair for block in blocks for pair in block.pairs(cast(BlobReader, memory)))


KEYED = {f"key{number}": number for number in range(32)}


def part(output: Sharded, memory: Memory) -> Part:
    return output.part(0, cast(BlobReader, memory))


def test_a_key_that_comes_into_an_empty_block_is_among_the_pairs() -> None:
    memory = Memory()
    old = written(KEYED, memory)
    empty = {number for number, length in enumerate(part(old, memory).rows["length"].tolist()) if not length}
    assert empty
    candidates = (f"new{number}" for number in range(1000))
    (at,) = [np.uint64(64 - part(old, memory).bits)]
    new = next(key for key in candidates if int(hashes_of([key])[0] >> at) in empty)
    after = KEYED | {new: 1}
    output = changed(old, KEYED, after, memory)
    assert len(part(output, memory).over), "it is kept beside the blocks"
    assert pairs(chunks(output, memory), memory) == Counter(after.items())


def test_which_chunks_there_are_follows_from_the_number_of_keys() -> None:
    """Blocks that were emptied, or filled, by changes beside them stand where those of a run from scratch stand."""
    memory = Memory()
    old = written(KEYED, memory)
    bits = np.uint64(64 - part(old, memory).bits)
    by_block = {int(hashes_of([key])[0] >> bits): key for key in KEYED}
    alone = [key for block, key in by_block.items() if sum(int(hashes_of([k])[0] >> bits) == block for k in KEYED) == 1]
    other = next(key for key in (f"new{n}" for n in range(1000)) if int(hashes_of([key])[0] >> bits) not in by_block)
    after = {key: value for key, value in KEYED.items() if key != alone[0]} | {other: 1}
    found, scratch = (chunks(output, memory) for output in (changed(old, KEYED, after, memory), written(after, memory)))
    assert [block.tail for block in found] == [block.tail for block in scratch]
    assert pairs(found, memory) == pairs(scratch, memory) == Counter(after.items())


def test_an_output_without_keys_has_no_chunks() -> None:
    memory = Memory()
    assert chunks(written({}, memory), memory) == []
