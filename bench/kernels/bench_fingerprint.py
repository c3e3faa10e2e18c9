"""The fingerprint of a function with helpers, constants and a closure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from incoop.fingerprint import fingerprint

STOP = frozenset({"a", "and", "the"})
PATTERN = re.compile(r"\w+")


def kept(word: str, shortest: int) -> bool:
    return len(word) >= shortest and word not in STOP


def mapper_for(shortest: int) -> Callable[[Any, str], Iterator[tuple[str, int]]]:
    def mapper(_: Any, line: str) -> Iterator[tuple[str, int]]:
        for word in PATTERN.findall(line.lower()):
            if kept(word, shortest):
                yield word, 1

    return mapper


def test_fingerprint(benchmark: Any) -> None:
    mapper, other = mapper_for(3), mapper_for(4)
    assert benchmark(fingerprint, mapper) == fingerprint(mapper_for(3)) != fingerprint(other)
