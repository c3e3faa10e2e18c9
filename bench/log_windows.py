"""Windows over logs: what moving one costs, against a run from scratch on what it holds.

Contract: one function an experiment, for bench_logs; each move is compared with a run on an empty store.
"""

from __future__ import annotations

import datetime
import functools
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import incoop
from bench import data
from bench.measuring import Figure, jobs_in, timed

#: Files in a window of days, and how often each window moves.
DAYS, MOVES = 10, 3
MINUTES = 60


def _once(job: incoop.Job, inputs: str, window: incoop.Window, store: Path) -> tuple[float, dict[Any, Any]]:
    """A run from scratch: seconds, and what it gives."""
    with incoop.connect(store) as session:
        _warm(session, store.parent)
        seconds, result = timed(lambda: session.run(job, inputs, window=window))
        return seconds, result.as_dict()


def _warm(session: incoop.Session, folder: Path) -> None:
    """Both sides have their processes, as in a session that goes on."""
    path = folder / "warm.txt"
    path.write_text("warm\n")
    session.run(incoop.Job("warm", mapper=_nothing, memoize=False), str(path))


def _nothing(_: Any, line: str) -> Iterator[tuple[str, int]]:
    yield line, 1


def _moves(
    folder: Path,
    inputs: str,
    job: incoop.Job,
    window: incoop.Window,
    moves: Iterator[None],
    what: str,
    least: tuple[float, float],
) -> Figure:
    """Move a window on, and each time run on it from scratch."""
    moved, scratch = [], []
    with incoop.connect(folder / "store") as session:
        session.run(job, inputs, window=window)
        for number, _ in enumerate(moves):
            seconds, result = timed(functools.partial(session.run, job, inputs, window=window))
            again, expected = _once(job, inputs, window, folder / f"scratch-{number}")
            assert result.as_dict() == expected, f"{what}, move {number}: not what a run from scratch gives"
            moved.append(seconds)
            scratch.append(again)
    ratio = statistics.median(scratch) / statistics.median(moved)
    details = {"moved": moved, "from scratch": scratch}
    return Figure(f"{what} ({statistics.median(moved):.2f} s): against from scratch", ratio, *least, details=details)


def by_a_day(folder: Path, size: int) -> list[Figure]:
    """A window of ten daily files, moved by a day."""
    logs = folder / "logs"
    logs.mkdir()

    def write(day: int) -> None:
        data.write_log(logs / f"access-{day:02}.log", size // DAYS, seed=2011 + day, passing=data.PASSING)

    def moves() -> Iterator[None]:
        for day in range(DAYS, DAYS + MOVES):
            write(day)
            yield

    figures = []
    for name, job in jobs_in("log_hits.py").items():
        for old in logs.iterdir():
            old.unlink()
        for day in range(DAYS):
            write(day)
        own = folder / name
        own.mkdir()
        what = f"{DAYS} daily files, {size / 1e6:.0f} MB, {name}, moved by a day"
        figures.append(_moves(own, str(logs), job, incoop.last(files=DAYS), moves(), what, (6, 9)))
    return figures


def by_a_minute(folder: Path, size: int) -> list[Figure]:
    """A window of an hour, slid by a minute; twice the size as in days, since that is what is asked for."""
    size *= 2
    log = folder / "access.log"
    every = folder / "every.log"
    data.write_log(every, size + size * MOVES // MINUTES, passing=data.PASSING)
    lines = every.read_text().splitlines()
    held = round(len(lines) * MINUTES / (MINUTES + MOVES))
    begin = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    step = datetime.timedelta(hours=1) / held
    with every.open("w") as file:
        for number, line in enumerate(lines):
            head, _, rest = line.partition("[")
            file.write(f"{head}[{begin + step * number:%d/%b/%Y:%H:%M:%S} +0000{rest[rest.index(']') :]}\n")
    lines = every.read_bytes().splitlines(keepends=True)
    minute = held // MINUTES

    def moves() -> Iterator[None]:
        for number in range(MOVES):
            with log.open("ab") as file:
                file.writelines(lines[held + number * minute : held + (number + 1) * minute])
            yield

    figures = []
    jobs = jobs_in("log_hits.py")
    time_of = sys.modules[jobs["count"].mapper.__module__].time_of  # type: ignore[union-attr]
    for name, job in jobs.items():
        log.write_bytes(b"".join(lines[:held]))
        own = folder / name
        own.mkdir()
        what = f"an hour of {size / 1e6:.0f} MB, {name}, slid by a minute"
        figures.append(_moves(own, str(log), job, incoop.last(hours=1, of=time_of), moves(), what, (20, 50)))
    return figures
