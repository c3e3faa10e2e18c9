"""Pathway counting words in a folder of files that it watches: `python -m bench.runners.pathway_words FOLDER`.

Prints a line whenever the counts have caught up with the files: how many words there are and the sum of the hashes of
all pairs, as `bench.apps.app.fingerprint` has it. Runs until it is ended.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import pathway as pw

from bench.apps.app import fingerprint

_MASK = 0xFFFF_FFFF_FFFF_FFFF


def main(folder: str) -> None:
    logging.disable(logging.CRITICAL)
    lines = pw.io.fs.read(folder, format="plaintext", mode="streaming", autocommit_duration_ms=100)
    words = lines.select(word=pw.apply(str.split, pw.this.data)).flatten(pw.this.word)
    counts = words.groupby(pw.this.word).reduce(pw.this.word, count=pw.reducers.count())
    found = [0, 0]

    def on_change(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        pairs, total = fingerprint([(row["word"], row["count"])])
        sign = 1 if is_addition else -1
        found[0] += sign * pairs
        found[1] = (found[1] + sign * total) & _MASK

    def on_time_end(time: int) -> None:
        print(*found, flush=True)

    pw.io.subscribe(counts, on_change=on_change, on_time_end=on_time_end)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    main(sys.argv[1])
