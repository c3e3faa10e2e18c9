"""What a parser counts, for the tests of all formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from incoop.engine.running.counters import counting_apart, take_counts, told_apart


def counted(parse: Callable[[Any], Any], *lines: Any) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Counters and samples after a parser was given lines, all of which it must have found malformed."""
    with counting_apart():
        for line in lines:
            assert parse(line) is None, line
        return told_apart(take_counts())


def parsed(parse: Callable[[Any], Any], line: Any) -> Any:
    """The record of a line; nothing may have been counted."""
    with counting_apart():
        found = parse(line)
        assert found is not None, line
        assert take_counts() == {}
    return found
