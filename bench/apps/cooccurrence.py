"""Co-occurrence matrix: how often each two words stand near each other in a line.

The matrix is symmetric, so a cell is stored once, under its two words in order.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from bench import data
from bench.apps.app import App
from bench.apps.words import total

#: A word is near the next words of its line, up to this many behind it. Pairs, not stripes (a word with a dict of its
#: neighbours): stripes take half the space, but updating a frequent word's stripe rewrites all of it, which made
#: updates and first runs nearly twice as slow.
WINDOW = 2


def cells(_: Any, line: str) -> Iterator[tuple[tuple[str, str], int]]:
    found = line.split()
    for at, word in enumerate(found):
        for near in found[at + 1 : at + 1 + WINDOW]:
            yield (word, near) if word < near else (near, word), 1


def matrix(lines: Any) -> Any:
    return lines.flatMap(lambda line: cells(None, line)).reduceByKey(operator.add)


APP = App("cooccurrence", "Co-occurrence matrix", cells, total, total, matrix, data.write_text, "text")
