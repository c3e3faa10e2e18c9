"""`incoop watch`: seconds from the write of a line to the new part files, in a watch that is warm.

    python -m bench.bench_watch                        # 64 MB
    python -m bench.bench_watch --size 4M --lines 30

The watch is a real process that looks every `--every`, which must be longer than an update takes; of the time that a
line took, what it waited for the look is left out. The words in all part files are counted at the end, and compared
with those of the input.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench import data
from bench.measuring import JOBS, SETTLES, Figure, save_figures, show_figures, spread
from incoop.cli.options import Size

#: Seconds from the write to the new output, beyond the poll: required, aim.
AFTER_ONE_LINE = (0.5, 0.15)

#: Seconds for anything to happen.
DEADLINE = 600.0


class WatchAtWork:
    """A watch of `in.txt` in a folder, as a user starts it; its standard error says when it looks."""

    def __init__(self, folder: Path, every: str) -> None:
        self.out, self._log = folder / "out", folder / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-c", "from incoop.cli.main import main; main()", "-vv", "watch"),
                    *("words_job.py", "in.txt", "--output", "out", "--every", every, "--report", "none"),
                ],
                cwd=folder,
                env={**os.environ, "INCOOP_STORE": str(folder / "store")},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def stamp(self) -> tuple[int, int] | None:
        """Another one for every complete set of part files; None while there is none."""
        try:
            found = (self.out / "_SUCCESS").stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns

    def wait(self, before: tuple[int, int] | None) -> tuple[float, float]:
        """Wait for a set that is another one; when the last look before that began, and when it was there."""
        looked, looks, end = time.time(), self.looks(), time.time() + DEADLINE
        while (now := self.stamp()) is None or now == before:
            if self.looks() != looks:
                looked, looks = time.time(), self.looks()
            if self._process.poll() is not None or time.time() > end:
                raise SystemExit(f"the watch did nothing:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.001)
        return looked, time.time()

    def looks(self) -> int:
        return self._log.read_bytes().count(b"incoop.watch: look ")

    def processor_seconds(self) -> float:
        """Of the watch itself, and of those of its children that have ended; its workers have not."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def counts(self) -> Counter[str]:
        lines = [line for part in self.out.glob("part-*") for line in part.read_text().splitlines()]
        return Counter({word: int(count) for word, count in (line.rsplit("\t", 1) for line in lines)})

    def stop(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(60)


def measure(folder: Path, size: int, every: str, lines: int) -> list[Figure]:
    shutil.copy(JOBS / "words_job.py", folder)
    text = folder / "in.txt"
    data.write_text(text, size)
    watch = WatchAtWork(folder, every)
    try:
        watch.wait(None)
        seconds, whole = [], []
        for number in range(lines + 1):
            time.sleep(SETTLES)  # as a line comes to a log that is at rest
            before = watch.stamp()
            with text.open("a") as file:
                file.write(f"one more line, number{number}\n")
            written = time.time()
            looked, there = watch.wait(before)
            seconds.append(there - looked)
            whole.append(there - written)
        del seconds[0], whole[0]  # the first one starts workers

        time.sleep(SETTLES)
        looks, used = watch.looks(), watch.processor_seconds()
        time.sleep(3)
        a_look = (watch.processor_seconds() - used) / (watch.looks() - looks)
        assert watch.counts() == Counter(text.read_text().split()), "another answer"
    finally:
        code = watch.stop()
    assert code == 128 + signal.SIGINT
    named = {"spread": spread(seconds), "with the poll": f"{statistics.median(whole):.3g} ({spread(whole)})"}
    return [
        Figure(
            "one line to its output, seconds after the look", statistics.median(seconds), *AFTER_ONE_LINE, True, named
        ),
        Figure("the best of them", min(seconds), less=True),
        Figure("a look at an unchanged input, seconds of processor time", a_look, less=True),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=lambda text: Size().convert(text, None, None), default=64_000_000)
    parser.add_argument("--every", default="1s")
    parser.add_argument("--lines", type=int, default=10)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), given.size, given.every, given.lines)
    show_figures(figures)
    for figure in figures:
        if figure.details:
            print(", ".join(f"{name} {value}" for name, value in figure.details.items()))
    save_figures(given.json, "watch", vars(given), figures)


if __name__ == "__main__":
    main()
