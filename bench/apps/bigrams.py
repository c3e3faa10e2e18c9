"""Bigram count: how often each two words follow each other in a line."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

from bench import data
from bench.apps.app import App
from bench.apps.words import total


def bigrams(_: Any, line: str) -> Iterator[tuple[tuple[str, str], int]]:
    for pair in itertools.pairwise(line.split()):
        yield pair, 1


def bigram_count(lines: Any) -> Any:
    return lines.flatMap(lambda line: bigrams(None, line)).reduceByKey(operator.add)


APP = App("bigrams", "Bigram count", bigrams, total, total, bigram_count, data.write_text, "text")
