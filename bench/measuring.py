"""What benchmarks share: a clock, sizes of folders, jobs out of files, figures as a table and as JSON."""

from __future__ import annotations

import argparse
import json
import runpy
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.paper.machine import commit, machine_facts, now
from bench.paper.markdown import table
from incoop.fronts.common.job_file import load_job
from incoop.job import Job

#: Jobs as users write them.
JOBS = Path(__file__).parent / "jobs"

#: A file written so shortly before it was indexed is verified once more; after that its time stamp is trusted.
SETTLES = 2.1


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    answer = run()
    return time.perf_counter() - started, answer


def spread(runs: Sequence[float]) -> str:
    return f"{min(runs):.3g}-{max(runs):.3g}"


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@dataclass(frozen=True)
class Snapshot:
    """The files of a folder at one moment: inode, size and time of each."""

    files: dict[str, tuple[int, int, int]]

    @classmethod
    def of(cls, folder: Path) -> Snapshot:
        found = {}
        for path in folder.rglob("*"):
            try:
                stat = path.lstat()
            except FileNotFoundError:  # deleted since it was listed
                continue
            if path.is_file():
                found[str(path)] = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        return cls(found)

    def written_since(self, before: Snapshot) -> int:
        """Bytes written since then: files that are new or took another's place, and what others grew by.

        A file of the same size that was written again counts as a whole: the store's own only grow or are replaced.
        """
        total = 0
        for name, (inode, size, modified) in self.files.items():
            old = before.files.get(name)
            if old is None or old[0] != inode or size < old[1] or (size == old[1] and modified != old[2]):
                total += size
            else:
                total += size - old[1]
        return total


def jobs_in(file: str) -> dict[str, Job]:
    """The jobs that a file of `bench/jobs` defines, by name, loaded once as `incoop run` loads it."""
    path = JOBS / file
    names = [name for name, value in plain_names(file).items() if isinstance(value, Job)]
    module = sys.modules[load_job(f"{path}:{names[0]}").mapper.__module__]  # type: ignore[union-attr]
    return {name: getattr(module, name) for name in names}


def plain_names(file: str) -> dict[str, Any]:
    """What a file defines, as if it were the program itself: plain PySpark then sends functions by value."""
    return runpy.run_path(str(JOBS / file), run_name="__main__")


@dataclass
class Figure:
    """One measured thing, with what the project asks for."""

    what: str
    value: float
    required: float | None = None
    aim: float | None = None
    #: Whether less is better.
    less: bool = False
    #: Everything else that is worth keeping.
    details: dict[str, Any] = field(default_factory=dict)

    def row(self) -> list[str]:
        sign = "<= " if self.less else ""
        shown = ["" if each is None else f"{sign}{each:g}" for each in (self.required, self.aim)]
        return [self.what, number(self.value) + ("" if self.reached else " (missed)"), *shown]

    @property
    def reached(self) -> bool:
        if self.required is None:
            return True
        return self.value <= self.required if self.less else self.value >= self.required


def some_of(names: Iterable[str]) -> Callable[[str], list[str]]:
    """For an option: some of these names, separated by commas."""
    known = list(names)

    def chosen(text: str) -> list[str]:
        wanted = text.split(",")
        if strange := [name for name in wanted if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(strange)}: choose from {', '.join(known)}")
        return wanted

    return chosen


def number(value: float) -> str:
    """
    Example:
        >>> number(12.345), number(1234.5), number(0.0123)
        ('12.3', '1,234', '0.0123')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def show(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print("\n".join(table(head, rows)), flush=True)


def show_figures(figures: Iterable[Figure]) -> None:
    show(("measure", "measured", "required", "aim"), (figure.row() for figure in figures))


def save_figures(path: Path | None, benchmark: str, given: dict[str, Any], figures: Sequence[Figure]) -> None:
    """Write figures with the machine, the commit and the options; nothing without a path."""
    if path is None:
        return
    options = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    saved = {
        "benchmark": benchmark,
        "when": now(),
        "commit": commit(),
        "machine": machine_facts(),
        "options": options,
        "figures": [{**asdict(figure), "reached": figure.reached} for figure in figures],
    }
    path.write_text(json.dumps(saved, indent=1) + "\n")
