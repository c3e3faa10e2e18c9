"""Names of files as a field of rows, and schemas that lie beside data."""

from __future__ import annotations

import json
from pathlib import Path

import incoop
from incoop.fronts.pig.formats.schema_file import read_schema_file, schema_files
from incoop.fronts.pig.running.run import ScriptReport
from incoop.fronts.pig.schema_text import read_schema

from .test_running import Pig, pig, session

__all__ = ["pig", "session"]

TAGGED = """
    a = LOAD 'in' USING PigStorage(',', '-tagFile') AS (file: chararray, n: int);
    STORE a INTO 'rows' USING PigStorage(',');
    s = FOREACH (GROUP a BY file) GENERATE group, SUM(a.n), COUNT(a);
    STORE s INTO 'sums' USING PigStorage(',');
    p = LOAD 'in' USING PigStorage(',', '-tagPath') AS (path: chararray, n: int);
    d = DISTINCT (FOREACH p GENERATE path);
    STORE d INTO 'paths';
"""


def _stored(folder: Path) -> dict[str, bytes]:
    names = ("rows", "sums", "paths")
    return {str(path.relative_to(folder)): path.read_bytes() for name in names for path in folder.glob(f"{name}/part*")}


def _mapped(report: ScriptReport) -> int:
    return sum(stage.run.map.executed for query in report.queries for stage in query.stages)


def test_rows_know_their_files_after_every_edit_and_only_those_of_the_edit_are_read_again(pig: Pig) -> None:
    inside = pig.folder / "in"
    files = {f"f{number}": list(range(number % 3, 40)) for number in range(6)}  # f0 and f3 hold the same
    for name, numbers in files.items():
        pig.write(f"in/{name}", *map(str, numbers))

    def check(number: int) -> int:
        report = pig.run(TAGGED)
        now = {path.name: [int(line) for line in path.read_text().split()] for path in inside.iterdir()}
        assert sorted(pig.read("rows")) == sorted(f"{name},{each}" for name, found in now.items() for each in found)
        assert sorted(pig.read("sums")) == sorted(f"{name},{sum(found)},{len(found)}" for name, found in now.items())
        assert sorted(pig.read("paths")) == sorted(f"file:{inside / name}" for name in now)
        own = _stored(pig.folder)
        with incoop.connect(pig.folder.parent / f"fresh-{number}") as fresh:
            Pig(fresh, pig.folder).run(TAGGED)
        assert _stored(pig.folder) == own
        return _mapped(report)

    assert check(0) >= 12
    assert check(1) == 0
    pig.write("in/f2", *map(str, range(41)))
    assert 0 < check(2) <= 6
    (inside / "f3").rename(inside / "a3")  # before all others
    assert 0 < check(3) <= 6
    (inside / "f1").unlink()
    (inside / "f0").rename(inside / "f1")  # the name of one, the content of another
    assert check(4) <= 6


def test_a_schema_is_kept_beside_what_is_stored_and_taken_away_with_its_option(pig: Pig) -> None:
    pig.write("in", "1|{(a,2.5)}", "2|")
    declared = "n: int, b: {(s: chararray, d: double)}"
    script = (
        f"a = LOAD 'in' USING PigStorage('|') AS ({declared}); STORE a INTO 'out' USING PigStorage('|', '-schema');"
    )
    pig.run(script)
    kept = pig.folder / "out" / ".pig_schema"
    assert [(each["name"], each["type"]) for each in json.loads(kept.read_bytes())["fields"]] == [("n", 10), ("b", 120)]
    assert (pig.folder / "out" / ".pig_header").read_text() == "n|b\n"
    stamp = kept.stat().st_mtime_ns
    assert pig.run(script).written == 0
    assert kept.stat().st_mtime_ns == stamp
    pig.run("b = LOAD 'out' USING PigStorage('|'); DESCRIBE b; c = FOREACH b GENERATE n + 1, FLATTEN(b.d); DUMP c;")
    assert pig.printed == ["b: {n: int,b: {(s: chararray,d: double)}}", "(2,2.5)", "(3,)"]
    pig.run(script.replace(", '-schema'", ""))
    assert not kept.exists()
    assert not (pig.folder / "out" / ".pig_header").exists()


def test_what_a_script_stores_has_its_own_schema_whatever_lies_there_from_before(pig: Pig) -> None:
    pig.write("in", "1,x")
    script = """
        a = LOAD 'in' USING PigStorage(',') AS (n: int, s: chararray);
        STORE a INTO 'mid' USING JsonStorage();
        b = LOAD 'mid' USING JsonLoader();
        STORE b INTO 'again' USING PigStorage('|', '-schema');
        c = LOAD 'again' USING PigStorage('|', '-schema');
        d = FOREACH c GENERATE s, n;
        DESCRIBE d;
        DUMP d;
    """
    pig.run(script)
    assert pig.printed == ["d: {s: chararray,n: int}", "(x,1)"]
    pig.run(script.replace("(n: int, s: chararray)", "(n: chararray, s: chararray)"))
    assert pig.printed == ["d: {s: chararray,n: chararray}", "(x,1)"]


def test_json_is_loaded_by_the_schema_that_it_was_stored_with(pig: Pig) -> None:
    pig.write("in", "1,x")
    pig.run("a = LOAD 'in' USING PigStorage(',') AS (n: int, s: chararray); STORE a INTO 'out' USING JsonStorage();")
    pig.run("b = LOAD 'out' USING JsonLoader(); DESCRIBE b; DUMP b;")
    assert pig.printed == ["b: {n: int,s: chararray}", "(1,x)"]


def test_every_type_is_read_as_it_is_written() -> None:
    fields = read_schema(
        "a: int, b: long, c: float, d: double, e: boolean, f: datetime, g: bytearray, h: chararray, i: bigdecimal, "
        "j: (x: int, y: {(z: long)}), k: {(u: int, v: chararray)}, l: map[], m: map[int], n: tuple(), o: bag{}, "
        "p::q: int"
    )
    assert read_schema_file(schema_files(fields, ",")[".pig_schema"]) == fields
    assert schema_files(fields, ";")[".pig_header"] == b"a;b;c;d;e;f;g;h;i;j;k;l;m;n;o;p::q\n"


def test_what_is_no_schema_is_none() -> None:
    for text in (
        b"",
        b"[]",
        b"{}",
        b'{"fields":3}',
        b'{"fields":[{"name":"a","type":999}]}',
        b'{"fields":[{"name":3,"type":10}]}',
    ):
        assert read_schema_file(text) is None
