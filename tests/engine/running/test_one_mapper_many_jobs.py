"""Jobs that share functions share results only where these are the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import incoop

from .conftest import OwnPlace

Pairs = Iterator[tuple[Any, Any]]
LINES = [f"{'abc'[number % 3]} {number}" for number in range(60)]


def lengths(_: Any, line: str) -> Pairs:
    yield line[:1], len(line)


def listed(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, list(values)


def total(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, sum(values)


def test_a_reducer_comes_and_goes(own: OwnPlace) -> None:
    own.write(LINES)
    pairs = [pair for line in LINES for pair in lengths(None, line)]
    lists = {name: [value for key, value in pairs if key == name] for name in "abc"}
    sums = {name: sum(values) for name, values in lists.items()}
    for _ in range(2):
        assert own.run(incoop.Job("job", lengths)).collect() == pairs
        assert own.run(incoop.Job("job", lengths, listed)).as_dict() == lists
        assert own.run(incoop.Job("job", lengths, total, total)).as_dict() == sums
        assert own.run(incoop.Job("other", lengths)).collect() == pairs


def tagging(tag: str) -> Any:
    def tagged(_: Any, line: str) -> Pairs:
        yield tag, 1

    return tagged


def test_mappers_of_one_function_that_a_version_stands_for_are_two(own: OwnPlace) -> None:
    own.write({"one.txt": LINES, "other.txt": LINES})
    inputs = {"left": str(own.input / "one.txt"), "right": str(own.input / "other.txt")}
    mappers = {name: tagging(name) for name in inputs}
    for version in (None, "1"):
        job = incoop.Job("two", mappers, total, version=version)
        assert own.session.run(job, inputs).as_dict() == {"left": 60, "right": 60}
