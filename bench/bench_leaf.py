"""How large leaves should be: first run, store size and updates for leaves of several sizes.

    python -m bench.bench_leaf [--size 64M] [--mapper cheap|costly]

Prints the table that docs/decisions/0001-leaf-size.md holds. All sizes run on the same data in one Spark session, in
alternation; the results of the updates are compared with each other.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import shutil
import statistics
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import incoop
from bench import data
from bench.jobs.words_job import total, words
from bench.measuring import folder_size, timed
from incoop.cli.options import Size


def costly_words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    """A mapper that spends several times as long on a word as splitting does, as parsers of logs and JSON do."""
    for word in line.split():
        digest = hashlib.pbkdf2_hmac("md5", word.encode(), b"salt", 1)
        yield word if digest else "", 1


MAPPERS = {"cheap": words, "costly": costly_words}

#: 0 is no leaves: the chunk is the grain.
LEAVES = (2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="64M")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--mapper", choices=sorted(MAPPERS), default="cheap")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        measure(folder, Size().convert(given.size, None, None), given.repeat, given.mapper)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(folder: Path, size: int, repeat: int, mapper: str) -> None:
    text = folder / "text.txt"
    data.write_text(text, size)
    base = text.read_bytes()
    first: dict[int, list[float]] = {leaf: [] for leaf in LEAVES}
    one: dict[int, list[float]] = {leaf: [] for leaf in LEAVES}
    scattered: dict[int, list[float]] = {leaf: [] for leaf in LEAVES}
    stored: dict[int, float] = {}
    job = incoop.Job("count words", mapper=MAPPERS[mapper], combiner=total, reducer=total)
    with incoop.connect(folder / "start") as session:
        session.warm_up()
        for attempt in range(repeat):
            answers = []
            for leaf in LEAVES if attempt % 2 else LEAVES[::-1]:  # what runs first in a round has no lasting advantage
                cut = dataclasses.replace(job, leaf=leaf)
                store = folder / f"store-{leaf}"
                text.write_bytes(base)
                with incoop.connect(store, spark=session.spark) as inc:
                    seconds, result = timed(lambda inc=inc, cut=cut: inc.run(cut, str(text)))
                    first[leaf].append(seconds)
                    stored[leaf] = folder_size(store) / len(base)
                    text.write_bytes(data.insert_record(base, attempt))
                    one[leaf].append(timed(lambda inc=inc, cut=cut: inc.run(cut, str(text)))[0])
                    text.write_bytes(data.change_every(base, 64 << 10, attempt))
                    seconds, result = timed(lambda inc=inc, cut=cut: inc.run(cut, str(text)))
                    scattered[leaf].append(seconds)
                    answers.append(result.as_dict())
                shutil.rmtree(store)
            assert all(answer == answers[0] for answer in answers)
    print(f"{len(base) / 1e6:.0f} MB of text, {mapper} mapper; median seconds of {repeat}")
    print("| leaf | first run | store / input | one record inserted | one record in every 64 KiB |")
    print("|---|---|---|---|---|")
    for leaf in LEAVES:
        name = "the chunk" if not leaf else f"{leaf >> 10} KiB"
        cells = (_median(first[leaf]), f"{stored[leaf]:.2f}", _median(one[leaf]), _median(scattered[leaf]))
        print(f"| {name} | {' | '.join(cells)} |")


def _median(values: Iterable[float]) -> str:
    return f"{statistics.median(values):.2f}"


if __name__ == "__main__":
    main()
