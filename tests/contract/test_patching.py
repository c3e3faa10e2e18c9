"""A chunk that is described by the one before it reads as the chunk mapped as a whole, after any number of changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import example, given, settings
from hypothesis import strategies as st

import incoop
from incoop.contraction.columns.by_hash import changed_hashes
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.splice import replaced_keys
from incoop.contraction.parts.headers import RunRef, read_region, read_run
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.sums import Delta, appeared, sums_at
from incoop.engine.running.counters import take_counts
from incoop.engine.stages.map_contract import chunk_leaves
from incoop.engine.stages.map_contract.chunk_leaves import StoredLeaves
from incoop.engine.stages.map_contract.grouping import map_chunk
from incoop.engine.stages.map_contract.leaf_table import LeafIds, LeafTable
from incoop.engine.stages.map_contract.leaves import shaping
from incoop.engine.stages.map_contract.mapping import Piece, UserError
from incoop.engine.stages.map_contract.patching import worth_patching
from incoop.engine.stages.map_contract.text_leaves import TextLeaves, cut_text
from incoop.engine.stages.map_contract.write_chunk import WrittenChunk, write_by_nearest, write_mapped
from incoop.inchdfs.cutting.records import Csv, Delimited, FixedLength, RecordFormat
from incoop.inchdfs.cutting.records import Lines as LineFormat
from incoop.job import Mapper

from .test_contraction_laws import Memory
from .test_equal_hashes import ALIKE


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_counted_yet() -> None:
    """Other tests call mappers that count, in this process."""
    take_counts()


Lines = list[str]


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def signed(_: Any, line: str) -> Iterator[tuple[str, int]]:
    """Sums that come to zero, and values that are zero."""
    for number, word in enumerate(line.split()):
        yield word, number % 3 - 1


def places(_: Any, line: str) -> Iterator[tuple[str, tuple[int, int]]]:
    incoop.counter("lines", sample=line)
    for number, word in enumerate(line.split()):
        yield word, (number, len(line))


def mixed(_: Any, line: str) -> Iterator[tuple[Any, Any]]:
    """Keys and values that are equal and look different."""
    for number, word in enumerate(line.split()):
        yield (1, 1.0, True, word)[number % 4], (1, True, 2, 0)[len(line) % 4]


def alike(_: Any, line: str) -> Iterator[tuple[int, int]]:
    """Different keys with equal hashes, a few of them in a leaf."""
    for word in line.split():
        yield ALIKE[int(word[1:]) % 2][int(word[1:]) % 3], 1


def total(key: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    yield key, sum(values)


def slow_total(key: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    """No fold that is known."""
    result = 0
    for value in values:
        result += value
    yield key, result


def first_and_sum(key: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    given = list(values)
    yield key, (given[0][0], sum(size for _, size in given))


def counting(key: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    """A combiner that counts how often it is called."""
    incoop.counter("combined")
    yield key, sum(values)


def vectors(_: Any, line: str) -> Iterator[tuple[str, Any]]:
    for number, word in enumerate(line.split()):
        yield word, np.array([number, len(line)])


def in_place(key: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    """A combiner that changes what it is given."""
    first, *others = values
    for other in others:
        first += other
    yield key, first


JOBS = [
    (words, total),
    (signed, total),
    (mixed, total),
    (alike, total),
    (alike, slow_total),
    (places, first_and_sum),
    (vectors, in_place),
    (words, counting),
    (words, None),
    (places, None),
]

word_lists = st.lists(st.sampled_from([f"w{n}" for n in range(30)]), max_size=6).map(" ".join)


def floats(_: Any, line: str) -> Iterator[tuple[str, float]]:
    for number, word in enumerate(line.split()):
        yield word, 0.1 * (number + len(line))


JOBS += [(floats, total), (floats, slow_total), (floats, None)]

#: With groups of this many bytes, those of a test's leaves have two or three each.
GROUP = 40


def cut(of: list[Lines], group: int = 0) -> TextLeaves:
    """TextLeaves of these lines each."""
    contents = ["".join(f"{line}\n" for line in lines).encode() for lines in of]
    ends = np.cumsum([len(content) for content in contents]).tolist()
    ids = np.frombuffer(b"".join(xxhash.xxh3_128_digest(each) for each in contents), "V16")
    return TextLeaves(LeafIds(ids, np.diff(ends, prepend=0)), 8, group, b"".join(contents), LineFormat())


def whole(of: TextLeaves) -> list[Piece]:
    return [Piece(lambda: LineFormat().records(of.content))]


class Chunk:
    """A stored chunk."""

    def __init__(self, memory: Memory, written: WrittenChunk, pack: PackBuilder) -> None:
        name = memory.keep(pack)
        self.memory, self.written = memory, written
        self.ref = RunRef(name, *written.header)
        self.change = written.stored_change(name)

    def run(self) -> Run:
        return read_run(self.ref, self.memory).whole()

    @property
    def kept_by_leaf(self) -> bool:
        return bool(len(StoredLeaves(self.ref, self.memory).leaves))


def scratch(mapper: Mapper, of: TextLeaves, combiner: Combiner, memory: Memory) -> Chunk:
    pack = PackBuilder()
    return Chunk(memory, write_mapped(map_chunk(mapper, whole(of), combiner, of), combiner, None, pack), pack)


def described(mapper: Mapper, of: TextLeaves, combiner: Combiner, old: Chunk) -> Chunk | None:
    pack = PackBuilder()
    written = write_by_nearest(mapper, of, combiner, [old.ref], bytes(of.cut.ids[0]), old.memory, pack)
    return Chunk(old.memory, written, pack) if written is not None else None


def check_change(old: Chunk, new: Chunk) -> None:
    """What is told of the change is the difference of the two."""
    assert new.change is not None and new.change.base == old.ref.digest
    region = read_region(new.change.ref, new.memory)
    before, after = old.run(), new.run()
    differ = changed_hashes(before, after)
    if new.change.summed:
        delta = Delta.of_run(Run.from_bytes(region))
        sums, known = sums_at(before, delta), appeared(after)
        assert sums is not None and known is not None and set(differ.tolist()) == set(delta.hashes.tolist())
        there = np.isin(delta.hashes, after.hashes)
        fresh = sums.outcome(there)[1]
    else:
        change = Overlay.from_bytes(region)
        assert change.changed.tolist() == differ.tolist()
        fresh = change.fresh
    assert replaced_keys(before, differ, fresh).to_bytes() == after.to_bytes()


@st.composite
def histories(draw: st.DrawFn) -> list[list[Lines]]:
    """Versions of a chunk: in each, some leaves are replaced, removed, inserted, doubled or moved."""
    lines = st.lists(word_lists, min_size=1, max_size=4)
    versions = [draw(st.lists(lines, min_size=2, max_size=9))]
    for _ in range(draw(st.integers(1, 4))):
        after = list(versions[-1])
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, len(after) - 1))
            match draw(st.sampled_from(["replace", "remove", "insert", "double", "move", "back"])):
                case "replace":
                    after[at] = draw(lines)
                case "remove" if len(after) > 2:
                    del after[at]
                case "insert":
                    after.insert(at, draw(lines))
                case "double":
                    after.insert(at, after[draw(st.integers(0, len(after) - 1))])
                case "move":
                    after.insert(draw(st.integers(0, len(after) - 1)), after.pop(at))
                case "back":
                    after = list(draw(st.sampled_from(versions)))
        versions.append(after)
    return versions


@pytest.mark.parametrize("few", [0, 1 << 20], ids=["by leaf", "by group"])
@pytest.mark.parametrize("largest", [0.0, 0.25, 99.0], ids=["always a base", "sometimes", "always a patch"])
@pytest.mark.parametrize(("mapper", "function"), JOBS)
@given(versions=histories())
@settings(max_examples=25)
# Keys with equal hashes: the second one new, both new, both there before; one that goes, and another that comes.
@example(versions=[[["w0"], ["w6"], ["w12"]], [["w0"], ["w2"], ["w12"]]])
@example(versions=[[["w1"], ["w7"], ["w1"]], [["w1"], ["w7"], ["w0 w2"]]])
@example(versions=[[["w0 w2"], ["w1"], ["w1"]], [["w0 w2"], ["w1"], ["w2"]]])
@example(versions=[[["w1"], ["w3"], ["w5"]], [["w1"], ["w3"], ["w0"]], [["w1"], ["w3"], ["w2"]], [["w1"], ["w3"]]])
def test_a_described_chunk_reads_as_one_mapped_as_a_whole(
    mapper: Mapper, function: Any, largest: float, few: int, versions: list[list[Lines]]
) -> None:
    combiner = Combiner.of(function)
    memory = Memory()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_leaves, "_LARGEST_PATCH", largest)
        patch.setattr(TextLeaves, "bytes_of_a_key", 1 if few else 1 << 30)
        first, *later = (cut(version, GROUP) for version in versions)
        old = scratch(mapper, first, combiner, memory)
        for leaves in later:
            expected = scratch(mapper, leaves, combiner, memory)
            found = described(mapper, leaves, combiner, old) if old.kept_by_leaf else None
            if found is not None:
                assert found.run().to_bytes() == expected.run().to_bytes()
                assert read_run(found.ref, memory).content() == read_run(expected.ref, memory).content()
                assert found.written.counters == expected.written.counters
                check_change(old, found)
            old = found or expected


def test_groups_of_leaves_are_what_is_combined_first() -> None:
    """Which group a leaf is in depends on nothing but the leaves: a float sum is the same by leaf and by group."""
    leaves = cut([[f"a{number} b" for number in range(n, n + 9)] for n in range(12)], GROUP)
    assert 1 < len(leaves.groups) < len(leaves.cut)
    combiner = Combiner.of(slow_total)
    runs = []
    for few in (1, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TextLeaves, "bytes_of_a_key", few)
            mapped = map_chunk(floats, whole(leaves), combiner, leaves)
            assert mapped.table is not None and mapped.table.grouped == (few == 1)
            assert mapped.runs.single is not None
            runs.append(mapped.runs.single.to_bytes())
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("mapper", "function"), [job for job in JOBS if job[0] not in (mixed, alike) and job[1] is not counting]
)
def test_one_changed_leaf_is_all_that_is_mapped(mapper: Mapper, function: Any) -> None:
    calls = 0

    def counted(key: Any, line: str) -> Any:
        nonlocal calls
        calls += 1
        return mapper(key, line)

    lines = [[f"w{number} w{number + 1} common" for number in range(leaf, leaf + 20)] for leaf in range(10)]
    combiner, memory = Combiner.of(function), Memory()
    old = scratch(mapper, cut(lines), combiner, memory)
    lines[4] = [*lines[4], "a new line"]
    assert described(counted, cut(lines), combiner, old) is not None
    assert calls == len(lines[4])


def test_what_did_not_change_is_not_written() -> None:
    """A large chunk in which a line changed is a few hundred bytes: what stayed of it is referred to."""
    lines = [[f"k{number} k{number + 1}" for number in range(leaf * 20, leaf * 20 + 20)] for leaf in range(200)]
    for mapper, function in ((words, total), (words, slow_total), (words, None)):
        combiner, memory = Combiner.of(function), Memory()
        old = scratch(mapper, cut(lines), combiner, memory)
        changed = [*lines[:77], ["other words"], *lines[78:]]
        new = described(mapper, cut(changed), combiner, old)
        assert new is not None
        assert len(memory.packs[new.ref.pack]) < 4000 < len(memory.packs[old.ref.pack])
        assert memory.packs[old.ref.pack] and new.written.refs == old.ref.pack


def test_what_a_combiner_counts_is_counted_over_the_whole_chunk_after_an_edit() -> None:
    """What its calls count on the keys of a changed leaf is not what they count on all of them."""
    combiner, memory = Combiner.of(counting), Memory()
    once, twice, more = ([["a"], ["b"], last] for last in (["c"], ["b"], ["b a"]))
    never_called = scratch(words, cut(once), combiner, memory)
    assert never_called.written.counters == {} and never_called.kept_by_leaf
    assert described(words, cut(twice), combiner, never_called) is None
    called = scratch(words, cut(twice), combiner, memory)
    assert called.written.counters == {"combined": 1}
    assert not called.kept_by_leaf, "nothing that a later edit could begin from"
    assert scratch(words, cut(more), combiner, memory).written.counters == {"combined": 2}


def test_a_chunk_of_mostly_new_leaves_is_not_described() -> None:
    old = scratch(words, cut([["a"], ["b"], ["c"]]), Combiner.of(total), Memory())
    assert described(words, cut([["a"], *([f"new {n}"] for n in range(9))]), Combiner.of(total), old) is None
    assert not worth_patching(1 / 10)


def test_a_mapper_that_fails_in_a_new_leaf_is_left_to_the_whole_chunk() -> None:
    def failing(_: Any, line: str) -> Iterator[tuple[str, tuple[int, int]]]:
        if line == "bad":
            raise ValueError("bad line")
        yield line, (0, 1)

    combiner = Combiner.of(first_and_sum)
    good = [["a", "b"], ["c"], ["d"], ["e"]]
    old = scratch(failing, cut(good), combiner, Memory())
    changed = cut([*good[:3], ["e", "bad"]])
    assert described(failing, changed, combiner, old) is None
    with pytest.raises(UserError) as raised:
        scratch(failing, changed, combiner, Memory())
    assert raised.value.number == 5


def test_a_mapper_that_raises_stop_iteration_has_failed() -> None:
    def stopping(_: Any, line: str) -> list[tuple[str, int]]:
        return [(line, 1)] if line != "bad" else [next(iter(()))]

    for lines in (["a", "bad", "b"], ["a", "bad"]):
        with pytest.raises(UserError):
            scratch(stopping, cut([lines, ["c"]]), Combiner.of(total), Memory())


def test_leaves_are_part_of_what_identifies_a_job_where_they_can_show_in_its_result() -> None:
    assert shaping(None, first_and_sum) != shaping(0, first_and_sum) != shaping(1024, first_and_sum)
    assert shaping(1024, None) == shaping(0, None)


def test_a_leaf_holds_values_as_the_mapper_gave_them_also_when_the_combiner_changes_them() -> None:
    lines = [["a b"], ["a a"], ["b c"], ["a c"]]
    table = map_chunk(vectors, [], Combiner.of(in_place), cut(lines)).table
    assert table is not None and table.values is not None
    given = sorted(value.tolist() for leaf in lines for line in leaf for _, value in vectors(None, line))
    assert sorted(value.tolist() for value in table.values.to_list()) == given


TEXT = b"".join(b"%d,%s\n" % (n, b"word " * (n % 7)) for n in range(4000))


@pytest.mark.parametrize(
    "form", [LineFormat(), Csv(), Delimited(b"\n"), FixedLength(4), LineFormat(encoding=None)], ids=str
)
def test_leaves_hold_whole_records_and_an_edit_changes_few(form: RecordFormat) -> None:
    content = TEXT[: len(TEXT) // 4 * 4]
    leaves = cut_text(content, 512, form, 4096)
    assert leaves is not None and leaves.ends[-1] == len(content) and len(leaves.cut) > 50
    assert sorted(set(leaves.groups)) == leaves.groups and leaves.groups[-1] == len(leaves.cut)
    records = [record for piece in leaves.decoded() for record in piece.records()]
    assert records == list(form.records(content))
    assert records == [r for number in range(len(leaves.groups)) for r in leaves.group_piece(number).records()]
    at = content.index(b"\n", len(content) // 2) + 1
    at -= at % 4 if isinstance(form, FixedLength) else 0
    other = cut_text(content[:at] + b"new\n" + content[at:], 512, form, 4096)
    assert other is not None and len(set(other.cut.ids.tolist()) - set(leaves.cut.ids.tolist())) <= 6


def test_lines_that_end_otherwise_are_the_same_by_leaf() -> None:
    content = TEXT.replace(b"7,", b"7\r\n").replace(b"5,", b"5\r")
    leaves = cut_text(content, 512, LineFormat())
    assert leaves is not None
    assert [r for piece in leaves.decoded() for r in piece.records()] == LineFormat().records(content)


@given(st.lists(st.lists(word_lists, min_size=1, max_size=4), min_size=2, max_size=9))
def test_a_table_comes_back_as_it_was(of: list[Lines]) -> None:
    for function, mapper in ((total, words), (first_and_sum, places), (None, places)):
        table = map_chunk(mapper, [], Combiner.of(function), cut(of)).table
        if table is not None:
            assert LeafTable.from_bytes(table.to_bytes(), table.leaves).to_bytes() == table.to_bytes()
