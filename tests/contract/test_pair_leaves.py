"""Leaves of pairs: they follow from the pairs, an edit changes a few, and only those are mapped."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incoop
from incoop.contraction.columns.column import Column
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.headers import read_run
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.tree.combine import Combiner
from incoop.engine.output import shown_pairs
from incoop.engine.running.counters import COUNTED, take_counts
from incoop.engine.stages.map_contract import chunk_leaves
from incoop.engine.stages.map_contract.grouping import map_chunk
from incoop.engine.stages.map_contract.leaves import LEAF, PAIR_GROUP
from incoop.engine.stages.map_contract.mapping import Piece
from incoop.engine.stages.map_contract.pair_leaves import PairLeaves, cut_pairs
from incoop.engine.stages.map_contract.write_chunk import write_by_nearest, write_mapped
from incoop.job import Mapper

from .test_contraction_laws import Memory
from .test_equal_hashes import ALIKE
from .test_patching import Chunk, check_change, counting, in_place, slow_total, total

Keyed = dict[Any, list[Any]]
Pair = tuple[Any, Any]


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_counted_yet() -> None:
    """Other tests call mappers that count, in this process."""
    take_counts()


def block(keyed: Keyed) -> Column:
    """Pairs as an output block holds them: by the hash of the key that gave them, some keys with several."""
    return Run.of_groups({key: [(key, value) for value in values] for key, values in keyed.items()}).values


def some_keys(count: int, seed: object = 0) -> Keyed:
    rng = random.Random(str(seed))
    return {f"word{rng.randrange(1 << 30)}": [rng.randrange(1000)] for _ in range(count)}


def cut(keyed: Keyed, size: int = 256, group: int = 1024) -> PairLeaves:
    leaves = cut_pairs(block(keyed), size, group)
    assert leaves is not None
    return leaves


def ids(leaves: PairLeaves) -> set[bytes]:
    return set(leaves.cut.ids.tolist())


def test_leaves_hold_all_pairs_in_their_order() -> None:
    keyed = some_keys(500) | {"several": [1, 2, 3], "large": ["x" * 5000], "odd": [None]}
    leaves = cut(keyed)
    pairs = block(keyed).to_list()
    assert len(leaves.cut) > 20 and 4 < len(leaves.groups) < len(leaves.cut)
    assert [pair for piece in leaves.decoded() for pair in piece.records()] == pairs
    assert [pair for n in range(len(leaves.cut)) for pair in leaves.piece(n).records()] == pairs
    assert [pair for n in range(len(leaves.groups)) for pair in leaves.group_piece(n).records()] == pairs


def test_what_a_reducer_counted_is_no_record() -> None:
    keyed: Keyed = some_keys(300)
    pairs = [(key, value) for key, (value,) in keyed.items()]
    counted = [pair for pair in pairs for pair in (pair, (COUNTED, {"seen": 1}))]
    leaves = cut_pairs(Column.of(counted), 256)
    assert leaves is not None
    assert [pair for piece in leaves.decoded() for pair in piece.records()] == pairs
    assert [pair for n in range(len(leaves.cut)) for pair in leaves.piece(n).records()] == pairs


def test_few_pairs_have_no_leaves_and_neither_has_a_job_that_wants_none() -> None:
    assert cut_pairs(block(some_keys(40)), LEAF) is None
    assert cut_pairs(block(some_keys(500)), 0) is None
    assert cut_pairs(Column.of([]), LEAF) is None


@pytest.mark.parametrize("edit", ["insert", "delete", "change", "another type"])
def test_one_key_changes_a_few_leaves(edit: str) -> None:
    changed = []
    for seed in range(30):
        keyed = some_keys(400, seed)
        before = cut(keyed)
        key = random.Random(seed).choice(list(keyed))
        match edit:
            case "insert":
                keyed["new"] = [1]
            case "delete":
                del keyed[key]
            case "change":
                keyed[key] = [1001]
            case "another type":  # which makes another column of all values
                keyed[key] = [None]
        changed.append(len(ids(cut(keyed)) - ids(before)))
    assert min(changed) > 0 and sum(changed) / len(changed) < 2 and max(changed) <= 6


# Mappers of pairs, as jobs have them.


def by_last(key: Any, value: int) -> Iterator[Pair]:
    yield str(key)[-1], value


def halves(key: Any, value: int) -> Iterator[Pair]:
    """Some pairs give nothing, some two."""
    for number in range(value % 3):
        yield (value + number) % 50, 0.1 * value


def places(key: Any, value: int) -> Iterator[Pair]:
    incoop.counter("pairs")
    yield value % 40, (value, str(key))


def alike(key: Any, value: int) -> Iterator[Pair]:
    """Different keys with equal hashes; some of them come and go."""
    yield ALIKE[value % 3][value // 3 % 3], 1


def arrays(key: Any, value: int) -> Iterator[Pair]:
    yield value % 20, np.array([value, 1])


def largest(key: Any, values: Any) -> Iterator[Pair]:
    yield key, max(values)


JOBS = [
    (by_last, total),
    (by_last, slow_total),
    (halves, total),
    (halves, None),
    (places, largest),
    (places, None),
    (alike, total),
    (alike, slow_total),
    (arrays, in_place),
    (by_last, counting),
]


def on_pair(mapper: Callable[[Any, Any], Any]) -> Mapper:
    return lambda _, pair: mapper(*pair)


def scratch(mapper: Mapper, of: PairLeaves, combiner: Combiner, memory: Memory) -> Chunk:
    pack = PackBuilder()
    whole = [Piece(lambda: shown_pairs(of.pairs.to_list()))]
    return Chunk(memory, write_mapped(map_chunk(mapper, whole, combiner, of), combiner, None, pack), pack)


def described(mapper: Mapper, of: PairLeaves, combiner: Combiner, old: Chunk) -> Chunk | None:
    pack = PackBuilder()
    written = write_by_nearest(mapper, of, combiner, [old.ref], bytes(of.cut.ids[0]), old.memory, pack)
    return Chunk(old.memory, written, pack) if written is not None else None


@st.composite
def histories(draw: st.DrawFn) -> list[Keyed]:
    """Versions of an output block: keys come, go, come back, and change; keys with equal hashes among them."""
    rng = random.Random(draw(st.integers(0, 1 << 30)))
    first: Keyed = some_keys(rng.randrange(150, 250), rng.random())
    first |= {key: [rng.randrange(1000)] for key in rng.sample([key for keys in ALIKE for key in keys], 5)}
    versions = [first]
    for edits in draw(
        st.lists(
            st.lists(st.sampled_from(["insert", "delete", "change", "tie", "several", "back"]), min_size=1),
            min_size=1,
            max_size=4,
        )
    ):
        after = dict(versions[-1])
        for edit in edits[:6]:
            key = rng.choice(list(after))
            match edit:
                case "insert":
                    after[f"new{rng.randrange(100)}"] = [rng.randrange(1000)]
                case "delete":
                    del after[key]
                case "change":
                    after[key] = [rng.randrange(1000)]
                case "tie":
                    after[rng.choice(rng.choice(ALIKE))] = [rng.randrange(1000)]
                case "several":
                    after[key] = [rng.randrange(1000) for _ in range(rng.randrange(1, 4))]
                case "back":
                    key = rng.choice(list(first))
                    after[key] = first[key]
        versions.append(after)
    return versions


@pytest.mark.parametrize("few", [False, True], ids=["by leaf", "by group"])
@pytest.mark.parametrize("largest_patch", [0.0, 99.0], ids=["always a base", "always a patch"])
@pytest.mark.parametrize(("mapper", "function"), JOBS)
@given(versions=histories())
@settings(max_examples=8)
def test_a_described_block_reads_as_one_mapped_as_a_whole(
    mapper: Any, function: Any, largest_patch: float, few: bool, versions: list[Keyed]
) -> None:
    combiner, memory, job = Combiner.of(function), Memory(), on_pair(mapper)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_leaves, "_LARGEST_PATCH", largest_patch)
        patch.setattr(PairLeaves, "bytes_of_a_key", 1 if few else 1 << 30)
        old = scratch(job, cut(versions[0]), combiner, memory)
        for version in versions[1:]:
            expected = scratch(job, cut(version), combiner, memory)
            found = described(job, cut(version), combiner, old) if old.kept_by_leaf else None
            if found is not None:
                assert found.run().to_bytes() == expected.run().to_bytes()
                assert read_run(found.ref, memory).content() == read_run(expected.ref, memory).content()
                assert found.written.counters == expected.written.counters
                check_change(old, found)
            old = found or expected


@pytest.mark.parametrize(
    ("mapper", "function"), [(by_last, total), (by_last, largest), (halves, None), (places, largest)]
)
def test_one_changed_key_is_a_leaf_to_map_and_its_bytes_are_counted(mapper: Any, function: Any) -> None:
    keyed = some_keys(3000)
    combiner, memory = Combiner.of(function), Memory()
    old = scratch(on_pair(mapper), cut(keyed, LEAF, PAIR_GROUP), combiner, memory)
    calls: list[Pair] = []

    def called(_: Any, pair: Pair) -> Any:
        calls.append(pair)
        return mapper(*pair)

    keyed[next(iter(keyed))] = [7]
    leaves = cut(keyed, LEAF, PAIR_GROUP)
    new = described(called, leaves, combiner, old)
    grouped = mapper is by_last and function is largest
    assert new is not None and 0 < len(calls) < (900 if grouped else 250)
    assert (next(iter(keyed)), 7) in calls
    share = new.written.mapped / int(leaves.ends[-1])
    assert share == pytest.approx(len(calls) / 3000, rel=0.2)


def test_an_edit_is_found_also_in_a_block_that_is_cut_in_two() -> None:
    """A part that grows gets twice as many blocks; each half has leaves of the whole."""
    keyed = some_keys(3000)
    combiner, memory = Combiner.of(total), Memory()
    whole = Run.of_groups({key: [(key, value) for value in values] for key, values in keyed.items()})
    first = cut_pairs(whole.values, LEAF)
    assert first is not None
    old = scratch(on_pair(by_last), first, combiner, memory)
    half = cut_pairs(whole.slice(0, 1500).values, LEAF)
    assert half is not None
    calls = 0

    def called(_: Any, pair: Pair) -> Any:
        nonlocal calls
        calls += 1
        return by_last(*pair)

    assert described(called, half, combiner, old) is not None and calls < 250
