"""A process that runs a job on a changing input until it is killed. Also a program: see `main`."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import incoop

from .histories import edited, some_lines
from .jobs import counting_total, counting_words, listed, total, words
from .places import CHUNKS, Files, as_bytes

LINES = some_lines(random.Random(8), 250)
JOBS = [
    incoop.Job("loop", counting_words, counting_total, total),
    incoop.Job("loop without a combiner", words, listed),
]


def versions(seed: int) -> list[Files]:
    """What the process with this seed runs on, one after the other."""
    rng = random.Random(seed)
    found: list[Files] = [{"input.txt": LINES}]
    for _ in range(50):
        found.append(edited(found[-1], rng.choice(["insert", "delete", "change one word", "move", "append"]), rng))
    return found


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("folder", type=Path)
    asked.add_argument("seed", type=int)
    asked.add_argument("--rounds", type=int, default=50)
    args = asked.parse_args()
    own = args.folder / f"input-{args.seed}"
    own.mkdir(exist_ok=True)
    with incoop.connect(args.folder / "store", master="local[1]", chunks=CHUNKS) as session:
        session.warm_up()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for version in versions(args.seed)[: args.rounds]:
            for name, lines in version.items():
                (own / name).write_bytes(as_bytes(lines))
            for job in JOBS:
                result = session.run(job, str(own))
                sys.stdout.write(f"{len(result.collect())}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
