"""Whole commands, from the keypress to the prompt: first run, nothing changed, one line inserted.

    python -m bench.bench_commands                              # 10 MB and 64 MB
    python -m bench.bench_commands --size 256M --commands run,submit --repeat 1

Every command is a process of its own, Spark's start included, and counts the words of one text. What they print or
write is compared with what plain spark-submit prints.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import data
from bench.measuring import JOBS, SETTLES, Figure, save_figures, show, show_figures, some_of
from incoop.cli.options import Size

#: Seconds for an unchanged input, and after one inserted line, of 64 MB and more: required, aim.
UNCHANGED, LINE, LINE_OF_OTHERS = (0.6, 0.3), (1.2, 0.6), (2.0, 1.0)
LARGE = 60_000_000
#: First run / plain spark-submit, of 10 MB: required, aim.
FIRST_OF_SMALL = (0.4, 0.2)
SMALL = 20_000_000

PHASES = ("first", "unchanged", "one line")

#: Variables that a user's shell has not.
LEFT_OUT = (
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYSPARK_SUBMIT_ARGS",
    "INCOOP_STORE",
    "INCOOP_MEMO",
)

Counts = dict[str, int]


@dataclass(frozen=True)
class Command:
    """What a user types, in a folder with the input, `in.txt`, and the job files."""

    title: str
    words: list[str]
    #: Whether the answer is in part files in `out` rather than on standard output.
    parts: bool = False
    #: Whether `out` must not be there; `incoop run` writes what changed.
    fresh: bool = False
    #: Of a line's key.
    decode: Callable[[str], str] = str


def _python(script: str) -> str:
    return f"{sys.executable} {script}"


COMMANDS = {
    "run": Command(
        "`incoop run job.py in.txt --output out`",
        ["incoop", "run", "words_job.py", "in.txt", "--output", "out"],
        parts=True,
    ),
    "submit": Command("`incoop submit script.py`, printing", ["incoop", "submit", "words_spark.py", "in.txt"]),
    "submit-save": Command(
        "`incoop submit script.py`, saving",
        ["incoop", "submit", "words_spark_saved.py", "in.txt", "out"],
        parts=True,
        fresh=True,
    ),
    "mrjob": Command("`incoop mrjob job.py`", ["incoop", "mrjob", "words_mrjob.py", "in.txt"], decode=json.loads),
    "streaming": Command(
        "`incoop streaming …`",
        [
            *("incoop", "streaming", "-files", "words_map.py,words_reduce.py", "-input", "in.txt", "-output", "out"),
            *("-mapper", _python("words_map.py"), "-combiner", _python("words_reduce.py")),
            *("-reducer", _python("words_reduce.py"), "-numReduceTasks", "4"),
        ],
        parts=True,
        fresh=True,
    ),
}
PLAIN = Command("plain `spark-submit script.py`", ["spark-submit", "words_spark.py", "in.txt"])

#: Commands that run no job.
SMALL_COMMANDS = {
    "--help": ["incoop", "--help"],
    "ls": ["incoop", "ls"],
    "stats": ["incoop", "stats"],
}


class CommandFailed(Exception):
    """A command ended with another exit code than 0."""


class Desk:
    """A folder in which commands are typed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.text, self.out = folder / "in.txt", folder / "out"
        for script in JOBS.glob("words_*.py"):
            shutil.copy(script, folder)
        # As in a shell with this Python. Unbuffered, programs would write every word by itself.
        self.environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        self.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), self.environment["PATH"]])
        self.environment.setdefault("PYSPARK_PYTHON", sys.executable)

    def write(self, content: bytes) -> None:
        """Write the input, and wait as people do: until its time stamp can be trusted."""
        self.text.write_bytes(content)
        time.sleep(SETTLES)

    def type(self, words: list[str], store: str = "none") -> float:
        """Run a command; seconds from start to end. Its output is in `stdout`."""
        environment = {**self.environment, "INCOOP_STORE": str(self.folder / store)}
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            started = time.perf_counter()
            done = subprocess.run(
                words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )
            seconds = time.perf_counter() - started
        if done.returncode:
            said = (self.folder / "stderr").read_text(errors="replace")[-3000:]
            raise CommandFailed(f"{' '.join(words)} ended with {done.returncode}:\n{said}")
        return seconds

    def run(self, command: Command, store: str) -> float:
        if command.fresh:
            shutil.rmtree(self.out, ignore_errors=True)
        return self.type(command.words, store)

    def answer(self, command: Command) -> Counts:
        """What the last command printed or wrote."""
        files = sorted(self.out.glob("part-*")) if command.parts else [self.folder / "stdout"]
        found: Counts = {}
        for file in files:
            for line in file.read_text().splitlines():
                word, count = line.split("\t")
                word = command.decode(word)
                assert word not in found, f"{command.title}: {word} is there twice"
                found[word] = int(count)
        return found


def measure_size(desk: Desk, size: int, names: list[str], repeat: int) -> dict[str, dict[str, list[float]]]:
    """Command -> phase -> seconds."""
    data.write_text(desk.text, size)
    whole = desk.text.read_bytes()
    base = whole[: whole.index(b"\n", size - 1) + 1]
    measured: dict[str, dict[str, list[float]]] = {name: {phase: [] for phase in PHASES} for name in ("plain", *names)}
    for attempt in range(repeat):
        changed = data.insert_record(base, attempt)
        expected = {}
        for phase, content in (("first", base), ("one line", changed)):
            desk.write(content)
            measured["plain"][phase].append(desk.run(PLAIN, "none"))
            expected[phase] = desk.answer(PLAIN)
        for name in names:
            command, store = COMMANDS[name], f"store-{name}"
            shutil.rmtree(desk.out, ignore_errors=True)
            for phase, content in (("first", base), ("unchanged", None), ("one line", changed)):
                if content is not None:
                    desk.write(content)
                measured[name][phase].append(desk.run(command, store))
                wanted = expected["one line" if phase == "one line" else "first"]
                assert desk.answer(command) == wanted, f"{command.title}, {phase}: not what spark-submit gives"
            if attempt < repeat - 1 or name != names[-1]:  # the last store is looked at
                shutil.rmtree(desk.folder / store)
    measured["plain"]["unchanged"] = measured["plain"]["first"]
    return measured


def asked(name: str, phase: str, size: int) -> tuple[float, float] | tuple[None, None]:
    """Seconds required and aimed at."""
    if size < LARGE or phase == "first" or name == "plain":
        return None, None
    if phase == "unchanged":
        return UNCHANGED if name == "run" else (None, None)
    return LINE if name == "run" else LINE_OF_OTHERS


def figures_of(size: int, measured: dict[str, dict[str, list[float]]]) -> list[Figure]:
    figures = []
    mb = f"{size / 1e6:.0f} MB"
    plain = statistics.median(measured["plain"]["first"])
    for name, phases in measured.items():
        title = PLAIN.title if name == "plain" else COMMANDS[name].title
        for phase, runs in phases.items():
            figures.append(
                Figure(
                    f"{title}, {mb}, {phase}: seconds",
                    statistics.median(runs),
                    *asked(name, phase, size),
                    less=True,
                    details={"command": name, "phase": phase, "size": size, "runs": runs},
                )
            )
        if name != "plain":
            limits = FIRST_OF_SMALL if size < SMALL else (None, None)
            ratio = statistics.median(phases["first"]) / plain
            figures.append(Figure(f"{title}, {mb}: first run / plain `spark-submit`", ratio, *limits, less=True))
    return figures


def show_size(size: int, measured: dict[str, dict[str, list[float]]]) -> None:
    plain = statistics.median(measured["plain"]["first"])
    rows = []
    for name, phases in measured.items():
        cells = []
        for phase in PHASES:
            limits = asked(name, phase, size)
            wanted = f" ({limits[0]:g}; {limits[1]:g})" if limits[0] is not None else ""
            cells.append(f"{statistics.median(phases[phase]):.2f} s{wanted}")
        small = " ({:g}; {:g})".format(*FIRST_OF_SMALL) if size < SMALL and name != "plain" else ""
        title = PLAIN.title if name == "plain" else COMMANDS[name].title
        rows.append([title, *cells, f"{statistics.median(phases['first']) / plain:.2f}{small}"])
    print(f"\n**{size / 1e6:.0f} MB**; in brackets: required; aim\n")
    show(("command", *PHASES, "first / plain"), rows)


def run(folder: Path, sizes: list[int], names: list[str], repeat: int) -> list[Figure]:
    """Measure sizes one after the other, then commands that run no job, on the store of the last."""
    desk = Desk(folder)
    figures: list[Figure] = []
    for size in sizes:
        for store in folder.glob("store-*"):
            shutil.rmtree(store)
        measured = measure_size(desk, size, names, repeat)
        show_size(size, measured)
        figures += figures_of(size, measured)
    rows = []
    for title, words in SMALL_COMMANDS.items():
        seconds = [desk.type(words, f"store-{names[-1]}") for _ in range(repeat * 3)]
        rows.append([f"`incoop {title}`", f"{statistics.median(seconds):.2f} s"])
        figures.append(
            Figure(f"`incoop {title}`: seconds", statistics.median(seconds), less=True, details={"runs": seconds})
        )
    print()
    show(("command", "takes"), rows)
    return figures


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="10M,64M", help="of the text; several, separated by commas")
    parser.add_argument("--commands", type=some_of(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args(arguments)
    sizes: list[Any] = [Size().convert(size, None, None) for size in given.size.split(",")]
    folder = Path(tempfile.mkdtemp(prefix="incoop-bench-"))
    try:
        print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, medians of {given.repeat}")
        figures = run(folder, sizes, given.commands, given.repeat)
        if wanted := [figure for figure in figures if figure.required is not None]:
            print()
            show_figures(wanted)
        save_figures(given.json, "commands", vars(given), figures)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
