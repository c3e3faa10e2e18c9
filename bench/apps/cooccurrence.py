"""Co-occurrence matrix: how often each two words stand near each other in a line."""

from __future__ import annotations

import operator
from typing import Any

from bench import data
from bench.apps.app import App
from bench.jobs.cooccurrence import cells, total


def matrix(lines: Any) -> Any:
    return lines.flatMap(lambda line: cells(None, line)).reduceByKey(operator.add)


APP = App("cooccurrence", "Co-occurrence matrix", cells, total, total, matrix, data.write_text, "text")
