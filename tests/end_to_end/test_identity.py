"""What a result depends on besides its input: each part of it, changed alone, runs what it reaches and nothing else."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import incoop

from .histories import some_lines
from .places import Place

LINES = some_lines(random.Random(3), 200)

#: One script's functions; another's have the same names.
SCRIPT = """
def mapper(_, line):
    for word in line.split():
        yield word, {mapped}

def combiner(key, values):
    yield key, sum(values) + {combined}

def reducer(key, values):
    yield key, [{reduced}, sum(values)]
"""


def script(mapped: str = "1", combined: str = "0", reduced: str = "0") -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "a_script"}
    exec(compile(SCRIPT.format(mapped=mapped, combined=combined, reduced=reduced), "script.py", "exec"), space)
    return space


def test_of_two_mappers_over_one_file_the_edited_one_runs_again(place: Place) -> None:
    place.write(LINES)

    def run(left: str, right: str) -> incoop.Result:
        mappers = {"left": script(left)["mapper"], "right": script(right)["mapper"]}
        job = incoop.Job("both", mappers, script()["reducer"], script()["combiner"])
        return place.session.run(job, {"left": str(place.input), "right": str(place.input)})

    def expected(left: int, right: int) -> dict[str, list[int]]:
        words = Counter(word for line in LINES for word in line.split())
        return {word: [0, count * (left + right)] for word, count in words.items()}

    first = run("10", "1")
    assert first.as_dict() == expected(10, 1)
    chunks = len(first.events.executed("map"))
    for left, right in (("10", "2"), ("20", "2")):
        result = run(left, right)
        assert result.as_dict() == expected(int(left), int(right))
        assert len(result.events.executed("map")) == len(result.events.reused("map")) == chunks / 2
    swapped = run("2", "20")
    assert swapped.as_dict() == expected(2, 20)
    assert swapped.events.executed("map") == (), "each of them has mapped this file already"


@pytest.mark.parametrize("version", [None, "1"], ids=["fingerprints", "a version of the user's"])
def test_a_file_that_the_job_depends_on_counts_by_its_content(version: str | None, place: Place) -> None:
    place.write(LINES)
    table = place.folder / "table.txt"
    table.write_text("one")
    made = script()
    functions = made["mapper"], made["reducer"], made["combiner"]
    job = incoop.Job("depends", *functions, depends_on=[table], version=version)
    first = place.run(job)
    chunks = len(first.events.executed("map"))
    assert chunks > 5
    os.utime(table, (1, 1))
    assert place.run(job).events.executed("map") == (), "only its times are others"
    table.write_text("two")
    changed = place.run(job)
    assert len(changed.events.executed("map")) == chunks
    assert changed.report.keys_reduced == changed.report.keys_total
    table.write_text("one")
    assert place.run(job).events.executed("map") == ()


class Read:
    """A mapper that reads a file in a way that nobody sees; `version` says that all is well."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __call__(self, _: Any, line: str) -> Any:
        import subprocess

        yield subprocess.run(["cat", self.path], capture_output=True, text=True, check=True).stdout, 1


def test_what_a_job_reads_of_a_file_it_depends_on_is_what_is_in_it_now(place: Place) -> None:
    place.write(["a", "b"])
    table = place.folder / "table.txt"
    for content in ("one", "two"):
        table.write_text(content)
        job = incoop.Job("reads", Read(table), script()["reducer"], depends_on=[str(table)], version="1")
        assert place.run(job).as_dict() == {content: [0, 2]}


def test_two_scripts_with_functions_of_one_name_and_one_version_share_nothing(place: Place) -> None:
    place.write(LINES)
    words = Counter(word for line in LINES for word in line.split())
    for name, made, factor, kind in (
        ("one script", script("1"), 1, 0),
        ("another script", script("5"), 5, 0),
        ("a third script", script("5", reduced="3"), 5, 3),
    ):
        job = incoop.Job(name, made["mapper"], made["reducer"], made["combiner"], version="1")
        result = place.run(job)
        assert result.as_dict() == {word: [kind, count * factor] for word, count in words.items()}
        assert result.events.reused("map") == ()
        assert place.run(job).events.executed("map") == ()
