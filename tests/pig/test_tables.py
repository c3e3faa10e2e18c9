"""The parser's tables: kept, made anew where what was kept is of no use, and loaded by nobody who parses nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.fronts.pig.syntax import tables
from incoop.fronts.pig.syntax.script import parse_script


def test_nothing_loads_lark_before_a_script_is_parsed() -> None:
    code = "import incoop, incoop.fronts.pig.syntax.script, sys; assert 'lark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place of its own for the tables, which are not there yet."""
    place = tmp_path / "tables.kept"
    monkeypatch.setattr(tables, "kept_tables", lambda version: place)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    tables.pig_parser.cache_clear()
    yield place
    tables.pig_parser.cache_clear()


def test_tables_are_kept_and_made_anew_where_they_are_damaged(kept: Path) -> None:
    first = parse_script("a = LOAD 'x';").statements
    made = kept.read_bytes()
    for damaged in (b"", made[:1000], b"nonsense"):
        kept.write_bytes(damaged)
        tables.pig_parser.cache_clear()
        assert parse_script("a = LOAD 'x';").statements == first
        assert len(kept.read_bytes()) > 10_000


def test_tables_that_were_kept_are_used(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import lark

    tables.pig_parser()
    tables.pig_parser.cache_clear()
    monkeypatch.setattr(lark.Lark, "__init__", None)
    assert parse_script("a = LOAD 'x';").statements


def test_a_folder_that_cannot_be_written_is_no_error(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "kept_tables", lambda version: Path("/dev/null/x/tables.kept"))
    assert parse_script("a = LOAD 'x';").statements


def test_a_long_script_is_read_quickly() -> None:
    block = """a{0} = LOAD 'x{0}' USING PigStorage(',') AS (a: int, b: chararray, c: double);
b{0} = FILTER a{0} BY a > {0} AND b MATCHES 'x.*';
c{0} = FOREACH (GROUP b{0} BY (a, b)) GENERATE FLATTEN(group) AS (a, b), COUNT(b{0}), SUM(b{0}.c) AS s;
"""
    script = "".join(block.format(number) for number in range(100))
    parse_script("a = b;")
    began = time.process_time()
    assert len(parse_script(script).statements) == 300
    # 0.13 s on the slowest machine that was measured.
    assert time.process_time() - began < 0.6
