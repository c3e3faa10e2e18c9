"""What has to run, decided from ids alone: the plan of a tree against the last one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.content_ids import content_id
from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.rows import REF_ROW
from incoop.contraction.tree.node import NodeTask
from incoop.engine.stages.map_contract.plan import BATCHES, FLAT, NONE, TREE, WIDE, TreePlan, lay_nodes, plan_chunks
from incoop.engine.stages.map_contract.plan import run_ids as ids_of_runs
from incoop.engine.stages.map_contract.record import Ids, Level, TreeRecord

SEED = b"the combiner"


def ids(text: str) -> Ids:
    """One id a letter. Letters of one kind but for their case share the first half of their ids."""
    return np.frombuffer(b"".join(letter.lower().encode() * 8 + letter.encode() * 8 for letter in text), "V16")


def name(id_: bytes) -> str:
    return id_.decode()[-1]


def ref(letter: str) -> RunRef:
    return RunRef(letter.encode() * 16, letter.upper().encode() * 16, ord(letter), 1)


def refs(text: str) -> np.ndarray:
    return np.array([ref(letter).row() for letter in text], REF_ROW)


def record(*levels: Level) -> TreeRecord:
    return TreeRecord(list(levels), 1, "tree", "reduce", 4, ((0, len(levels[0].ids)),))


def generation(text: str, shape: str = NONE, tails: list[int] | None = None) -> TreeRecord:
    """What a run over these chunks leaves, with a reference for each of its runs."""
    plan = planned(text, None, shape, tails)
    known = {
        (level, index): ref(name(id_)) if level == 0 else RunRef(id_, id_, level, 1 + index)
        for level, index, id_ in plan.unknown()
    }
    return record(*plan.learned(known).levels)


def planned(text: str, old: TreeRecord | None, shape: str = NONE, tails: list[int] | None = None) -> TreePlan:
    chunks = plan_chunks(ids(text), old)
    ends = np.array(tails if tails is not None else [ord(letter) for letter in text], np.uint64)
    return lay_nodes(chunks, ends, SEED, old, shape)


# Chunk runs


def test_a_runs_id_is_that_of_its_mapper_and_its_content() -> None:
    found = ids_of_runs((b"one", b"two"), np.array([0, 1, 1]), ids("aab"))
    assert found.tolist() == [
        xxhash.xxh3_128_digest(b"one" + ids("a")[0].tobytes()),
        xxhash.xxh3_128_digest(b"two" + ids("a")[0].tobytes()),
        xxhash.xxh3_128_digest(b"two" + ids("b")[0].tobytes()),
    ]


def test_every_chunk_has_a_mapper() -> None:
    with pytest.raises(ValueError):
        ids_of_runs((b"one",), np.array([0]), ids("ab"))


def test_without_a_last_generation_everything_is_to_be_mapped() -> None:
    plan = plan_chunks(ids("abc"), None)
    assert plan.needed() == ([0, 1, 2], [])
    assert plan.follows[0].tolist() == [-1, -1, -1]
    assert plan.replaced(1) == ()
    assert not plan.all_chunks_known


def test_what_the_last_generation_holds_keeps_its_reference_wherever_it_stands_now() -> None:
    plan = plan_chunks(ids("cxab"), generation("abc"))
    assert plan.needed()[0] == [1]
    assert [RunRef.of_row(row) for row in plan.chunks.refs[[0, 2, 3]]] == [ref("c"), ref("a"), ref("b")]
    assert plan.known[0].tolist() == [True, False, True, True]
    assert not plan.all_chunks_known
    assert plan_chunks(ids("cab"), generation("abc")).all_chunks_known


def test_a_chunk_that_stands_twice_is_known_twice() -> None:
    assert plan_chunks(ids("aba"), generation("ab")).known[0].all()
    assert plan_chunks(ids("aab"), generation("ab")).needed()[0] == []


def test_an_id_that_shares_its_first_half_with_another_is_not_taken_for_it() -> None:
    plan = plan_chunks(ids("xA"), generation("ab"))
    assert plan.needed()[0] == [0, 1]


def test_a_run_that_was_never_stored_is_not_known() -> None:
    old = generation("ab")
    old.levels[0].refs["length"][1] = 0
    plan = plan_chunks(ids("ab"), old)
    assert plan.known[0].tolist() == [True, False]
    assert plan.follows[0].tolist() == [0, 1]


def test_an_empty_input_and_an_empty_last_generation_need_nothing_and_everything() -> None:
    assert plan_chunks(ids(""), generation("ab")).needed() == ([], [])
    empty = record(Level(ids(""), refs("")))
    assert plan_chunks(ids("ab"), empty).needed() == ([0, 1], [])


@pytest.mark.parametrize(
    ("before", "now", "follows"),
    [
        pytest.param("abc", "abc", [0, 1, 2], id="a known chunk follows itself"),
        pytest.param("abc", "axc", [0, 1, 2], id="an edited chunk follows the one that it replaces"),
        pytest.param("abc", "xbc", [0, 1, 2], id="also the first one"),
        pytest.param("abc", "abx", [0, 1, 2], id="and the last one"),
        pytest.param("abc", "abcx", [0, 1, 2, -1], id="an appended chunk follows none"),
        pytest.param("abc", "axbc", [0, -1, 1, 2], id="an inserted one neither, its place is taken"),
        pytest.param("abcd", "axyd", [0, 1, 2, 3], id="two in a row follow two in a row"),
        pytest.param("abcd", "axd", [0, 1, 3], id="one for two follows the first"),
        pytest.param("abcd", "xycd", [0, 1, 2, 3], id="two at the beginning"),
        pytest.param("ab", "xy", [0, 1], id="all of them"),
        pytest.param("ab", "xyz", [0, 1, -1], id="more than there were"),
        pytest.param("abcd", "cdab", [2, 3, 0, 1], id="moved chunks follow themselves"),
    ],
)
def test_a_new_chunk_follows_the_old_one_between_the_same_neighbours(before: str, now: str, follows: list[int]) -> None:
    assert plan_chunks(ids(now), generation(before)).follows[0].tolist() == follows


@pytest.mark.parametrize(
    ("before", "now", "index", "replaced"),
    [
        pytest.param("abcde", "abxde", 2, "c", id="what stood there"),
        pytest.param("abcde", "abcde", 2, "", id="nothing, when all are still there"),
        pytest.param("abcde", "axe", 1, "bdc", id="what stood there, counted from both sides, then what stood beside"),
        pytest.param("abcde", "axcde", 1, "b", id="not a neighbour that is still there"),
        pytest.param("abcde", "xde", 0, "acb", id="at the beginning"),
        pytest.param("abcde", "abx", 2, "ced", id="at the end"),
        pytest.param("abcdefg", "abxg", 2, "cfed", id="not what is two away from both sides"),
        pytest.param("abcdefghi", "abxi", 2, "chgd", id="nor what lies in the middle of a long gap"),
        pytest.param("ab", "x", 0, "ab", id="when nothing is as it was"),
    ],
)
def test_a_new_chunk_may_hold_leaves_of_the_old_ones_that_are_gone_about_its_place(
    before: str, now: str, index: int, replaced: str
) -> None:
    assert plan_chunks(ids(now), generation(before)).replaced(index) == tuple(map(ref, replaced))


def test_what_another_mapper_gave_is_nothing_to_begin_with() -> None:
    before = replace(generation("abcd"), mappers=((0, 1), (1, 3)))
    plan = plan_chunks(ids("xycd"), before, np.array([0, 1, 1, 1]))
    assert (plan.replaced(0), plan.replaced(1)) == ((ref("a"),), (ref("b"),))
    assert plan_chunks(ids("xbcd"), before, np.array([1, 1, 1, 1])).replaced(0) == ()


letters = st.text("abcdefghijklmnopqrstuvwxyz", max_size=12)


@given(letters, letters)
def test_exactly_the_chunks_that_the_last_generation_lacks_are_mapped(before: str, now: str) -> None:
    plan = plan_chunks(ids(now), generation(before))
    assert plan.needed()[0] == [at for at, letter in enumerate(now) if letter not in before]
    for at, letter in enumerate(now):
        if letter in before:
            assert RunRef.of_row(plan.chunks.refs[at]) == ref(letter)
            assert before[plan.follows[0][at]] == letter
    gone = {letter for letter in before if letter not in now}
    for at in plan.needed()[0]:
        assert {each.pack.decode()[0] for each in plan.replaced(at)} <= gone
    held = {int(place) for at, place in enumerate(plan.follows[0]) if now[at] in before}
    assert not held & {int(place) for at, place in enumerate(plan.follows[0]) if now[at] not in before}


# Nodes


@pytest.mark.parametrize(
    ("shape", "levels"),
    [
        pytest.param(TREE, [[2, 4, 5], [2, 3], [2]], id="a tree of combiners"),
        pytest.param(BATCHES, [[4, 5], [2]], id="few levels, for combiners that take many keys"),
        pytest.param(WIDE, [[5]], id="one level, for sums"),
        pytest.param(FLAT, [[5]], id="one node over all, without a combiner"),
        pytest.param(NONE, [], id="no node"),
    ],
)
def test_a_shape_says_how_chunks_are_grouped(shape: str, levels: list[list[int]]) -> None:
    plan = planned("abcde", None, shape, [1, 16, 1, 256, 1])
    assert [level.ends.tolist() for level in plan.levels[1:]] == levels
    assert [len(level.ids) for level in plan.levels[1:]] == [len(ends) for ends in levels]


@pytest.mark.parametrize("shape", [TREE, BATCHES, WIDE, FLAT, NONE])
def test_one_chunk_needs_no_node(shape: str) -> None:
    plan = planned("a", None, shape)
    assert len(plan.levels) == 1
    assert plan.root == ids("a")[0].tobytes()


def test_a_nodes_id_is_that_of_the_combiner_and_its_children() -> None:
    plan = planned("abcd", None, TREE, [1, 16, 1, 1])
    first, second = (content_id(SEED + ids(part).tobytes()) for part in ("ab", "cd"))
    assert plan.levels[1].ids.tolist() == [first, second]
    assert (plan.id_at((0, 2)), plan.id_at((1, 1))) == (ids("c")[0].tobytes(), second)
    assert plan.root == content_id(SEED + first + second)


def test_nodes_are_needed_bottom_up_and_only_above_what_changed() -> None:
    tails = [1, 16, 1, 16, 1, 16]
    old = generation("abcdef", TREE, tails)
    assert planned("abcdef", old, TREE, tails).needed() == ([], [])
    assert planned("abcdef", old, TREE, tails).unknown() == []
    plan = planned("abxdef", old, TREE, tails)
    assert plan.needed() == ([2], [(1, 1), (2, 0)])
    assert plan.counts() == ((3, 2), (1, 0)) and planned("abc", None).counts() == ()
    assert [(level, index) for level, index, _ in plan.unknown()] == [(0, 2), (1, 1), (2, 0)]
    assert [id_ for *_, id_ in plan.unknown()] == [
        ids("x")[0].tobytes(),
        bytes(plan.levels[1].ids[1]),
        plan.root,
    ]


def test_nodes_are_known_as_far_as_the_last_generation_or_a_task_has_them() -> None:
    text = "abcdefgh" * 12
    plan = planned(text, None, TREE, list(range(len(text))))
    nodes = [bytes(id_) for level in plan.levels[1:] for id_ in level.ids.tolist()]
    assert len(plan.levels) > 2 and plan.node_count == len(nodes)
    assert plan.known_nodes().tolist() == []
    learned = [(1, 0), (len(plan.levels) - 1, 0)]
    plan = plan.learned(dict.fromkeys(learned, ref("a")))
    assert plan.known_nodes().tolist() == [bytes(plan.levels[level].ids[index]) for level, index in learned]
    whole = planned(text, generation(text, TREE, list(range(len(text)))), TREE, list(range(len(text))))
    assert whole.known_nodes().tolist() == nodes
    assert planned(text, None).node_count == len(planned(text, None).known_nodes()) == 0


def test_what_is_learned_is_no_longer_needed() -> None:
    plan = planned("ab", None, TREE)
    plan = plan.learned({(0, 1): ref("b")})
    assert plan.needed() == ([0], [(1, 0)])
    plan = plan.learned({(1, 0): ref("z")})
    assert plan.needed() == ([0], [])
    assert RunRef.of_row(plan.levels[1].refs[0]) == ref("z")
    assert not plan.all_chunks_known


def test_a_new_node_is_made_from_the_old_one_that_most_of_its_children_belonged_to() -> None:
    tails = [1, 16, 1, 16]
    old = generation("abcd", TREE, tails)
    plan = planned("abxd", old, TREE, tails)
    assert plan.node_task(1, 1) == NodeTask(
        bytes(plan.levels[1].ids[1]),
        (ids("x")[0].tobytes(), ids("d")[0].tobytes()),
        bytes(old.levels[1].ids[1]),
        (ids("c")[0].tobytes(), ids("d")[0].tobytes()),
    )
    assert plan.node_task(2, 0) == NodeTask(
        plan.root,
        tuple(plan.levels[1].ids.tolist()),
        bytes(old.levels[2].ids[0]),
        tuple(old.levels[1].ids.tolist()),
    )


def test_the_parent_of_most_children_is_followed_not_that_of_the_first() -> None:
    old = generation("abcdef", TREE, [1, 16, 1, 1, 1, 16])
    plan = planned("bcde", old, TREE, [1, 1, 1, 16])
    assert plan.follows[1].tolist() == [1]


def test_a_node_without_a_child_that_was_there_begins_from_scratch() -> None:
    old = generation("ab", TREE)
    plan = planned("abxy", old, TREE, [1, 16, 1, 1])
    assert plan.node_task(1, 1) == NodeTask(
        bytes(plan.levels[1].ids[1]), (ids("x")[0].tobytes(), ids("y")[0].tobytes())
    )
    assert planned("ab", None, TREE).node_task(1, 0).old_id is None


def test_levels_that_the_last_generation_lacks_are_built_from_scratch() -> None:
    old = generation("ab", TREE)
    plan = planned("abcd", old, TREE, [1, 16, 1, 1])
    assert [level.tolist() for level in plan.follows[1:]] == [[0, -1], [-1]]
    assert plan.needed() == ([2, 3], [(1, 1), (2, 0)])


def test_nodes_of_another_tree_are_not_compared_with() -> None:
    old = generation("abcd", TREE, [1, 16, 1, 16])
    plan = lay_nodes(
        plan_chunks(ids("abcd"), old), np.array([1, 16, 1, 16], np.uint64), b"another combiner", None, TREE
    )
    assert plan.needed() == ([], [(1, 0), (1, 1), (2, 0)])
    assert plan.old is None


def test_laying_nodes_leaves_the_plan_of_the_chunks_as_it_was() -> None:
    chunks = plan_chunks(ids("ab"), None)
    lay_nodes(chunks, np.array([1, 1], np.uint64), SEED, None, TREE)
    assert (len(chunks.levels), len(chunks.known), len(chunks.follows)) == (1, 1, 1)


def test_nodes_are_laid_anew_over_the_chunks_of_a_plan_that_has_some() -> None:
    tails = [1, 16, 1, 1]
    before = planned("abcd", None, TREE, tails)
    again = lay_nodes(before, np.array(tails, np.uint64), SEED, None, TREE)
    assert [level.ids.tolist() for level in again.levels] == [level.ids.tolist() for level in before.levels]
    assert [known.tolist() for known in again.known] == [known.tolist() for known in before.known]
    assert [follows.tolist() for follows in again.follows] == [follows.tolist() for follows in before.follows]


def test_a_plan_stays_as_it_was_when_another_learns_more() -> None:
    plan = planned("ab", None, TREE)
    after = plan.learned({(0, 1): ref("b"), (1, 0): ref("z")})
    assert after.needed() == ([0], []) and plan.needed() == ([0, 1], [(1, 0)])
    assert not plan.chunks.refs["length"].any() and len(plan.known_nodes()) == 0


def test_a_task_gets_references_of_all_that_it_reads_and_of_others_asked_for() -> None:
    tails = [1, 16, 1, 16]
    old = generation("abcd", TREE, tails)
    plan = planned("abxd", old, TREE, tails)
    plan = plan.learned({(0, 2): ref("x")})
    task = plan.node_task(1, 1)
    found = plan.refs_for([task], {ids("a")[0].tobytes()})
    assert {name(id_): each for id_, each in found.items() if id_ != task.old_id} == {
        letter: ref(letter) for letter in "acdx"
    }
    assert task.old_id is not None and found[task.old_id].offset == 1
    assert plan.refs_for([], set()) == {}


def test_a_reference_is_given_only_for_what_is_stored() -> None:
    plan = planned("ab", None, TREE)
    plan = plan.learned({(0, 0): ref("a")})
    assert plan.refs_for([plan.node_task(1, 0)], set()) == {ids("a")[0].tobytes(): ref("a")}


def test_a_run_that_only_shares_half_an_id_is_not_given() -> None:
    plan = planned("aAb", None)
    plan = plan.learned({(0, at): ref(letter) for at, letter in enumerate("abc")})
    assert plan.refs_for([], {ids("A")[0].tobytes()}) == {ids("A")[0].tobytes(): ref("b")}


@given(letters, letters, st.sampled_from([TREE, BATCHES, WIDE, FLAT, NONE]))
def test_a_tree_planned_on_an_old_one_has_the_ids_of_one_planned_from_scratch(
    before: str, now: str, shape: str
) -> None:
    tails = [ord(letter) % 3 * 8 for letter in now]
    plan = planned(now, generation(before, shape, [ord(letter) % 3 * 8 for letter in before]), shape, tails)
    scratch = planned(now, None, shape, tails)
    assert [level.ids.tolist() for level in plan.levels] == [level.ids.tolist() for level in scratch.levels]
    assert [level.ends.tolist() for level in plan.levels] == [level.ends.tolist() for level in scratch.levels]
