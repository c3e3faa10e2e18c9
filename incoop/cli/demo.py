"""`incoop demo`: the whole idea in one minute, on data it makes itself."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from incoop.engine.report import RunReport
from incoop.job import Job
from incoop.result import Result

#: Large enough that a run from scratch can be felt, small enough for a minute in all.
_LINES = 300_000
_WORDS_IN_A_LINE = 12


def words(_: object, line: str) -> Iterator[tuple[str, int]]:
    """Map a line to its words."""
    for word in line.split():
        yield word, 1


def total(word: str, counts: Iterable[int]) -> Iterator[tuple[str, int]]:
    """Combine and reduce by adding up."""
    yield word, sum(counts)


def make_text(path: Path, lines: int = _LINES) -> None:
    """Text whose words are distributed as in real text: few common, many rare."""
    rng = random.Random(2011)
    vocabulary = [f"{rng.choice('bcdfghklmnprst')}{rng.choice('aeiou')}{number:x}" for number in range(60_000)]
    with path.open("w") as file:
        for _ in range(lines):
            picks = (int(len(vocabulary) ** rng.random()) - 1 for _ in range(_WORDS_IN_A_LINE))
            file.write(" ".join(vocabulary[pick] for pick in picks) + "\n")


def insert_line(path: Path, line: str) -> None:
    """Put one line into the middle of a file."""
    content = path.read_bytes()
    at = content.index(b"\n", len(content) // 2) + 1
    path.write_bytes(content[:at] + line.encode() + b"\n" + content[at:])


@click.command()
@click.option("--master", metavar="URL", help="Spark master; local[*] unless given.")
@click.option("--keep", is_flag=True, help="Keep the folder with data and store, and say where it is.")
def demo(master: str | None, keep: bool) -> None:
    """Count words of a text, change one line of it, count again; show what ran and what was reused.

    \b
    Example:
      incoop demo
    """
    folder = Path(tempfile.mkdtemp(prefix="incoop-demo-"))
    try:
        _show(folder, master)
    finally:
        if keep:
            click.echo(f"Data and store are in {folder}", err=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _show(folder: Path, master: str | None) -> None:
    from incoop.session import connect

    text = folder / "text.txt"
    click.echo("Making a text, and starting Spark and Redis ...", err=True)
    make_text(text)
    job = Job("word count", mapper=words, combiner=total, reducer=total)
    with connect(folder / "store", master=master) as session:
        session.warm_up()
        seconds: list[float] = []

        def run(title: str) -> Result:
            started = time.perf_counter()
            result = session.run(job, str(text))
            seconds.append(time.perf_counter() - started)
            click.echo(f"\n{title}: {seconds[-1]:.2f} s\n{_indented(result.report)}")
            return result

        click.echo(f"Counting the words of {text.stat().st_size / 1e6:.0f} MB.")
        run("First run, everything is computed")
        run("Second run, nothing changed")
        insert_line(text, "one line was inserted here")
        result = run("Third run, one line inserted in the middle")
        click.echo("\nWhat changed in the result:")
        for change in result.changes():
            click.echo(f"  {change.key}: {change.old} -> {change.new}")
        _compare_with_scratch(result, text)
        first, unchanged, update = seconds
        click.echo(
            f"\nThe same as counting from scratch. The update took {update:.2f} s, the first run {first:.2f} s: "
            f"{first / update:.0f} times faster; with nothing changed, {first / unchanged:.0f} times."
        )


def _compare_with_scratch(result: Result, text: Path) -> None:
    counts: dict[str, int] = {}
    with text.open() as lines:
        for line in lines:
            for word in line.split():
                counts[word] = counts.get(word, 0) + 1
    if result.as_dict() != counts:
        raise AssertionError("the incremental result differs from a count from scratch; please report this")


def _indented(report: RunReport) -> str:
    return "\n".join(f"  {line}" for line in str(report).splitlines())
