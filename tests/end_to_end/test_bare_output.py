"""Sums of integers are their own output; what is not is written as pairs, and the two may follow each other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import incoop

from .histories import some_lines
from .places import Place


def keys_as_written(_: Any, line: str) -> Iterator[tuple[Any, int]]:
    """Words, of which those that are decimal numbers become floats: keys that may be equal and look different."""
    for word in line.split():
        yield float(word) if word.replace(".", "").isdigit() else word, 1


def total(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum(counts)


def twice(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, 2 * sum(counts)


def totals_by_count(word: Any, count: int) -> Iterator[tuple[int, int]]:
    yield count, 1


COUNT = incoop.Job("count", mapper=keys_as_written, combiner=total, reducer=total, shards=16)
BY_COUNT = incoop.Job("by count", mapper=totals_by_count, combiner=total, reducer=total)


def expected(lines: list[str]) -> Counter[Any]:
    return Counter(key for line in lines for key, _ in keys_as_written(None, line))


def shards_as_they_are(result: incoop.Result) -> int:
    output: Any = result.output
    return int(output.header.rows["bare"].sum())


def test_outputs_with_and_without_pairs_follow_each_other(place: Place) -> None:
    lines = some_lines(random.Random("bare"), 200)
    with_floats = [*lines[:100], "1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 1.25 2.25 3.25", *lines[100:]]
    before: Counter[Any] = Counter()
    shares = []
    for version in (lines, with_floats, with_floats[:-1], lines, lines[5:]):
        place.write(version)
        result = place.run(COUNT)
        after = expected(version)
        assert result.as_dict() == after
        assert {each.key: (each.old, each.new) for each in result.changes()} == {
            key: (before.get(key), after.get(key)) for key in before.keys() | after.keys() if before[key] != after[key]
        }
        assert place.session.run(BY_COUNT, result).as_dict() == Counter(after.values())
        shares.append(shards_as_they_are(result))
        before = after
    assert shares[0] == 16
    assert shares[1] < 16, "a chunk's run says for all its shards whether its values are sums"


def test_a_reducer_that_may_do_more_is_called(place: Place) -> None:
    place.write(some_lines(random.Random("called"), 300))
    assert shards_as_they_are(place.run(COUNT)) == 16
    doubled = place.run(incoop.Job("doubled", mapper=keys_as_written, combiner=total, reducer=twice, shards=16))
    assert shards_as_they_are(doubled) == 0
    assert doubled.as_dict() == {key: 2 * count for key, count in place.run(COUNT)}
