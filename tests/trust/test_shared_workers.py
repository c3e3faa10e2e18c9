"""Jobs that share workers, modules and caches: none gets what another one read, set or changed."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path

import pytest

import incoop
from incoop.code import KeepsState

from .workshop import SUM, Workshop

HEAD = "import incoop\n"

SETTINGS = HEAD + "import settings\ndef mapper(_, line): yield settings.LIMIT, {weight}\n" + SUM
SETTINGS += "\njob = incoop.Job('job {weight}', mapper, total)\n"


def test_a_variable_that_one_job_was_given_is_not_the_next_ones(workshop: Workshop) -> None:
    workshop.write(one=SETTINGS.format(weight=1), two=SETTINGS.format(weight=2), settings="LIMIT = 1\n")
    one = workshop.load("one.py")
    assert workshop.run(one) == {1: 40}
    from incoop.fronts.common.job_file import load_job

    two = load_job(str(workshop.folder / "two.py"))
    sys.modules["settings"].LIMIT = 3  # type: ignore[attr-defined]
    assert workshop.run(two) == {3: 80}
    sys.modules["settings"].LIMIT = 1  # type: ignore[attr-defined]
    workshop.place.write([f"other line {number}" for number in range(30)])
    assert workshop.run(one) == {1: 30}
    assert workshop.run(two) == {1: 60}


#: A module that reads a file once in a process, and keeps what it read in one of Python's own caches.
CACHED = """
import functools, pathlib

def read():
    return int(pathlib.Path(__file__).with_name("weight.txt").read_text())

def told(function):
    @functools.wraps(function)
    def inner():
        return function()
    return inner
"""

CACHES = {
    "of Python's library": (
        "import linecache\n"
        "def weight(): return int(linecache.getline(str(pathlib.Path(__file__).with_name('weight.txt')), 1))\n"
    ),
    "function": "@functools.cache\ndef weight(): return read()\n",
    "under another decorator": "@told\n@functools.lru_cache(None)\ndef weight(): return read()\n",
    "in a container": "KEPT = {'weight': functools.cache(read)}\ndef weight(): return KEPT['weight']()\n",
    "property of an object": (
        "class Settings:\n    @functools.cached_property\n    def weight(self): return read()\n"
        "SETTINGS = Settings()\ndef weight(): return SETTINGS.weight\n"
    ),
    "attribute of an object": (
        "class Settings:\n    def __init__(self): self.weight = functools.cache(read)\n"
        "SETTINGS = Settings()\ndef weight(): return SETTINGS.weight()\n"
    ),
}

USES = HEAD + "import cached\ndef mapper(_, line): yield '{name}', cached.weight()\n" + SUM
USES += "\njob = incoop.Job('{name}', mapper, total)\n"


@pytest.mark.parametrize("cache", CACHES)
def test_what_a_cache_of_another_job_has_read_counts_too(cache: str, workshop: Workshop) -> None:
    from incoop.fronts.common.job_file import load_job

    cached = CACHED + CACHES[cache]
    workshop.write(first=USES.format(name="first"), second=USES.format(name="second"), cached=cached)
    weight = workshop.folder / "weight.txt"
    weight.write_text("1")
    first = workshop.load("first.py")
    second = load_job(str(workshop.folder / "second.py"))
    assert workshop.run(first) == {"first": 40}
    assert workshop.run(second) == {"second": 40}
    weight.write_text("5")
    assert workshop.run(second) == {"second": 200}
    assert workshop.run(first) == {"first": 200}


IN_A_PACKAGE = HEAD + "from package.{module} import mapper\n" + SUM
IN_A_PACKAGE += "\njob = incoop.Job('{module}', mapper, total)\n"

READS = "import os\nMODE = os.environ.get('PACKAGE_MODE', '')\ndef mapper(_, line): yield MODE, 1\n"


def test_what_a_module_reads_when_it_is_imported_does_not_count_for_others_of_its_package(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incoop.fronts.common.job_file import load_job

    monkeypatch.setenv("PACKAGE_MODE", "one")
    workshop.write(
        **{module: IN_A_PACKAGE.format(module=module) for module in ("reads", "plain")},
        package__reads=READS,
        package__plain="def mapper(_, line): yield 'lines', 1\n",
    )
    reads = workshop.load("reads.py")
    plain = load_job(str(workshop.folder / "plain.py"))
    result = workshop.place.run(plain)
    assert result.as_dict() == {"lines": 40}
    assert workshop.run(reads) == {"one": 40}
    with workshop.place.scratch() as session:  # in workers that have imported the other module
        from_scratch = session.run(plain, str(workshop.place.input))
        assert from_scratch.report.generation == 1, "there is nothing to begin again for"
        assert from_scratch.root == result.root
    monkeypatch.setenv("PACKAGE_MODE", "two")
    assert workshop.place.run(plain).report.map.executed == 0
    assert workshop.run(workshop.load("reads.py")) == {"two": 40}


@pytest.mark.parametrize("module", ["shared", "library"])
def test_what_a_module_has_read_when_another_job_imported_it_counts(
    module: str, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the user's own, and one of an installed package, which does not travel."""
    from incoop.fronts.common.job_file import load_job

    uses = HEAD + f"import {module}\ndef mapper(_, line): yield {module}.MODE, 1\n" + SUM
    monkeypatch.setenv("PACKAGE_MODE", "one")
    workshop.write(
        first=uses + "\njob = incoop.Job('first', mapper, total)\n",
        second=uses + "\njob = incoop.Job('second', mapper, total)\n",
        shared=READS,
    )
    packages = workshop.folder / "site-packages"
    packages.mkdir()
    (packages / "library.py").write_text(READS)
    workshop._path.insert(0, str(packages))
    first = workshop.load("first.py")
    second = load_job(str(workshop.folder / "second.py"))
    assert workshop.run(first) == {"one": 40}
    assert workshop.run(second) == {"one": 40}
    monkeypatch.setenv("PACKAGE_MODE", "two")
    assert workshop.run(workshop.load("second.py")) == {"two": 40}


STATEFUL = """
import incoop
import numpy as np, pandas as pd
seen = set()

def mapper(_, line):
    if line.endswith("!"):
        seen.add(line)
    yield "lines", 1 + len(seen) + 0 * int(np.int64(0)) + 0 * len(pd.Index([1]))
"""


def test_state_that_comes_late_is_found_also_where_looking_takes_long(workshop: Workshop) -> None:
    workshop.write(job=STATEFUL + SUM + "\njob = incoop.Job('late', mapper, total)\n")
    job = workshop.load()
    assert workshop.run(job) == {"lines": 40}
    workshop.place.write([f"line {number} of the input" for number in range(38)] + ["a line!", "another line!"])
    with pytest.raises(KeepsState, match="seen"):
        workshop.run(job)


RELATIVE = HEAD + "def mapper(_, line): yield 'weight', int(open('weight.txt').read())\n" + SUM
RELATIVE += "\njob = incoop.Job('relative', mapper, total)\n"


def test_a_relative_path_is_from_the_folder_of_the_program(workshop: Workshop, tmp_path: Path) -> None:
    workshop.write(job=RELATIVE)
    job = workshop.load()
    for weight, name in enumerate(("here", "there"), 1):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weight.txt").write_text(str(weight))
    for name, expected in (("here", 40), ("there", 80), ("here", 40)):
        with contextlib.chdir(tmp_path / name):
            assert workshop.run(job) == {"weight": expected}
    (tmp_path / "there" / "weight.txt").write_text("3")
    with contextlib.chdir(tmp_path / "there"):
        assert workshop.run(job) == {"weight": 120}


REGISTRY = HEAD + "import registry\ndef mapper(_, line): yield registry.call(line[:4]), 1\n" + SUM
REGISTRY += "\njob = incoop.Job('registry', mapper, total)\n"


def test_a_function_that_the_program_puts_into_a_module_travels(workshop: Workshop) -> None:
    workshop.write(
        job=REGISTRY,
        registry="KNOWN = []\ndef call(text):\n    for each in KNOWN:\n        text = each(text)\n    return text\n",
    )
    job = workshop.load()
    assert workshop.run(job) == {"line": 40}
    sys.modules["registry"].KNOWN.append(str.upper)  # type: ignore[attr-defined]
    assert workshop.run(job) == {"LINE": 40}


def test_a_job_without_memo_leaves_nothing_to_the_next_one(workshop: Workshop) -> None:
    workshop.write(
        counts=HEAD
        + "import shared\ndef mapper(_, line):\n    shared.N += 1\n    yield 'n', 1\n"
        + SUM
        + "\njob = incoop.Job('counts', mapper, total, memoize=False)\n",
        reads=HEAD
        + "import shared\ndef mapper(_, line): yield shared.N, 1\n"
        + SUM
        + "\njob = incoop.Job('reads', mapper, total)\n",
        shared="N = 0\n",
    )
    from incoop.fronts.common.job_file import load_job

    counts = workshop.load("counts.py")
    reads = load_job(str(workshop.folder / "reads.py"))
    assert workshop.run(counts) == {"n": 40}
    assert workshop.run(reads) == {0: 40}
    assert isinstance(reads, incoop.Job)


def test_what_runs_after_a_job_works_where_pyspark_put_it(workshop: Workshop, tmp_path: Path) -> None:
    """A worker that a job took along to its folder is back in its own for the next one, also when that is gone."""
    workshop.write(job=RELATIVE)
    job = workshop.load()
    context = workshop.place.spark.sparkContext
    where = sorted(context.parallelize(range(8), 8).map(lambda _: Path.cwd()).collect())
    away = tmp_path / "away"
    away.mkdir()
    (away / "weight.txt").write_text("1")
    with contextlib.chdir(away):
        assert workshop.run(job) == {"weight": 40}
    shutil.rmtree(away)
    assert sorted(context.parallelize(range(8), 8).map(lambda _: Path.cwd()).collect()) == where
    session = workshop.place.session
    lines = session.textFile(str(workshop.place.input / "input.txt"))
    assert lines.map(lambda line: (line[:4], 1)).reduceByKey(lambda a, b: a + b).collect() == [("line", 40)]
    assert session.rdds.notes == []


def test_a_worker_whose_folder_is_gone_works_on(workshop: Workshop, tmp_path: Path) -> None:
    home, gone = Path.cwd(), tmp_path / "gone"

    def leave(_: int) -> None:
        gone.mkdir(exist_ok=True)
        os.chdir(gone)

    def back(_: int) -> None:
        os.chdir(home)

    context = workshop.place.spark.sparkContext
    session = workshop.place.session
    context.parallelize(range(8), 8).foreach(leave)
    gone.rmdir()
    try:
        lines = session.textFile(str(workshop.place.input / "input.txt"))
        assert lines.map(lambda line: (line[:4], 1)).reduceByKey(lambda a, b: a + b).collect() == [("line", 40)]
        assert session.rdds.notes == []
    finally:
        context.parallelize(range(8), 8).foreach(back)
