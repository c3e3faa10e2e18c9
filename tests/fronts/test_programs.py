"""Unmodified PySpark programs print under `incoop submit` what they print under spark-submit, twice.

Between the two runs the input of each changes by a line; a third run has nothing new to see. Starting Spark takes
longer than most programs, so one process runs them all: one `spark-submit` on both versions of the input, one
`incoop submit` on each and once more.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import incoop

#: Seconds: all programs run within the first test.
pytestmark = pytest.mark.timeout(900)

PROGRAMS = Path(__file__).with_name("programs")

#: For both; most programs have so little to do that partitions cost more than records.
SETTINGS = [
    *("--master", "local[2]"),
    *("--conf", "spark.ui.enabled=false"),
    *("--conf", "spark.default.parallelism=2"),
    *("--conf", "spark.sql.shuffle.partitions=2"),
    *("--conf", "spark.driver.memory=1g"),
]


def _words(rng: random.Random) -> list[str]:
    return [" ".join(f"word{int(rng.paretovariate(0.7)) % 400}" for _ in range(8)) for _ in range(3000)]


def _links(rng: random.Random) -> list[str]:
    return [f"page{rng.randrange(60)} page{rng.randrange(60)}" for _ in range(500)]


def _points(rng: random.Random) -> list[str]:
    return [f"{rng.gauss(rng.choice([0, 5]), 1):.3f} {rng.gauss(rng.choice([0, 9]), 1):.3f}" for _ in range(600)]


def _numbers(rng: random.Random) -> list[str]:
    return [" ".join(str(rng.randrange(-5000, 5000)) for _ in range(6)) for _ in range(5000)]


def _edges(rng: random.Random) -> list[str]:
    return [f"{node} {node + rng.randrange(1, 9)}" for node in range(0, 30, 3) for _ in range(2)]


def _readings(rng: random.Random) -> list[str]:
    return [f"s{rng.randrange(40)},{rng.gauss(20, 5):.2f}" for _ in range(15000)]


def _log(rng: random.Random) -> list[str]:
    lines = []
    for number in range(2500):
        host, path = f"10.0.0.{rng.randrange(50)}", f"/page/{rng.randrange(30)}"
        status, size = rng.choice([200, 200, 200, 404, 500]), rng.choice(["-", str(rng.randrange(9000))])
        lines.append(f'{host} - - [01/Jan/2026:00:00:00 +0000] "GET {path} HTTP/1.1" {status} {size}')
        if number % 100 == 50:
            lines.append("a broken line")
    return lines


#: Program -> its input, a line that is inserted for the second run, further arguments.
CASES: dict[str, tuple[Callable[[random.Random], list[str]], str, list[str]]] = {
    "word_count": (_words, "word1 quite new", []),
    "page_rank": (_links, "page1 page61", ["2"]),
    "kmeans": (_points, "1.500 2.500", ["2", "0.5"]),
    "sort": (_numbers, "77 -9999 12345", []),
    "transitive_closure": (_edges, "5 36", []),
    "average_by_key": (_readings, "s1,99.5", []),
    "top_n": (lambda rng: _words(rng)[50:], "word3 word1 word399 word399", ["7"]),
    "log_statistics": (_log, '10.0.0.77 - - [now] "PUT /page/x HTTP/1.1" 418 123', []),
}


#: What the seventh text of inverted_index becomes.
CHANGED_TEXT = "other words word1\n"

ALL = [*CASES, "inverted_index"]

#: Those whose input has several chunks.
LARGE = ["word_count", "sort", "average_by_key", "top_n", "log_statistics"]


@dataclass(slots=True)
class Runs:
    """What all programs printed and wrote on both versions of their input, and what incoop reported.

    The last of three memoized runs is on the input of the second.
    """

    plain: list[dict[str, str]] = field(default_factory=list)
    memoized: list[dict[str, str]] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)
    #: Bytes of each program's input.
    sizes: list[dict[str, int]] = field(default_factory=list)

    def sources(self, run: int, program: str) -> list[dict[str, Any]]:
        """Reports of the stages that read a program's input: no two inputs have the same size."""
        return [stage for stage in self.reports[run]["stages"] if stage["input_bytes"] == self.sizes[run][program]]


def _write_inputs(folder: Path, version: int) -> dict[str, int]:
    folder.mkdir(exist_ok=True)
    sizes = {}
    for name, (make, fresh, _) in CASES.items():
        lines = make(random.Random(5))
        if version:
            lines.insert(len(lines) // 2, fresh)
        sizes[name] = (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    texts = folder / "texts"
    texts.mkdir(exist_ok=True)
    for number, line in enumerate(_words(random.Random(3))[:40]):
        (texts / f"{number}.txt").write_text(f"{line}\n{line[::-1]}\n")
    if version:
        (texts / "7.txt").write_text(CHANGED_TEXT)
    sizes["inverted_index"] = sum(text.stat().st_size for text in texts.iterdir())
    assert len(set(sizes.values())) == len(sizes)
    return sizes


def _calls(inputs: Path, out: Path) -> list[tuple[str, list[str], str]]:
    """What run_all.py is to run."""
    out.mkdir()
    calls = [(name, [str(inputs / f"{name}.txt"), *more]) for name, (_, _, more) in CASES.items()]
    calls.append(("inverted_index", [str(inputs / "texts"), str(out / "index")]))
    return [(str(PROGRAMS / f"{name}.py"), arguments, str(out / name)) for name, arguments in calls]


def _outputs(out: Path) -> dict[str, str]:
    found = {name: (out / name).read_text() for name in ALL}
    assert (out / "index" / "_SUCCESS").exists()
    parts = sorted((out / "index").glob("part-*"))
    found["inverted_index"] += "".join(part.read_text() for part in parts)
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("programs")
    env = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONHASHSEED": "0"}
    script, plan = PROGRAMS / "run_all.py", folder / "plan.json"
    found = Runs()
    calls = []
    for version in range(2):
        _write_inputs(folder / f"plain{version}", version)
        calls += _calls(folder / f"plain{version}", folder / f"plain-out{version}")
    plan.write_text(json.dumps(calls))
    submit = [Path(sys.executable).with_name("spark-submit"), *SETTINGS, script, plan]
    with (folder / "said").open("w") as said, (folder / "errors").open("w") as errors:
        # While it runs, incoop runs too: neither keeps two cores busy.
        theirs = subprocess.Popen(submit, stdout=said, stderr=errors, env=env)
    try:
        _memoized_runs(folder, env, found)
        assert theirs.wait(timeout=400) == 0, (folder / "errors").read_text()
    finally:
        theirs.kill()
        theirs.wait()
    assert (folder / "said").read_text() == "".join(f"ran {name}.py\n" for name in ALL * 2)
    found.plain = [_outputs(folder / f"plain-out{version}") for version in range(2)]
    shutil.rmtree(folder)
    return found


def _memoized_runs(folder: Path, env: dict[str, str], found: Runs) -> None:
    script, plan = PROGRAMS / "run_all.py", folder / "memoized.json"
    for run in range(3):
        if run < 2:
            found.sizes.append(_write_inputs(folder / "input", run))
        plan.write_text(json.dumps(_calls(folder / "input", folder / f"out{run}")))
        ours = incoop(
            "submit", *SETTINGS, "--store", folder / "store", "--report", "json", script, plan, env=env, timeout=400
        )
        assert ours.returncode == 0, ours.stderr
        assert ours.stdout == "".join(f"ran {name}.py\n" for name in ALL)
        found.memoized.append(_outputs(folder / f"out{run}"))
        found.reports.append(json.loads(ours.stderr.splitlines()[-1]))


@pytest.mark.parametrize("program", ALL)
def test_a_program_prints_what_it_prints_under_spark_submit(program: str, runs: Runs) -> None:
    for version in range(2):
        assert runs.memoized[version][program] == runs.plain[version][program]
    assert runs.plain[0][program] != runs.plain[1][program]


@pytest.mark.parametrize("program", LARGE)
def test_a_program_reads_again_what_changed(program: str, runs: Runs) -> None:
    first, second = runs.sources(0, program), runs.sources(1, program)
    assert len(first) == len(second) > 0
    assert sum(stage["map"]["executed"] for stage in first) > 0
    for stage in second:
        assert stage["map"]["executed"] < stage["map"]["tasks"]
    if program == "word_count":
        assert [stage["keys"]["reduced"] for stage in second] == [3]


def test_the_inverted_index_maps_the_file_that_changed(runs: Runs) -> None:
    ((first,), (second,)) = (runs.sources(run, "inverted_index") for run in range(2))
    assert (first["map"]["executed"], first["map"]["tasks"]) == (40, 40)
    assert (second["map"]["executed"], second["map"]["tasks"]) == (1, 40)
    line = _words(random.Random(3))[7]
    touched = {*line.split(), *line[::-1].split()} ^ {*CHANGED_TEXT.split()}
    assert 0 < second["keys"]["reduced"] <= len(touched) < second["keys"]["total"]


def test_a_run_on_unchanged_input_maps_nothing_and_prints_the_same(runs: Runs) -> None:
    assert runs.memoized[2] == runs.memoized[1]
    assert runs.reports[2]["map"]["executed"] == runs.reports[2]["keys"]["reduced"] == 0
    assert runs.reports[2]["map"]["tasks"] == runs.reports[1]["map"]["tasks"] > 0


def test_nothing_falls_back_to_plain_spark_but_a_sample(runs: Runs) -> None:
    for report in runs.reports:
        assert report["job"] == "run_all.py"
        assert [note.partition(":")[0] for note in report["notes"]] == ["takeSample"]  # where kmeans begins
