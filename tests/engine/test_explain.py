"""Why a run would run what it would run, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.rows import REF_ROW
from incoop.engine.stages.map_contract.explain import changed_code, lost_runs, why_it_runs
from incoop.engine.stages.map_contract.identity import JobIdentity
from incoop.engine.stages.map_contract.plan import TreePlan, plan_chunks
from incoop.engine.stages.map_contract.record import Level, TreeRecord

CODE = {"function job:mapper": "aa", "global job:STOP": "bb"}


def identity(tree: str = "tree", parts: dict[str, str] | None = None) -> JobIdentity:
    return JobIdentity((b"map",), b"combine", b"\xab", tree, CODE if parts is None else parts, [])


def record(text: str, lost: str = "") -> TreeRecord:
    """The last run, over these chunks; the results of some are not stored."""
    ids = np.frombuffer(b"".join(letter.encode() * 16 for letter in text), "V16")
    refs = np.array([(b"p" * 16, b"d" * 16, 0, 0 if letter in lost else 1, False) for letter in text], REF_ROW)
    return TreeRecord([Level(ids, refs)], 1, "tree", "ab", 1)


def plan(text: str, before: TreeRecord | None, memo: str = "") -> TreePlan:
    """A plan over these chunks, some of which the memo holds."""
    made = plan_chunks(np.frombuffer(b"".join(letter.encode() * 16 for letter in text), "V16"), before)
    known = RunRef(b"p" * 16, b"d" * 16, 0, 1)
    return made.learned({(0, at): known for at, letter in enumerate(text) if letter in memo})


def why_of(made: TreePlan, *others: Any) -> str:
    return why_it_runs(made.chunks.ids[made.needed()[0]].tolist(), *others)


@pytest.mark.parametrize(
    ("now", "before", "memo", "lost", "done", "why"),
    [
        pytest.param("ab", "ab", "", False, True, "nothing changed", id="the output is known"),
        pytest.param("ab", None, "", False, False, "the job has not run in this store", id="a first run"),
        pytest.param(
            "ab", None, "ab", False, False, "the job is new, but its chunks are known", id="chunks of another"
        ),
        pytest.param("axb", "ab", "", False, False, "1 chunk is new", id="a new chunk"),
        pytest.param("xyz", "ab", "", False, False, "3 chunks are new", id="new chunks"),
        pytest.param("b", "ab", "", False, False, "chunks were removed or moved", id="a chunk that went"),
        pytest.param("ba", "ab", "", True, False, "stored results were lost", id="results that are lost"),
    ],
)
def test_why(now: str, before: str | None, memo: str, lost: bool, done: bool, why: str) -> None:
    old = record(before) if before is not None else None
    assert why_of(plan(now, old, memo), old, CODE, identity(), done, lost) == why


def test_chunks_whose_entries_are_lost_are_told_from_new_ones() -> None:
    old = record("abc", lost="bc")
    assert why_of(plan("abcx", old), old, CODE, identity(), False, False) == (
        "1 chunk is new and the memo entries of 2 chunks are lost"
    )
    assert why_of(plan("abc", old), old, CODE, identity(), False, False) == ("the memo entries of 2 chunks are lost")


def test_large_numbers_of_chunks_are_readable() -> None:
    old = record("a")
    many = plan_chunks(np.arange(2400, dtype="<u8").view("V16"), old)
    assert why_of(many, old, CODE, identity(), False, False) == "1,200 chunks are new"


@pytest.mark.parametrize(
    ("tree", "parts", "why"),
    [
        pytest.param(
            "other",
            {},
            "code changed: function `mapper` in `job` removed; global `STOP` in `job` removed",
            id="removed",
        ),
        pytest.param(
            "other", CODE | {"global job:STOP": "cc"}, "code changed: global `STOP` in `job` changed", id="changed"
        ),
        pytest.param("other", None, "code changed: parameters of the job are others", id="none of the code"),
    ],
)
def test_what_changed_in_the_code_is_named(tree: str, parts: dict[str, str] | None, why: str) -> None:
    old = record("ab")
    assert why_of(plan("ab", old), old, CODE, identity(tree, parts), False, False) == why


def test_another_reducer_is_changed_code_too() -> None:
    old = record("ab")
    other = JobIdentity((b"map",), b"combine", b"\xcd", "tree", CODE, [])
    assert why_of(plan("ab", old), old, CODE, other, False, False).startswith("code changed: ")


def test_the_first_five_changes_are_named_and_all_where_nothing_is_known_of_the_last_code() -> None:
    old = record("ab")
    seven = {f"function job:f{at}": "aa" for at in range(7)}
    why = why_of(plan("ab", old), old, None, identity("other", seven), False, False)
    assert why == "code changed: " + "; ".join(f"function `f{at}` in `job` added" for at in range(5))


def test_code_is_changed_only_where_it_gives_something_else() -> None:
    old = record("ab")
    assert changed_code(None, CODE, identity("other")) == []
    assert changed_code(old, {}, identity()) == [], "parts that no result depends on"
    assert changed_code(old, CODE, identity("other", {})) == [
        "function `mapper` in `job` removed",
        "global `STOP` in `job` removed",
    ]
    assert changed_code(old, CODE, identity("other")) == ["parameters of the job are others"]


def test_runs_are_lost_that_are_missing_and_were_there() -> None:
    a, b, x = (letter * 16 for letter in (b"a", b"b", b"x"))
    assert lost_runs([a, x], record("abc")) == {a}
    assert lost_runs([], record("abc")) == lost_runs([x], record("abc")) == lost_runs([a, b], None) == frozenset()
