"""Bigram count: how often each two words follow each other in a line."""

from __future__ import annotations

import operator
from typing import Any

from bench import data
from bench.apps.app import App
from bench.jobs.bigrams import bigrams, total


def bigram_count(lines: Any) -> Any:
    return lines.flatMap(lambda line: bigrams(None, line)).reduceByKey(operator.add)


APP = App("bigrams", "Bigram count", bigrams, total, total, bigram_count, data.write_text, "text")
