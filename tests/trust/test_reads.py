"""What the functions read is part of their id, by watching: changed means run again, unchanged means reuse."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

import incoop
from incoop.engine.events import DidBegin

from .workshop import SUM, Workshop

#: One mapper that reads in many ways; each gives what it read under a name of its own.
READERS = """
import incoop
import configparser, csv, functools, glob, gzip, importlib, json, linecache, os, pathlib, pkgutil, sqlite3
import numpy as np
import tool

HERE = pathlib.Path(__file__).parent

@functools.lru_cache
def cached():
    return (HERE / "cached.txt").read_text()

def stored():
    with sqlite3.connect(HERE / "data.db") as base:
        return base.execute("select value from facts").fetchone()[0]

def ini():
    parser = configparser.ConfigParser()
    parser.read(HERE / "settings.ini")
    return parser["main"]["value"]

WAYS = {
    "open": lambda: open(HERE / "plain.txt").read(),
    "path": lambda: tool.text_beside(),
    "json": lambda: json.load(open(HERE / "data.json"))["value"],
    "gzip": lambda: gzip.open(HERE / "data.gz", "rt").read(),
    "configparser": ini,
    "csv": lambda: next(csv.reader(open(HERE / "table.csv")))[0],
    "sqlite": stored,
    "numpy": lambda: int(np.loadtxt(HERE / "numbers.txt")),
    "os.open": lambda: os.read(os.open(HERE / "raw.txt", os.O_RDONLY), 99).decode(),
    "lru_cache": cached,
    "computed import": lambda: importlib.import_module("plug" + "in").VALUE,
    "package data": lambda: pkgutil.get_data("tool", "data.txt").decode(),
    "listdir": lambda: len(os.listdir(HERE / "many")),
    "glob": lambda: len(glob.glob(str(HERE / "some" / "*.txt"))),
    "variable": lambda: os.environ["INPUT_MODE"],
    "variable with default": lambda: os.getenv("NOT_SET_AT_FIRST", "none"),
    "absent": lambda: "there" if try_open(HERE / "absent.txt") else "not there",
}

def try_open(path):
    try:
        return open(path)
    except FileNotFoundError:
        return None

def mapper(_, line):
    if line.startswith("line 7 "):
        for name, read in WAYS.items():
            yield name, str(read())

def first(key, values):
    yield key, sorted(set(values))[0]

job = incoop.Job("readers", mapper, first)
"""


TEXT = """
import pathlib

def text_beside():
    return pathlib.Path(__file__).with_name("beside.txt").read_text()
"""


def _sqlite(path: Path, value: str) -> None:
    with sqlite3.connect(path) as base:
        base.execute("create table if not exists facts (value)")
        base.execute("delete from facts")
        base.execute("insert into facts values (?)", [value])
    base.close()


CHANGES = {
    "open": lambda folder, value: (folder / "plain.txt").write_text(value),
    "path": lambda folder, value: (folder / "tool" / "beside.txt").write_text(value),
    "json": lambda folder, value: (folder / "data.json").write_text(json.dumps({"value": value})),
    "gzip": lambda folder, value: (folder / "data.gz").write_bytes(gzip.compress(value.encode())),
    "configparser": lambda folder, value: (folder / "settings.ini").write_text(f"[main]\nvalue = {value}\n"),
    "csv": lambda folder, value: (folder / "table.csv").write_text(f"{value},x\n"),
    "sqlite": lambda folder, value: _sqlite(folder / "data.db", value),
    "numpy": lambda folder, value: (folder / "numbers.txt").write_text(f"{value}\n"),
    "os.open": lambda folder, value: (folder / "raw.txt").write_text(value),
    "lru_cache": lambda folder, value: (folder / "cached.txt").write_text(value),
    "computed import": lambda folder, value: (folder / "plugin.py").write_text(f"VALUE = {value}\n"),
    "package data": lambda folder, value: (folder / "tool" / "data.txt").write_text(value),
    "variable": lambda folder, value: os.environ.__setitem__("INPUT_MODE", value),
}


def test_whatever_is_read_and_by_whatever_means(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = workshop.folder
    monkeypatch.setenv("INPUT_MODE", "1")
    monkeypatch.delenv("NOT_SET_AT_FIRST", raising=False)
    workshop.write(job=READERS, tool__text=TEXT)
    (folder / "tool" / "__init__.py").write_text("from tool.text import text_beside\n")
    for name in ("many", "some"):
        (folder / name).mkdir()
        (folder / name / "1.txt").write_text("")
    for change in CHANGES.values():
        change(folder, "1")
    expected = dict.fromkeys(CHANGES, "1") | {
        "listdir": "1",
        "glob": "1",
        "variable with default": "none",
        "absent": "not there",
    }
    assert workshop.run() == expected
    again = workshop.place.run(workshop.load())
    assert dict(again.collect()) == expected
    assert again.report.map.executed == 0, "nothing that is read changed"
    assert not [each for each in again.report.warnings if "changed" in each]

    number = 1
    for name, change in CHANGES.items():
        number += 1
        change(folder, str(number))
        expected[name] = str(number)
        assert workshop.run() == expected, name
    (folder / "many" / "2.txt").write_text("")
    assert workshop.run() == expected | {"listdir": "2"}
    (folder / "some" / "2.txt").write_text("")
    monkeypatch.setenv("NOT_SET_AT_FIRST", "set")
    (folder / "absent.txt").write_text("")
    expected |= {"listdir": "2", "glob": "2", "variable with default": "set", "absent": "there"}
    assert workshop.run() == expected
    again = workshop.place.run(workshop.load())
    assert again.report.map.executed == 0
    with workshop.place.scratch() as session:
        assert dict(session.run(workshop.load(), str(workshop.place.input)).collect()) == expected


THROUGH_THE_LIBRARY = """
import collections, getpass, os, string

SETTINGS = collections.ChainMap(os.environ, {"ONE_MODE": "1"})

def modes():
    yield "ChainMap", SETTINGS["ONE_MODE"]
    yield "expandvars", os.path.expandvars("$TWO_MODE")
    yield "Template", string.Template("$THREE_MODE").substitute(os.environ)
    yield "expanduser", os.path.expanduser("~/rules")
    yield "getuser", getpass.getuser()
    yield "file that ends like os.py", os.environ["FOUR_MODE"]

def mapper(_, line):
    if line.startswith("line 7 "):
        yield from modes()
"""


def test_variables_that_the_library_looks_up_when_told_to(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    job = "import incoop\nfrom videos import mapper\ndef first(key, values): yield key, values[0]\n"
    workshop.write(job=f"{job}job = incoop.Job('modes', mapper, first)\n", videos=THROUGH_THE_LIBRARY)
    names = ["ONE_MODE", "TWO_MODE", "THREE_MODE", "HOME", "LOGNAME", "FOUR_MODE"]
    expected: dict[str, str] = {}
    for number, changed in enumerate([names, *([name] for name in names)]):
        for name in changed:
            monkeypatch.setenv(name, f"/{number}")
        values = [os.environ[name] for name in names]
        ways = ["ChainMap", "expandvars", "Template", "expanduser", "getuser", "file that ends like os.py"]
        expected = dict(zip(ways, values, strict=True)) | {"expanduser": f"{values[3]}/rules"}
        assert workshop.run() == expected, changed
    assert workshop.place.run(workshop.load()).report.map.executed == 0


REDUCER = """
import incoop, pathlib
HERE = pathlib.Path(__file__).parent

def mapper(_, line):
    yield line[:4], 1

def reducer(key, values):
    factor = int((HERE / "factor.txt").read_text())
    yield key, factor * sum(values)

job = incoop.Job("reads in the reducer", mapper, reducer)
"""


def test_what_a_reducer_reads_does_not_map_again(workshop: Workshop) -> None:
    workshop.write(job=REDUCER)
    (workshop.folder / "factor.txt").write_text("2")
    assert workshop.run() == {"line": 80}
    (workshop.folder / "factor.txt").write_text("3")
    result = workshop.place.run(workshop.load())
    assert dict(result.collect()) == {"line": 120}
    assert result.report.map.executed == 0
    (workshop.folder / "factor.txt").write_text("2")
    result = workshop.place.run(workshop.load())
    assert dict(result.collect()) == {"line": 80}
    assert result.report.reduce.executed == 0, "known from the first run"


IN_MEMORY = """
import incoop

def mapper(_, line):
    with open(PATH) as file:
        yield line[:4], int(file.read())

def reducer(key, values):
    yield key, sum(values)

job = incoop.Job("reads a file in memory", mapper, reducer)
"""


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no folder in memory for files")
def test_a_file_in_memory_is_a_file_though_it_stands_among_devices(workshop: Workshop) -> None:
    with tempfile.NamedTemporaryFile("w", dir="/dev/shm") as file:
        path = Path(file.name)
        workshop.write(job=f"PATH = {file.name!r}\n{IN_MEMORY}")
        path.write_text("2")
        assert workshop.run() == {"line": 80}
        path.write_text("3")
        assert workshop.run() == {"line": 120}


UNTRACKED = (
    """
import incoop, socket, subprocess, tempfile, os

def mapper(_, line):
    if line.startswith("line 7 "):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "own.txt")
            with open(path, "w") as file:
                file.write("own")
            with open(path) as file:
                assert file.read() == "own"
        subprocess.run(["true"])
        try:
            socket.create_connection(("127.0.0.1", 9), timeout=0.1)
        except OSError:
            pass
    yield "lines", 1
"""
    + SUM
    + """
job = incoop.Job("untracked", mapper, total)
"""
)


def test_what_cannot_be_followed_is_told_with_its_line_and_strict_refuses_it(workshop: Workshop) -> None:
    workshop.write(job=UNTRACKED)
    result = workshop.place.run(workshop.load())
    assert dict(result.collect()) == {"lines": 40}
    warnings = "\n".join(result.report.warnings)
    assert "job.py:12 (mapper) starts a program (true)" in warnings
    assert "job.py:14 (mapper) connects to ('127.0.0.1', 9)" in warnings
    again = workshop.place.run(workshop.load())
    assert again.report.map.executed == 0, "files that a task makes and removes itself are no dependencies"
    with workshop.place.scratch() as session, pytest.raises(incoop.IncoopError, match="cannot be followed"):
        session.run(workshop.load(), str(workshop.place.input), strict=0.0)


def test_a_file_that_changes_while_functions_read_it_stores_nothing(workshop: Workshop) -> None:
    workshop.write(
        job="""
import incoop, pathlib
PATH = pathlib.Path(__file__).with_name("growing.txt")

def mapper(_, line):
    yield PATH.read_text()[:1], 1
    with open(PATH, "a") as file:
        file.write("x")
"""
        + SUM
        + "\njob = incoop.Job('grows', mapper, total)\n"
    )
    (workshop.folder / "growing.txt").write_text("a")
    with pytest.raises(incoop.IncoopError, match="growing"):
        workshop.run()


@pytest.mark.parametrize(
    "taken",
    [
        "importlib.import_module(NAME + 'r').value()",
        "__import__(NAME + 'r').value()",
        "sys.modules[NAME + 'r'].value()",
        "pkgutil.resolve_name(NAME + 'r:value')()",
    ],
)
def test_a_module_that_travelled_and_is_taken_by_a_computed_name(taken: str, workshop: Workshop) -> None:
    head = "import incoop, importlib, sys, pkgutil\nimport helper\nNAME = 'helpe'\n"
    tail = SUM + "\njob = incoop.Job('computed', mapper, total)\n"
    workshop.write(job=f"{head}def mapper(_, line): yield {taken}, 1\n{tail}", helper="def value(): return 1\n")
    assert workshop.run() == {1: 40}
    assert workshop.place.run(workshop.load()).report.map.executed == 0
    workshop.write(helper="def value(): return 2\n")
    assert workshop.run() == {2: 40}


def test_rdd_functions_are_watched_too(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of this module are pickled by value, as those of a program's `__main__` are."""
    path = workshop.folder / "factor.txt"
    path.write_text("2")
    context = workshop.place.spark.sparkContext
    words = context.broadcast({"line": "LINE"})
    monkeypatch.setenv("RDD_FACTOR", "1")

    def counted(session: incoop.Session) -> dict[str, int]:
        lines = session.textFile(str(workshop.place.input))
        pairs = lines.map(lambda line: (words.value[line[:4]], int(path.read_text())))
        return dict(pairs.reduceByKey(lambda one, other: one + other).collect())

    session = workshop.place.session
    assert counted(session) == {"LINE": 80}
    assert counted(session) == {"LINE": 80}
    assert [report.map.executed > 0 for report in session.rdds.reports] == [True, False], session.rdds.notes
    path.write_text("3")
    assert counted(session) == {"LINE": 120}
    assert session.rdds.reports[-1].map.executed > 0
    assert not [note for note in session.rdds.notes if "plain Spark" in note]


PARSING = f"""
import argparse, gettext, incoop
{SUM}

def mapper(_, line):
    given = argparse.ArgumentParser().parse_args([])
    yield line, len(vars(given))

job = incoop.Job('parsing', mapper, total)

def translated(_, line):
    yield gettext.gettext(line), 1

other = incoop.Job('translating', translated, total)
"""


def test_words_that_pythons_library_translates_for_itself_are_no_read(workshop: Workshop) -> None:
    workshop.write(job=PARSING)
    assert len(list(workshop.place.run(workshop.load("job.py:job")).events.of(DidBegin))) == 1
    again = workshop.place.run(workshop.load("job.py:other")).events
    assert len(list(again.of(DidBegin))) > 1, "a user's own words are translated by LANGUAGE and LANG"
