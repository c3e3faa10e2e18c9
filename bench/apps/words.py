"""Word count: how often each word occurs."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from bench import data
from bench.apps.app import App


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def total(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum(counts)


def word_count(lines: Any) -> Any:
    return lines.flatMap(lambda line: words(None, line)).reduceByKey(operator.add)


APP = App("words", "Word count", words, total, total, word_count, data.write_text, "text")
