"""Parts in which few keys of many blocks changed: the changes are kept beside the blocks, and nothing shows of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.contraction.columns.by_hash import changed_hashes
from incoop.contraction.columns.keys import hashes_of
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.shards import block_numbers
from incoop.contraction.parts import write as write_module
from incoop.contraction.parts.headers import RunHeader
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.packs import BlockLost, PackBuilder
from incoop.contraction.parts.part import Part, differing_pairs
from incoop.contraction.parts.rewrite import rewrite_part
from incoop.contraction.parts.rows import SHARD_ROW
from incoop.contraction.parts.write import bits_for
from incoop.engine.output import Sharded

from .test_contraction_laws import Memory, Version, contract_version, store_run, total

KEYS = 400

#: Of the parts that are compared block by block.
FEW_KEYS = 140
_EMPTY = np.empty(0, np.uint64)


def changed_part(old: Part, before: dict[Any, Any], after: dict[Any, Any], memory: Memory) -> Part:
    """The part after an update that knows which keys changed."""
    keys = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    hashes = np.unique(hashes_of(keys)) if keys else _EMPTY
    pack = PackBuilder()
    fresh = Run.of_values({key: after[key] for key in keys if key in after})
    held = sum(key in before for key in keys)
    row, _ = rewrite_part(old, hashes, fresh, held, pack)
    stored = np.array([row], SHARD_ROW)
    stored["pack"] = memory.keep(pack)
    return Part.load(stored[0], 0, memory)


def stored_part(old: Part, before: dict[Any, Any], after: dict[Any, Any], memory: Memory, bare: bool) -> Sharded:
    """An output of one shard, after an update."""
    keys = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    hashes = np.unique(hashes_of(keys)) if keys else _EMPTY
    pack = PackBuilder()
    fresh = Run.of_values({key: after[key] for key in keys if key in after})
    row, _ = rewrite_part(old, hashes, fresh, sum(key in before for key in keys), pack)
    rows = np.array([row], SHARD_ROW)
    rows["pack"], rows["bare"] = memory.keep(pack), bare
    return Sharded(RunHeader(rows, (b"",)))


@st.composite
def edits(draw: st.DrawFn) -> list[dict[int, int | None]]:
    """Changes, one after the other: new values of keys, None where the key goes."""
    values = st.none() | st.integers(1, 9)
    sizes = st.integers(0, 15) | st.integers(40, 80)  # some too large for an overlay
    return [
        draw(st.dictionaries(st.integers(0, FEW_KEYS + 50), values, min_size=size, max_size=size))
        for size in draw(st.lists(sizes, min_size=1, max_size=5))
    ]


@settings(max_examples=60, deadline=None)
@given(
    history=edits(),
    some=st.lists(st.integers(0, FEW_KEYS + 50), max_size=40),
    first=st.just(FEW_KEYS) | st.integers(4, 24),
)
def test_a_part_with_an_overlay_reads_as_one_written_from_scratch(
    history: list[dict[int, int | None]], some: list[int], first: int
) -> None:
    """Also one of a block or two, which few keys are enough to change too much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 4)
        memory = Memory()
        before: dict[Any, Any] = dict.fromkeys(range(first), 1)
        part = Part.load(store_run(Run.of_values(before), memory), 0, memory)
        for edit in history:
            after = {key: value for key, value in {**before, **edit}.items() if value is not None}
            older, part = part, changed_part(part, before, after, memory)
            scratch = Part.load(store_run(Run.of_values(after), memory), 0, memory)
            assert part.whole().to_bytes() == scratch.whole().to_bytes()
            assert (part.keys, part.bits, part.content()) == (len(after), scratch.bits, scratch.content())
            wanted = np.unique(hashes_of(some)) if some else _EMPTY
            assert part.select(wanted).to_bytes() == scratch.select(wanted).to_bytes()
            for number in range(1 << part.bits):
                assert part.blocks([number]).to_bytes() == scratch.blocks([number]).to_bytes()
            really = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
            found = changed_hashes(*differing_pairs(older, part))
            assert found.tolist() == (np.unique(hashes_of(list(really))).tolist() if really else [])
            before = after


def test_a_thin_change_of_many_blocks_is_kept_beside_them_and_merged_when_it_has_grown() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 4)
        memory = Memory()
        before = dict.fromkeys(range(KEYS), 1)
        part = Part.load(store_run(Run.of_values(before), memory), 0, memory)
        sizes = []
        for step in range(12):
            after = {**before, **dict.fromkeys(range(step * 20, step * 20 + 20), 2)}
            unchanged = part.rows["hash"].tolist()
            part = changed_part(part, before, after, memory)
            sizes.append(part.overlaid)
            assert not part.overlaid or part.rows["hash"].tolist() == unchanged
            assert len(part.over) == (1 << bits_for(part.overlaid) if part.overlaid else 0)
            before = after
        assert sizes == [20, 40, 60, 80, 100, 0, 20, 40, 60, 80, 100, 0]


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_a_small_part_keeps_its_blocks_when_few_of_its_keys_change_each_day(blocks: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 64)
        memory = Memory()
        before = dict.fromkeys(range(64 * blocks + 40), 1)
        part = Part.load(store_run(Run.of_values(before), memory), 0, memory)
        assert len(part.rows) == blocks
        places = [memory.packs[part.packs[number]] for number in part.rows["pack"].tolist()]
        for day in range(3):
            after = {**before, **dict.fromkeys(range(day, len(before), 16), day + 2)}
            unchanged = part.rows["hash"].tolist()
            part = changed_part(part, before, after, memory)
            assert part.rows["hash"].tolist() == unchanged
            assert [memory.packs[part.packs[number]] for number in part.rows["pack"].tolist()] == places, "not written"
            before = after
        assert part.whole().to_bytes() == Run.of_values(before).to_bytes()


def test_a_key_that_changes_again_writes_one_block_of_the_overlay() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 4)
        memory = Memory()
        before = dict.fromkeys(range(KEYS), 1)
        part = Part.load(store_run(Run.of_values(before), memory), 0, memory)
        after = {**before, **dict.fromkeys(range(25), 2)}
        part = changed_part(part, before, after, memory)
        again = changed_part(part, after, {**after, 3: 7}, memory)
        assert len(part.over) == len(again.over) > 2
        assert int((part.over["hash"] != again.over["hash"]).sum()) == 1
        newest = [again.packs[number] == list(memory.packs)[-1] for number in again.over["pack"].tolist()]
        assert sum(newest) == 1


@pytest.mark.parametrize("bare", [True, False], ids=["values alone", "pairs"])
def test_the_blocks_of_an_output_read_as_they_are_now_whichever_block_of_an_overlay_says_so(bare: bool) -> None:
    """Fewer blocks in the overlay than in the part, and more than one; and a block that only the overlay fills."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 4)
        memory = Memory()
        value: Any = (lambda key, count: count) if bare else (lambda key, count: (key, count))
        empty = [key for key in range(2 * KEYS) if block_numbers(hashes_of([key]), 0, bits_for(KEYS)) == 5]
        before = {key: value(key, 1) for key in range(KEYS) if key not in empty}
        old = stored_part(Part.load(store_run(Run.of_values(before), memory), 0, memory), {}, {}, memory, bare)
        after = {**before, **{key: value(key, 2) for key in [*list(before)[20:50], empty[0]]}}
        for key in list(before)[:10]:
            del after[key]
        new = stored_part(old.part(0, memory), before, after, memory, bare)  # type: ignore[arg-type]
        part = new.part(0, memory)  # type: ignore[arg-type]
        assert 2 < len(part.over) < len(part.rows)
        blocks = new.blocks(0, memory)  # type: ignore[arg-type]
        read = [pair for block in blocks for pair in block.pairs(memory)]  # type: ignore[arg-type]
        assert len(read) == len(after)
        assert dict(read) == {key: each if bare else each[1] for key, each in after.items()}
        unchanged = {block.id for block in old.blocks(0, memory)}  # type: ignore[arg-type]
        changed = hashes_of([key for key in before.keys() | after.keys() if before.get(key) != after.get(key)])
        touched = set(block_numbers(changed, 0, part.bits).tolist())
        assert {at for at, block in enumerate(blocks) if block.id not in unchanged} == touched


def test_a_damaged_overlay_is_a_lost_block() -> None:
    memory = Memory()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 4)
        before = dict.fromkeys(range(KEYS), 1)
        part = Part.load(store_run(Run.of_values(before), memory), 0, memory)
        part = changed_part(part, before, {**before, **dict.fromkeys(range(20), 2)}, memory)
    _, pack, offset, _ = part.over[0].item()
    name = part.packs[pack]
    data = bytearray(memory.packs[name])
    data[offset + 9] ^= 1
    memory.packs[name] = bytes(data)
    with pytest.raises(BlockLost, match="hash"):
        part.whole()


def test_an_overlay_keeps_hashes_that_are_gone() -> None:
    run = Run.of_values({"a": 1, "b": 2})
    gone = np.sort(hashes_of(["x", "y", "z"]))
    again = Overlay.from_bytes(Overlay(gone, run).to_bytes())
    assert again.gone.tolist() == gone.tolist()
    assert again.fresh.to_bytes() == run.to_bytes()


def test_a_node_of_sums_is_updated_again_and_again_as_from_scratch() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_module, "KEYS_PER_BLOCK", 4)
        version: Version = [{f"word{i}": 1 for i in range(start, start + 300)} for start in range(0, 800, 100)]
        memory = Memory()
        before = None
        overlaid = []
        for step in range(6):
            more = {f"word{i * 37}": step + 2 for i in range(25)}
            version = [*version[:step], {**version[step], **more}, *version[step + 1 :]]
            rows, node, _ = contract_version(version, total, memory, before)
            part = Part.load(rows[node[0]], 0, memory)
            scratch, same, _ = contract_version(version, total, Memory(), None)
            assert part.content() == bytes(scratch[same[0]]["content"])
            overlaid.append(part.overlaid)
            before = rows, node
        assert any(overlaid)
