"""A chunk of a map-only job that is described by the ones before it has the pairs of the chunk mapped as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incoop
from incoop.base.ids import split_ids
from incoop.contraction.columns.column import Column
from incoop.contraction.columns.encoding import CannotStore
from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.in_order import GivenByLeaf, InOrder, unshared
from incoop.contraction.parts.packs import PackBuilder
from incoop.engine.running.counters import take_counts
from incoop.engine.stages.map_contract import map_only
from incoop.engine.stages.map_contract.chunk_sources import ChunkSource
from incoop.engine.stages.map_contract.leaves import Cutting, Leaves
from incoop.engine.stages.map_contract.map_only import MapOnly
from incoop.engine.stages.map_contract.mapping import Pairs, PiecesMapper, UserError
from incoop.engine.stages.map_contract.write_chunk import WrittenChunk
from incoop.job import Mapper

from .test_contraction_laws import Memory
from .test_patching import Lines, cut, whole


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_counted_yet() -> None:
    """Other tests call mappers that count, in this process."""
    take_counts()


def some(_: Any, line: str) -> Iterator[tuple[Any, Any]]:
    """None of some lines, one pair or many of others; keys that are equal and look different, or are no keys at all."""
    incoop.counter("lines", sample=line)
    for number, word in enumerate(line.split()[1:]):
        yield (1, 1.0, True, word, [word], None)[number % 6], (number, float("nan"), {"a": line}, b"\0")[len(line) % 4]


def lengths(_: Any, line: str) -> Iterator[tuple[str, int]]:
    """A column of one kind, and another where a line is long."""
    yield line[:2], len(line) if len(line) < 30 else len(line) / 2


def nothing(_: Any, line: str) -> Iterator[tuple[str, int]]:
    yield from ()


def _by_pieces(pieces: Any) -> Pairs:
    pairs = [[pair for record in records for pair in lengths(None, record)] for records in pieces]
    flat = [pair for each in pairs for pair in each]
    sizes = np.array([len(each) for each in pairs], np.int64)
    return Pairs(
        [key for key, _ in flat], np.arange(len(flat)), [value for _, value in flat], sizes, [{} for _ in pairs]
    )


MAPPERS: dict[str, Mapper] = {
    "odd pairs": some,
    "one kind": lengths,
    "no pairs": nothing,
    "all pieces at once": PiecesMapper(_by_pieces),
}


@dataclass
class Cut(Cutting):
    """A chunk that is cut already."""

    leaves: Leaves | None

    def cut(self) -> Leaves | None:
        return self.leaves

    def recut(self, pieces: Any, old: Any) -> None:
        return None

    def stretches(self) -> bytes:
        return b"stretches"


@dataclass
class Chunks:
    """Stored chunks."""

    memory: Memory = field(default_factory=Memory)
    seen: list[str] = field(default_factory=list)

    def write(
        self, mapper: Mapper, of: list[Lines], old: list[RunRef], id_: bytes = b"\0"
    ) -> tuple[WrittenChunk, RunRef]:
        def watched(key: Any, line: str) -> Any:
            self.seen.append(line)
            return mapper(key, line)

        called = mapper if isinstance(mapper, PiecesMapper) else watched
        leaves, pack = cut(of), PackBuilder()
        source = ChunkSource(called, whole(leaves), Cut(leaves if len(of) > 1 else None))
        task = MapOnly(source, bytes(16), len(cast(bytes, leaves.content)), old, None, self.memory, pack)
        written, _ = task.write()
        return written, RunRef(self.memory.keep(pack), *written.header)

    def load(self, ref: RunRef) -> InOrder:
        return InOrder.load(ref, self.memory)

    def pairs(self, ref: RunRef) -> list[Any]:
        return self.load(ref).pairs(self.memory).to_list()


def by_hand(mapper: Mapper, of: list[Lines]) -> list[Any]:
    return [pair for lines in of for line in lines for pair in mapper(None, line)]


line = st.lists(st.sampled_from([f"w{n}" for n in range(9)] + ["long" * 20]), max_size=4).map(" ".join)
leaf = st.lists(line, min_size=1, max_size=3)


@st.composite
def histories(draw: st.DrawFn) -> list[list[Lines]]:
    """Leaves come, go, change, move and occur twice."""
    versions = [draw(st.lists(leaf, min_size=3, max_size=7))]
    for _ in range(draw(st.integers(1, 5))):
        now = list(versions[-1])
        for _ in range(draw(st.integers(1, 2))):
            at = draw(st.integers(0, len(now) - 1))
            match draw(st.sampled_from(["insert", "delete", "change", "move", "again", "back"])):
                case "insert":
                    now.insert(at, draw(leaf))
                case "delete" if len(now) > 2:
                    del now[at]
                case "change":
                    now[at] = draw(leaf)
                case "move":
                    now.insert(draw(st.integers(0, len(now) - 1)), now.pop(at))
                case "again":
                    now.insert(draw(st.integers(0, len(now))), now[at])
                case "back":
                    now = list(draw(st.sampled_from(versions)))
        versions.append(now)
    return versions


@pytest.mark.parametrize("name", MAPPERS)
@settings(max_examples=40, deadline=None)
@given(versions=histories(), most=st.integers(1, 3))
def test_what_is_described_is_what_mapping_all_of_it_gives(name: str, versions: list[list[Lines]], most: int) -> None:
    mapper, chunks = MAPPERS[name], Chunks()
    refs: list[RunRef] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(map_only, "_MOST_LAYERS", most)
        for version in versions:
            written, ref = chunks.write(mapper, version, refs[-2:])
            alone, scratch = chunks.write(mapper, version, [])
            assert repr(chunks.pairs(ref)) == repr(chunks.pairs(scratch)) == repr(by_hand(mapper, version))
            take_counts()
            assert chunks.load(ref).content == chunks.load(scratch).content
            assert written.counters == alone.counters
            stored = chunks.load(ref)
            assert len(stored.layers) <= most
            assert {layer.pack for layer in stored.layers} - {ref.pack} == set(split_ids(written.refs))
            refs.append(ref)


def numbered(count: int) -> list[Lines]:
    return [[f"{leaf} {row}" for row in range(3)] for leaf in range(count)]


def test_only_leaves_that_came_are_mapped_and_written() -> None:
    chunks, before = Chunks(), numbered(200)
    first, ref = chunks.write(lengths, before, [])
    for day in range(5):
        after = [*before[:90], [f"new {day}"], *before[90:120], *before[121:]]
        chunks.seen.clear()
        written, ref = chunks.write(lengths, after, [ref])
        assert chunks.seen == [f"new {day}"]
        assert written.mapped == len(f"new {day}\n")
        stored = chunks.load(ref)
        assert (len(stored.layers), stored.layers[-1].leaves) == (2 + day, 1)
        assert chunks.pairs(ref) == by_hand(lengths, after)
        assert len(chunks.memory.packs[ref.pack]) < 600 + 100 * day, "of the other 199 leaves nothing is written"
        before = after
    assert first.mapped == -1


def test_what_the_mapper_leaves_out_changes_nothing() -> None:
    chunks, before = Chunks(), numbered(50)
    _, ref = chunks.write(some, before, [])
    _, other = chunks.write(some, [*before[:7], ["one-word"], *before[7:]], [ref])
    assert chunks.load(other).content == chunks.load(ref).content
    assert ref.digest != other.digest


def test_layers_of_which_nothing_is_left_are_not_kept() -> None:
    chunks, before = Chunks(), numbered(40)
    _, ref = chunks.write(lengths, before, [])
    first = ref.pack
    for half in (slice(0, 20), slice(20, 40)):
        after = list(before)
        after[half] = [[f"{half.start} {number}"] for number in range(20)]
        written, ref = chunks.write(lengths, after, [ref])
        before = after
    assert len(chunks.load(ref).layers) == 2
    assert first not in written.refs and chunks.pairs(ref) == by_hand(lengths, before)


def test_a_chunk_may_have_leaves_of_two_others() -> None:
    chunks, left, right = Chunks(), numbered(10), [[f"right {leaf}"] for leaf in range(10)]
    refs = [chunks.write(lengths, side, [])[1] for side in (left, right)]
    chunks.seen.clear()
    _, ref = chunks.write(lengths, [*left[5:], *right[:5]], refs)
    assert chunks.seen == []
    assert chunks.pairs(ref) == by_hand(lengths, [*left[5:], *right[:5]])
    assert {layer.pack for layer in chunks.load(ref).layers} == {each.pack for each in refs}


def test_a_lost_layer_is_mapped_again() -> None:
    chunks, before = Chunks(), numbered(20)
    _, ref = chunks.write(lengths, before, [])
    chunks.memory.packs[ref.pack] = bytes(len(chunks.memory.packs[ref.pack]))
    chunks.seen.clear()
    _, again = chunks.write(lengths, [*before, ["more"]], [ref])
    assert len(chunks.seen) == 61
    assert chunks.pairs(again) == by_hand(lengths, [*before, ["more"]])


def test_changes_read_leaves_that_differ() -> None:
    chunks, before = Chunks(), numbered(30)
    _, ref = chunks.write(lengths, before, [])
    after = [*before[:3], ["new one"], *before[4:], before[7]]
    _, other = chunks.write(lengths, after, [ref])
    find = partial(unshared, reader=chunks.memory)
    old, new = chunks.load(ref), chunks.load(other)
    assert [each.to_list() for each in find([old], [new])] == [by_hand(lengths, [before[3]])]
    assert [each.to_list() for each in find([new], [old])] == [by_hand(lengths, [["new one"], before[7]])]


@pytest.mark.parametrize("changed", [False, True], ids=["a first time", "in a changed chunk"])
def test_a_record_that_fails_is_named_by_its_place_in_the_chunk(changed: bool) -> None:
    def fails(_: Any, line: str) -> Iterator[tuple[str, int]]:
        yield line, 1 // (line != "bad")

    chunks, before = Chunks(), numbered(20)
    old = [chunks.write(fails, before, [])[1]] if changed else []
    with pytest.raises(UserError) as failed:
        chunks.write(fails, [*before[:10], ["good", "bad"], *before[10:]], old)
    assert (failed.value.number, failed.value.record) == (31, "bad")


def test_a_value_that_cannot_be_stored_is_refused_in_a_leaf_too() -> None:
    def handle(_: Any, line: str) -> Iterator[tuple[str, Any]]:
        yield line, open if line != "bad" else (each for each in "abc")

    chunks, before = Chunks(), numbered(20)
    _, ref = chunks.write(handle, before, [])
    with pytest.raises(CannotStore):
        chunks.write(handle, [*before, ["bad"]], [ref])


@given(st.lists(st.lists(st.integers() | st.text(max_size=2), max_size=3), max_size=5), st.booleans())
def test_what_is_known_of_leaves_comes_back(leaves: list[list[Any]], counted: bool) -> None:
    sizes = np.array([len(each) for each in leaves], np.int64)
    ids = np.frombuffer(b"".join(bytes([number]) * 16 for number in range(len(leaves))), "V16")
    counters = [{"lines": number} if counted else {} for number in range(len(leaves))]
    pairs = Column.of([(value, 1) for each in leaves for value in each])
    one = GivenByLeaf.of(ids, sizes * 300, sizes, pairs, counters)
    again = GivenByLeaf.from_bytes(one.to_bytes())
    for name in ("ids", "lengths", "sizes", "digests"):
        assert getattr(again, name).tolist() == getattr(one, name).tolist()
    assert again.counters == one.counters and again.content() == one.content()
