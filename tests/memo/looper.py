"""A process that runs generations on a store until it has done enough, or is killed."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from incoop.memo import MemoStore

from .places import run_generation


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("folder", type=Path)
    words.add_argument("--memo")
    words.add_argument("--job", default="loop")
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--rounds", type=int, default=1)
    words.add_argument("--step", type=int, default=5)
    words.add_argument("--hold", action="store_true", help="Keep the session open when done.")
    asked = words.parse_args()
    with MemoStore.open(asked.folder, asked.memo) as store:
        for number in range(asked.rounds):
            run_generation(store, asked.job, list(range(asked.first, asked.first + (number + 1) * asked.step)))
            if number == 0:
                sys.stdout.write("ready\n")
                sys.stdout.flush()
        while asked.hold:
            time.sleep(1)


if __name__ == "__main__":
    main()
