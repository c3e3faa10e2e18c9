"""Modules of the user's travel by content: from any folder, with what their top level does, under their own names."""

from __future__ import annotations

import colorsys
import csv
import decimal
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.code import ModuleNotLoaded

from .workshop import SUM, Workshop

HEAD = "import incoop\n"
TAIL = SUM + "\njob = incoop.Job('travels', mapper, total)\n"


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """What the job files here do at their top level is done in this process, too."""
    hls_to_rgb = colorsys.hls_to_rgb
    with decimal.localcontext():
        yield
    colorsys.hls_to_rgb = hls_to_rgb
    if "pipes" in csv.list_dialects():
        csv.unregister_dialect("pipes")


@pytest.mark.parametrize(
    ("files", "key"),
    [
        pytest.param(
            {"job": "import helper\ndef mapper(_, line): yield helper.NAME, 1", "helper": "NAME = 'beside'"},
            "beside",
            id="a module beside the job",
        ),
        pytest.param(
            {
                "job": "from tools.text import name\ndef mapper(_, line): yield name(), 1",
                "tools__text": "from .deep import inner\ndef name(): return inner.NAME",
                "tools__deep__inner": "NAME = 'package'",
            },
            "package",
            id="a package with relative imports",
        ),
        pytest.param(
            {
                "job": "def mapper(_, line):\n    import late\n    yield late.NAME, 1",
                "late": "NAME = 'late'",
            },
            "late",
            id="an import inside the function",
        ),
        pytest.param(
            {
                "job": "import facade\ndef mapper(_, line): yield facade.name(), 1",
                "facade": "from real import name",
                "real": "def name(): return 'facade'",
            },
            "facade",
            id="a name that another module hands on",
        ),
        pytest.param(
            {
                "job": "MISSING = object()\n"
                "def found(key, default=MISSING): return default\n"
                "pick = lambda _, line: [('same' if found(line) is MISSING else 'other', 1)]\n"
                "def mapper(_, line): return pick(_, line)\n",
            },
            "same",
            id="one object behind two names",
        ),
        pytest.param(
            {"job": "def made(word):\n    return lambda _, line: [(word, 1)]\nmapper = made('closure')"},
            "closure",
            id="a closure",
        ),
        pytest.param(
            {
                "job": "import decimal\ndecimal.getcontext().prec = 5\n"
                "def mapper(_, line): yield str(decimal.Decimal(1) / 3), 1",
            },
            "0.33333",
            id="a decimal context",
        ),
        pytest.param(
            {
                "job": "import csv, io\ncsv.register_dialect('pipes', delimiter='|')\n"
                "def mapper(_, line): yield next(csv.reader(['a|b'], 'pipes'))[1], 1",
            },
            "b",
            id="a csv dialect",
        ),
        pytest.param(
            {
                "job": "import colorsys\nbefore = colorsys.hls_to_rgb\n"
                "colorsys.hls_to_rgb = lambda *hls: ('patched', *before(*hls))\n"
                "def mapper(_, line): yield colorsys.hls_to_rgb(0, 0, 0), 1",
            },
            ("patched", 0, 0, 0),
            id="a patched function",
        ),
        pytest.param(
            {
                "job": "import registry\nimport plugin_a, plugin_b\n"
                "def mapper(_, line): yield tuple(registry.KNOWN), 1",
                "registry": "KNOWN = []",
                "plugin_a": "import registry\nregistry.KNOWN.append('a')",
                "plugin_b": "import registry\nregistry.KNOWN.append('b')",
            },
            ("a", "b"),
            id="registrations, in their order",
        ),
    ],
)
def test_a_job_of_several_modules(files: dict[str, str], key: object, workshop: Workshop) -> None:
    files = dict(files)
    files["job"] = HEAD + files["job"] + "\n" + TAIL
    workshop.write(**files)
    job = workshop.load()  # once: what a file patches, it would patch again
    assert workshop.run(job) == {key: 40}
    result = workshop.place.run(job)
    assert dict(result.collect()) == {key: 40}
    assert result.report.map.executed == 0, "the same code again"


TYPES = """
import incoop
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

@dataclass(frozen=True)
class Point:
    x: int
    y: int

class Colour(Enum):
    RED = 1
    BLUE = 2

Pair = namedtuple("Pair", "left right")

class Named(NamedTuple):
    name: str
    size: int = 0

class Text(str):
    pass

def mapper(_, line):
    number = int(line.split()[1])
    yield Point(number % 2, 0), Pair(1, number)
    yield Colour(number % 2 + 1), Named("n", 1)
    yield Pair(number % 2, "p"), Point(1, 1)

def combined(key, values):
    yield key, list(values)[0]

def reducer(key, values):
    yield key, sorted(map(repr, values))[0]

job = incoop.Job("types", mapper, reducer)
"""


def test_classes_of_a_job_file_are_keys_and_values(workshop: Workshop) -> None:
    workshop.write(job=TYPES)
    job = workshop.load()
    result = workshop.place.run(job)
    found = {repr(key): value for key, value in result.collect()}
    assert found == {
        "Point(x=0, y=0)": "Pair(left=1, right=0)",
        "Point(x=1, y=0)": "Pair(left=1, right=1)",
        "<Colour.RED: 1>": "Named(name='n', size=1)",
        "<Colour.BLUE: 2>": "Named(name='n', size=1)",
        "Pair(left=0, right='p')": "Point(x=1, y=1)",
        "Pair(left=1, right='p')": "Point(x=1, y=1)",
    }


CACHES = """
import functools

@functools.lru_cache(maxsize=8)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

class Slotted:
    __slots__ = ("size",)
    def __init__(self, size):
        self.size = size

class Table:
    @functools.cached_property
    def names(self):
        return {"line": "LINE"}

def looked_up(_, line):
    yield Table().names[line[:4]], fibonacci(Slotted(10).size)
"""

PROGRAM = (
    CACHES
    + TYPES.replace("import incoop", "import sys\nimport incoop\nimport beside", 1)
    + """
def scaled(_, line):
    yield beside.NAME, beside.FACTOR

def total(key, values):
    yield key, sum(values)

beside.FACTOR = int(sys.argv[2])
with incoop.connect(sys.argv[1] + "/store", master="local[1]") as session:
    for key, value in sorted(session.run(job, sys.argv[1] + "/in.txt"), key=repr):
        print(repr(key), value)
    print(dict(session.run(incoop.Job("scaled", scaled, total), sys.argv[1] + "/in.txt")))
    print(dict(session.run(incoop.Job("looked up", looked_up, total), sys.argv[1] + "/in.txt")))
"""
)


def test_a_program_as_main_with_classes_and_a_module_beside_it_from_another_folder(
    workshop: Workshop, tmp_path: Path
) -> None:
    workshop.write(beside="NAME = 'beside'\nFACTOR = 1\n")
    (tmp_path / "in.txt").write_text("".join(f"line {number}\n" for number in range(10)))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for factor in (1, 3):
        done = workshop.python(PROGRAM, tmp_path, factor, cwd=elsewhere)
        assert done.returncode == 0, done.stderr
        assert f"{{'beside': {10 * factor}}}" in done.stdout
        assert "{'LINE': 550}" in done.stdout
        assert "Point(x=0, y=0) Pair(left=1, right=0)" in done.stdout
        assert "<Colour.RED: 1> Named(name='n', size=1)" in done.stdout


CHECKED = """
import sys
import incoop, checks

def mapper(_, line):
    yield checks.checked(line), 1

def total(key, values):
    yield key, sum(values)

with incoop.connect(sys.argv[1] + "/store", master="local[1]") as session:
    print(dict(session.run(incoop.Job("checked", mapper, total), sys.argv[1] + "/in.txt")))
"""


def test_a_program_without_assertions_has_workers_without_them(workshop: Workshop, tmp_path: Path) -> None:
    checks = "def checked(line):\n    assert not line, 'a line'\n    return 'debug' if __debug__ else 'fast'\n"
    workshop.write(checks=checks)
    (tmp_path / "in.txt").write_text("line\n" * 10)
    done = workshop.python(CHECKED, tmp_path, flags=["-O"])
    assert "{'fast': 10}" in done.stdout, done.stderr
    assert "AssertionError: a line" in workshop.python(CHECKED, tmp_path).stderr


def test_a_module_whose_top_level_opens_a_session_is_told_what_to_do(workshop: Workshop) -> None:
    """On the driver the module is loaded with a session that is replaced afterwards, so that only workers open one."""
    workshop.write(
        job="import incoop\nimport os\ndef mapper(_, line): yield 1, 1\n"
        + TAIL
        + f"\nif os.getpid() != {os.getpid()}:\n    incoop.connect('x')\n"
    )
    with pytest.raises(ModuleNotLoaded, match="if __name__ == '__main__'"):
        workshop.run()


@pytest.mark.parametrize("name", ["statistics.py", "word-count.py", "numpy.py"])
def test_a_job_file_may_have_any_name(name: str, workshop: Workshop) -> None:
    (workshop.folder / name).write_text(HEAD + "def mapper(_, line): yield 'lines', 1\n" + TAIL)
    assert workshop.run(workshop.load(name)) == {"lines": 40}


ARGUMENTS = {
    "when a module is imported": (
        "import config\ndef mapper(_, line): yield line[:config.LIMIT], 1\n",
        "import sys\nLIMIT = int(sys.argv[1])\n",
    ),
    "by a parser": (
        "import config\ndef mapper(_, line): yield line[:config.args.limit], 1\n",
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('limit', type=int)\n"
        "args = parser.parse_args()\n",
    ),
    "by the mapper": ("import sys\ndef mapper(_, line): yield line[: int(sys.argv[1])], 1\n", ""),
    "by the mapper alone": ("def mapper(_, line):\n    import sys\n    yield line[: int(sys.argv[1])], 1\n", ""),
    "under another name": ("from sys import argv\ndef mapper(_, line): yield line[: int(argv[1])], 1\n", ""),
}


@pytest.mark.parametrize("read", ARGUMENTS)
def test_arguments_of_the_program_are_those_of_its_functions(
    read: str, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, config = ARGUMENTS[read]
    workshop.write(job=f"import incoop\n{job}{SUM}\njob = incoop.Job('arguments', mapper, total)\n", config=config)
    for limit in (4, 3, 4):
        monkeypatch.setattr(sys, "argv", ["program", str(limit)])
        result = workshop.place.run(workshop.load())
        assert dict(result.collect()) == {"line"[:limit]: 40}
        assert not result.report.warnings
    assert result.report.map.executed == 0, "known from the first run"
