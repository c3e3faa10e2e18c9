"""A chunk made from the leaves of the one before it equals the chunk mapped as a whole, to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

import incoop
from incoop.contraction.columns.run import Run
from incoop.contraction.tree.combine import Combiner
from incoop.engine.stages.map_contract.grouping import group_pieces
from incoop.engine.stages.map_contract.leaf_table import LeafTable
from incoop.engine.stages.map_contract.leaves import shaping
from incoop.engine.stages.map_contract.mapping import Mapped, Piece, UserError
from incoop.engine.stages.map_contract.patching import known_leaves, patched, worth_patching
from incoop.engine.stages.map_contract.summing import sum_pieces
from incoop.job import Mapper

from .test_equal_hashes import ALIKE

Lines = list[str]


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def signed(_: Any, line: str) -> Iterator[tuple[str, int]]:
    """Sums that come to zero, and values that are zero."""
    for number, word in enumerate(line.split()):
        yield word, number % 3 - 1


def places(_: Any, line: str) -> Iterator[tuple[str, tuple[int, int]]]:
    incoop.counter("lines")
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
leaves = st.lists(st.lists(word_lists, max_size=4), min_size=2, max_size=9)


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[Lines], list[Lines]]:
    """Leaves before and after: some replaced, removed, inserted, doubled, moved."""
    before = draw(leaves)
    after = list(before)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(after) - 1))
        match draw(st.sampled_from(["replace", "remove", "insert", "double", "move"])):
            case "replace":
                after[at] = draw(st.lists(word_lists, max_size=4))
            case "remove" if len(after) > 2:
                del after[at]
            case "insert":
                after.insert(at, draw(st.lists(word_lists, max_size=4)))
            case "double":
                after.insert(at, after[draw(st.integers(0, len(after) - 1))])
            case "move":
                after.insert(draw(st.integers(0, len(after) - 1)), after.pop(at))
    return before, after


def pieces(of: list[Lines]) -> list[Piece]:
    return [Piece(xxhash.xxh3_128_digest(repr(lines).encode()), lambda lines=lines: lines) for lines in of]  # type: ignore[misc]


def mapped(mapper: Mapper, of: list[Piece], combiner: Combiner) -> Mapped:
    return (sum_pieces(mapper, of) if combiner.fold else None) or group_pieces(mapper, of, combiner)


def only_run(result: Mapped) -> Run:
    assert result.runs.single is not None
    return result.runs.single


@pytest.mark.parametrize(("mapper", "function"), JOBS)
@given(change=edits())
# Keys with equal hashes: the second one new, both new, both there before.
@example(change=([["w0"], ["w6"], ["w12"]], [["w0"], ["w2"], ["w12"]]))
@example(change=([["w1"], ["w7"], ["w1"]], [["w1"], ["w7"], ["w0 w2"]]))
@example(change=([["w0 w2"], ["w1"], ["w1"]], [["w0 w2"], ["w1"], ["w2"]]))
def test_a_patched_chunk_equals_one_mapped_as_a_whole(
    mapper: Mapper, function: Any, change: tuple[list[Lines], list[Lines]]
) -> None:
    before, after = change
    combiner = Combiner.of(function)
    old, scratch = mapped(mapper, pieces(before), combiner), mapped(mapper, pieces(after), combiner)
    whole = mapped(mapper, pieces([[line for lines in after for line in lines]]), combiner)
    assert only_run(scratch).to_bytes() == only_run(whole).to_bytes()
    assert scratch.counters == whole.counters
    if old.leaves is None:
        return
    table = LeafTable.from_bytes(old.leaves.to_bytes())
    result = patched(mapper, pieces(after), combiner, table, only_run(old))
    if result is None:
        return
    assert only_run(result).to_bytes() == only_run(scratch).to_bytes()
    assert result.counters == scratch.counters
    if result.leaves is not None and scratch.leaves is not None:
        assert result.leaves.to_bytes() == scratch.leaves.to_bytes()


@pytest.mark.parametrize(
    ("mapper", "function"), [job for job in JOBS if job[0] not in (mixed, alike) and job[1] is not counting]
)
def test_one_changed_leaf_is_all_that_is_mapped(mapper: Mapper, function: Any) -> None:
    calls = 0

    def counting(key: Any, line: str) -> Any:
        nonlocal calls
        calls += 1
        return mapper(key, line)

    lines = [[f"w{number} w{number + 1} common" for number in range(leaf, leaf + 20)] for leaf in range(10)]
    old = mapped(mapper, pieces(lines), Combiner.of(function))
    lines[4] = [*lines[4], "a new line"]
    assert old.leaves is not None and worth_patching(known_leaves(pieces(lines), old.leaves), len(lines))
    result = patched(counting, pieces(lines), Combiner.of(function), old.leaves, only_run(old))
    assert result is not None
    assert calls == len(lines[4])


def test_what_a_combiner_counts_is_counted_over_the_whole_chunk_after_an_edit() -> None:
    """What its calls count on the keys of a changed leaf is not what they count on all of them."""
    combiner = Combiner.of(counting)
    once, twice, more = [["a"], ["b"], ["c"]], [["a"], ["b"], ["b"]], [["a"], ["b"], ["b a"]]
    never_called = mapped(words, pieces(once), combiner)
    assert never_called.counters == {} and never_called.leaves is not None
    assert patched(words, pieces(twice), combiner, never_called.leaves, only_run(never_called)) is None
    assert mapped(words, pieces(twice), combiner).counters == {"combined": 1}
    assert mapped(words, pieces(twice), combiner).leaves is None, "nothing that a later edit could begin from"
    assert mapped(words, pieces(more), combiner).counters == {"combined": 2}


def test_a_chunk_of_mostly_new_leaves_is_not_patched() -> None:
    table = mapped(words, pieces([["a"], ["b"], ["c"]]), Combiner.of(total)).leaves
    assert table is not None
    changed = pieces([["a"], *([f"new {number}"] for number in range(9))])
    assert known_leaves(changed, table) == 1
    assert not worth_patching(1, len(changed))


def test_a_mapper_that_fails_in_a_new_leaf_is_left_to_the_whole_chunk() -> None:
    def failing(_: Any, line: str) -> Iterator[tuple[str, tuple[int, int]]]:
        if line == "bad":
            raise ValueError("bad line")
        yield line, (0, 1)

    combiner = Combiner.of(first_and_sum)
    good = [["a", "b"], ["c"], ["d"], ["e"]]
    old = mapped(failing, pieces(good), combiner)
    assert old.leaves is not None
    changed = pieces([*good[:3], ["e", "bad"]])
    assert patched(failing, changed, combiner, old.leaves, only_run(old)) is None
    with pytest.raises(UserError) as raised:
        mapped(failing, changed, combiner)
    assert raised.value.number == 5


def test_a_mapper_that_raises_stop_iteration_has_failed() -> None:
    def stopping(_: Any, line: str) -> list[tuple[str, int]]:
        return [(line, 1)] if line != "bad" else [next(iter(()))]

    for lines in (["a", "bad", "b"], ["a", "bad"]):
        with pytest.raises(UserError):
            mapped(stopping, pieces([lines]), Combiner.of(total))


@given(leaves)
def test_a_table_comes_back_as_it_was(of: list[Lines]) -> None:
    for function, mapper in ((total, words), (first_and_sum, places)):
        table = mapped(mapper, pieces(of), Combiner.of(function)).leaves
        if table is not None:
            assert LeafTable.from_bytes(table.to_bytes()).to_bytes() == table.to_bytes()


def test_leaves_are_part_of_what_identifies_a_job_where_they_can_show_in_its_result() -> None:
    assert shaping(None, first_and_sum) != shaping(0, first_and_sum) != shaping(1024, first_and_sum)
    assert shaping(None, total) == shaping(0, total) == shaping(1024, total)
    assert shaping(1024, None) == shaping(0, None)


def test_a_chunk_with_many_keys_in_its_first_leaf_is_combined_as_a_whole() -> None:
    """And so is one that could be made from an older one that is kept by leaf."""
    combiner = Combiner.of(first_and_sum)
    few, many = [["a b"] * 30, ["a c"] * 30, ["b c"] * 30], [["a b", "c d e"], ["a c"] * 30, ["b c"] * 30]
    old = group_pieces(places, pieces(few), combiner, most_keys=3)
    assert old.leaves is not None
    scratch = group_pieces(places, pieces(many), combiner, most_keys=3)
    assert scratch.leaves is None
    assert patched(places, pieces(many), combiner, old.leaves, only_run(old), most_keys=3) is None
    assert patched(places, pieces(many), combiner, old.leaves, only_run(old), most_keys=5) is not None


def test_a_leaf_holds_combined_values_of_keys_that_have_many() -> None:
    result = group_pieces(places, pieces([["a b"] * 30, ["a c"] * 3]), Combiner.of(first_and_sum))
    assert result.leaves is not None and result.leaves.counts is not None
    assert sorted(result.leaves.counts.tolist()) == [1, 1, 3, 3]


def test_a_leaf_holds_values_as_the_mapper_gave_them_also_when_the_combiner_changes_them() -> None:
    lines = [["a b"], ["a a"], ["b c"], ["a c"]]
    table = group_pieces(vectors, pieces(lines), Combiner.of(in_place)).leaves
    assert table is not None
    given = sorted(value.tolist() for leaf in lines for line in leaf for _, value in vectors(None, line))
    assert sorted(value.tolist() for value in table.values.to_list()) == given
