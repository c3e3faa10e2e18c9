"""`changes()` is the difference of two full outputs."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import incoop
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.normal import normal
from incoop.result import _without

from .histories import random_history, some_lines
from .jobs import JOBS
from .places import Place

BY_NAME = {job.name: job for job in JOBS}
OWN_KEYS = [BY_NAME[name] for name in ("word count", "odd keys", "few pairs", "combiner with several values")]
OTHER_KEYS = [BY_NAME[name] for name in ("reducer with other keys", "reducer with other keys, not combined")]

Pairs = list[tuple[Any, Any]]


def values_by_key(pairs: Pairs) -> dict[bytes, list[Any]]:
    found: dict[bytes, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(encode(normal(key)), []).append(value)
    return found


def single(values: list[Any] | None) -> Any:
    return None if not values else values[0] if len(values) == 1 else values


@pytest.mark.parametrize("job", OWN_KEYS, ids=lambda job: job.name)
def test_changes_are_the_keys_whose_values_differ(job: incoop.Job, place: Place) -> None:
    before: dict[bytes, list[Any]] = {}
    for version in random_history(f"changes of {job.name}", edits=4):
        place.write(version)
        result = place.run(job)
        after = values_by_key(result.collect())
        expected = {
            key: (single(before.get(key)), single(after.get(key)))
            for key in before.keys() | after.keys()
            if encode(before.get(key)) != encode(after.get(key))
        }
        changes = list(result.changes())
        assert {encode(normal(each.key)): (each.old, each.new) for each in changes} == expected
        assert len(changes) == len(expected)
        before = after


@pytest.mark.parametrize("job", OTHER_KEYS, ids=lambda job: job.name)
def test_changes_of_keys_that_several_calls_emit_are_the_values_that_went_and_came(
    job: incoop.Job, place: Place
) -> None:
    def counted(pairs: Pairs) -> Counter[bytes]:
        return Counter(encode((normal(key) if key.__hash__ else key, value)) for key, value in pairs)

    def flat(changes: list[incoop.Change], side: str) -> Counter[bytes]:
        # The values of these jobs are numbers and None: a list is several of them.
        pairs: Pairs = []
        for each in changes:
            value = getattr(each, side)
            present = isinstance(each.key, list) if value is None else True
            pairs += [(each.key, one) for one in (value if isinstance(value, list) else [value])] if present else []
        return counted([pair for pair in pairs if not isinstance(pair[0], list)])

    before: Counter[bytes] = Counter()
    for version in random_history(f"changes of {job.name}", edits=4):
        place.write(version)
        result = place.run(job)
        after = counted([pair for pair in result.collect() if not isinstance(pair[0], list)])
        changes = list(result.changes())
        assert flat(changes, "old") == before - after
        assert flat(changes, "new") == after - before
        before = after


def test_changes_are_told_when_the_number_of_shards_moves(place: Place) -> None:
    lines = some_lines(random.Random(1), 60)
    word_count = BY_NAME["word count"]
    place.write(lines)
    place.run(word_count)
    place.write([*lines, "brandnew"])
    again = incoop.Job("word count", word_count.mapper, word_count.reducer, word_count.combiner, shards=4)
    assert [(each.key, each.old, each.new) for each in place.run(again).changes()] == [("brandnew", None, 1)]


def test_an_emptied_input_takes_every_key_away_and_back(place: Place) -> None:
    word_count = BY_NAME["word count"]
    place.write(["one two", "two"])
    assert {(each.key, each.old, each.new) for each in place.run(word_count).changes()} == {
        ("one", None, 1),
        ("two", None, 2),
    }
    place.write([])
    gone = place.run(word_count)
    assert gone.collect() == []
    assert {(each.key, each.old, each.new) for each in gone.changes()} == {("one", 1, None), ("two", 2, None)}
    place.write(["two"])
    assert [(each.key, each.old, each.new) for each in place.run(word_count).changes()] == [("two", None, 1)]


def as_they_are(_: Any, line: str) -> Any:
    yield line, len(line)


def test_a_chunk_that_stands_twice_goes_and_comes_as_often(place: Place) -> None:
    """A map-only job over files that are alike: one of two equal chunks is taken away, then both are there again."""
    job = incoop.Job("as they are", as_they_are)
    lines = [f"line {number}" for number in range(40)]
    place.write({"a": lines, "b": lines})
    assert len(place.run(job).collect()) == 80
    for files, old, new in (
        ({"a": lines}, 1, 0),
        ({"a": lines, "b": lines, "c": lines}, 0, 2),
        ({"a": lines, "b": [*lines, "line 3", "line 3"]}, 1, 0),
    ):
        place.write(files)
        changes = {each.key: (each.old, each.new) for each in place.run(job).changes()}
        expected = {line: (_times(old, line), _times(new, line)) for line in lines}
        if "line 3" in files.get("b", [])[40:]:
            expected["line 3"] = (None, 6)  # two more and one less
        assert changes == expected


def _times(count: int, line: str) -> Any:
    return None if not count else len(line) if count == 1 else [len(line)] * count


@pytest.mark.parametrize(
    ("pairs", "others", "left"),
    [
        pytest.param([("a", 1), ("a", 1)], [("a", 1)], [("a", 1)], id="one of two"),
        pytest.param([("a", 1), ("a", 1)], [("a", 1), ("a", 1)], [], id="both"),
        pytest.param([("a", 1), ("a", 2), ("a", 1)], [("a", 1)], [("a", 2), ("a", 1)], id="the later ones stay"),
        pytest.param([(1, 1), (1.0, 1)], [(True, 1)], [(1.0, 1)], id="equal keys are one key"),
        pytest.param([("a", 1)], [("a", 1.0)], [("a", 1)], id="values that look different differ"),
        pytest.param([("a", [])], [("b", [])], [("a", [])], id="another key"),
    ],
)
def test_pairs_that_others_hold_are_taken_away_as_often(pairs: Pairs, others: Pairs, left: Pairs) -> None:
    assert _without(pairs, others) == left
