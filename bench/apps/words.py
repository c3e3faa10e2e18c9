"""Word count: how often each word occurs."""

from __future__ import annotations

import operator
from typing import Any

from bench import data
from bench.apps.app import App
from bench.jobs.words_job import total, words


def word_count(lines: Any) -> Any:
    return lines.flatMap(lambda line: words(None, line)).reduceByKey(operator.add)


APP = App("words", "Word count", words, total, total, word_count, data.write_text, "text")
