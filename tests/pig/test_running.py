"""Statements in turn: batches, shells, scripts in scripts, what is said of inputs, outputs and records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import incoop
from incoop.base.errors import IncoopError
from incoop.fronts.pig.errors import MissingInput, ScriptError, texts
from incoop.fronts.pig.running.checks import check_inputs
from incoop.fronts.pig.running.prepare import Preparation
from incoop.fronts.pig.running.run import ScriptReport, ScriptRun
from incoop.fronts.pig.syntax.errors import PigSyntaxError
from incoop.fronts.pig.syntax.script import parse_script


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[incoop.Session]:
    with incoop.connect(tmp_path_factory.mktemp("pig-running") / "store") as opened:
        yield opened


@dataclass
class Pig:
    """Runs scripts in a folder."""

    session: incoop.Session
    folder: Path
    told: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def write(self, name: str, *lines: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def read(self, name: str) -> list[str]:
        """The lines of all part files."""
        files = sorted((self.folder / name).glob("part-*"))
        return [line for file in files for line in file.read_text().splitlines()]

    def run(self, script: str) -> ScriptReport:
        self.printed, self.told = [], []
        text_of = texts({"script": script})
        prepared = Preparation(text_of)
        steps = prepared.script(parse_script(script, folder=self.folder), self.folder)
        self.told += prepared.notes
        return ScriptRun(self.session, self.folder.name, self.printed.append, self.told.append, text_of).run(steps)


@pytest.fixture
def pig(session: incoop.Session, tmp_path: Path) -> Pig:
    return Pig(session, tmp_path)


def test_stores_of_a_batch_are_one_query_and_share_their_stages(pig: Pig) -> None:
    pig.write("in", "a\t1", "b\t2", "a\t3")
    report = pig.run("""
        a = LOAD 'in' AS (k: chararray, n: int);
        g = GROUP a BY k;
        s = FOREACH g GENERATE group, SUM(a.n);
        c = FOREACH g GENERATE group, COUNT(a);
        STORE s INTO 'sums';
        STORE c INTO 'counts' USING PigStorage(',');
    """)
    assert sorted(pig.read("sums")) == ["a\t4", "b\t2"]
    assert sorted(pig.read("counts")) == ["a,2", "b,1"]
    assert len(report.queries) == 1
    assert (pig.folder / "sums" / "_SUCCESS").exists()


def test_a_script_that_ran_before_runs_nothing_and_writes_nothing(pig: Pig) -> None:
    pig.write("in", *(f"{number % 7}\t{number}" for number in range(100)))
    script = """
        a = LOAD 'in' AS (k: int, n: int);
        r = FOREACH (GROUP a BY k) GENERATE group, SUM(a.n);
        o = ORDER r BY $1 DESC;
        STORE o INTO 'out';
    """
    first = pig.run(script)
    assert first.written > 0 and not first.queries[0].nothing_ran
    again = pig.run(script)
    assert again.written == 0 and again.queries[0].nothing_ran
    pig.write("in", *(f"{number % 7}\t{number}" for number in range(99)))
    changed = pig.run(script)
    assert 0 < changed.queries[0].keys_reduced < first.queries[0].keys_reduced + 7
    totals = {key: sum(range(key, 99, 7)) for key in range(7)}
    expected = sorted(totals.items(), key=lambda pair: -pair[1])
    assert pig.read("out") == [f"{key}\t{total}" for key, total in expected]


def test_a_script_loads_what_it_stored_itself(pig: Pig) -> None:
    pig.write("in", "3", "1")
    report = pig.run("""
        a = LOAD 'in' AS (x: int);
        STORE a INTO 'mid';
        b = LOAD 'mid/part-*' AS (x: int);
        c = FOREACH b GENERATE x * 2;
        STORE c INTO 'out';
    """)
    assert sorted(pig.read("out")) == ["2", "6"]
    assert len(report.queries) == 2


def test_dump_prints_and_ends_a_batch(pig: Pig) -> None:
    pig.write("in", "1\ta", "\tb")
    report = pig.run("""
        a = LOAD 'in' AS (x: int, s: chararray);
        STORE a INTO 'out';
        o = ORDER a BY x;
        DUMP o;
        b = FILTER a BY x > 0;
        DUMP b;
    """)
    assert pig.printed == ["(,b)", "(1,a)", "(1,a)"]
    assert len(report.queries) == 2


def test_a_missing_input_is_an_error_before_any_work(pig: Pig) -> None:
    pig.write("in", "1")
    pig.write("students.txt", "1")
    with pytest.raises(MissingInput) as caught:
        pig.run("""a = LOAD 'in' AS (x: int);
STORE a INTO 'out';
b = LOAD 'student.txt' AS (x: int);
DUMP b;
""")
    assert str(caught.value) == (
        "script:3:5: there is nothing to load at student.txt\n"
        "    b = LOAD 'student.txt' AS (x: int);\n"
        "        ^\n"
        "Nothing was run. Did you mean students.txt?"
    )
    assert not (pig.folder / "out").exists()


@pytest.mark.parametrize("path", ["", ",", "in,nothing", "nothing*", "in/{a,b}", "inn{,er}"])
def test_paths_that_find_nothing(path: str, pig: Pig) -> None:
    pig.write("in", "1")
    with pytest.raises(MissingInput, match="there is nothing to load at"):
        pig.run(f"a = LOAD '{path}' AS (x: int);\nDUMP a;")


def test_a_missing_input_may_be_made_by_a_command(pig: Pig) -> None:
    pig.run("""
        sh printf '1\\n2\\n' > made
        fs -mkdir -p kept
        fs -cp made kept/made
        a = LOAD 'kept/made' AS (x: int);
        DUMP a;
    """)
    assert sorted(pig.printed) == ["(1)", "(2)"]


def test_commands_of_the_shell(pig: Pig) -> None:
    pig.write("in/a", "1")
    pig.run("""
        rmf nothing
        mkdir made
        cp in/a made/b
        mv made/b made/c
        cat made/c
        ls made
        fs -test -e made/c
        rm made
        sh echo 'one  two' | tr o O
    """)
    assert pig.printed == ["1", str(pig.folder / "made" / "c"), "One  twO"]
    assert not (pig.folder / "made").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rm nothing", "there is no such file or folder"),
        ("sh echo no >&2 && false", "failed with exit code 1"),
        ("fs -frobnicate x", "fs -frobnicate is not known here"),
        ("fs -rm s3://bucket/x", "s3 is not read here"),
    ],
)
def test_a_command_that_fails_ends_the_script(command: str, said: str, pig: Pig) -> None:
    pig.write("in", "1")
    with pytest.raises(IncoopError, match=said):
        pig.run(f"a = LOAD 'in' AS (x: int);\nSTORE a INTO 'out';\n{command}\nDUMP a;\n")
    assert pig.read("out") == ["1"] and pig.printed == []


def test_run_goes_on_in_the_same_names_exec_in_its_own(pig: Pig) -> None:
    pig.write("in", "1", "5")
    pig.write("inner.pig", "b = FILTER a BY x > $least;")
    pig.write("other.pig", "a = LOAD '$in' AS (y: int);", "DUMP a;")
    pig.run("""
        a = LOAD 'in' AS (x: int);
        run -param least=3 inner.pig
        exec -param in=in other.pig
        c = FOREACH b GENERATE x * 2;
        DUMP c;
    """)
    assert sorted(pig.printed[:2]) == ["(1)", "(5)"] and pig.printed[2:] == ["(10)"]
    with pytest.raises(ScriptError, match="there is no script nothing"):
        pig.run("exec nothing.pig")
    pig.write("circle.pig", "exec circle.pig")
    with pytest.raises(ScriptError, match="Do they run each other"):
        pig.run("exec circle.pig")


def test_an_error_in_another_script_names_its_place(pig: Pig) -> None:
    pig.write("in", "1")
    inner = pig.write("inner.pig", "", "b = FILTER a BY z > 3;")
    with pytest.raises(ScriptError) as caught:
        pig.run("a = LOAD 'in' AS (x: int);\nrun inner.pig\n")
    assert str(caught.value).startswith(
        f"{inner}:2:17: there is no field 'z' here; there are x\n    b = FILTER a BY z > 3;\n"
    )


def test_an_error_in_a_macro_names_the_call(pig: Pig) -> None:
    with pytest.raises(ScriptError) as caught:
        pig.run("""DEFINE top(rel) RETURNS best {
  $best = ORDER $rel BY points;
};
a = LOAD 'in' AS (x: int);
b = top(a);
""")
    assert str(caught.value).startswith(
        "script:2:25 (in macro top, called at script:5:1): there is no field 'points' here; there are x\n"
        "      $best = ORDER $rel BY points;\n"
    )


def test_macros_and_quit(pig: Pig) -> None:
    pig.write("in", "3", "1", "2")
    pig.run("""
        DEFINE top(rel, column, n) RETURNS best {
            sorted = ORDER $rel BY $column DESC;
            $best = LIMIT sorted $n;
        };
        a = LOAD 'in' AS (x: int);
        b = top(a, x, 2);
        DUMP b;
        quit
        DUMP nothing;
    """)
    assert pig.printed == ["(3)", "(2)"]


def test_assert_lets_rows_through_or_ends_the_script(pig: Pig) -> None:
    pig.write("in", "1", "2")
    script = "a = LOAD 'in' AS (x: int);\nASSERT a BY x > 0, 'x must be positive';\nSTORE a INTO 'out';\n"
    pig.run(script)
    assert sorted(pig.read("out")) == ["1", "2"]
    pig.write("in", "1", "-2")
    with pytest.raises(IncoopError) as caught:
        pig.run(script)
    assert "x must be positive" in str(caught.value) and "-2" in str(caught.value)
    assert sorted(pig.read("out")) == ["1", "2"]


def test_stream_goes_through_a_command(pig: Pig) -> None:
    pig.write("in", "b\t1", "a\t2")
    pig.write("upper.py", "import sys", "for line in sys.stdin: sys.stdout.write(line.upper())")
    script = """
        DEFINE up `python3 upper.py` SHIP('upper.py');
        a = LOAD 'in' AS (s: chararray, n: int);
        b = STREAM a THROUGH up AS (s: chararray, n: int);
        c = STREAM b THROUGH `cut -f 2` AS (n: int);
        d = FOREACH b GENERATE s, n + 1;
        DUMP d;
        DUMP c;
    """
    pig.run(script)
    assert sorted(pig.printed) == ["(1)", "(2)", "(A,3)", "(B,2)"]
    pig.write("upper.py", "import sys", "for line in sys.stdin: sys.stdout.write(line)")
    pig.run(script)
    assert sorted(pig.printed) == ["(1)", "(2)", "(a,3)", "(b,2)"]


def test_explain_illustrate_describe_and_set(pig: Pig) -> None:
    pig.write("in", *(f"{number}" for number in range(9)))
    pig.run("""
        set default_parallel 8
        a = LOAD 'in' AS (x: int);
        b = FILTER a BY x > 4;
        explain b
        illustrate b;
        describe a
        explain -out plan.txt b
    """)
    text = "\n".join(pig.printed)
    assert "Filter (x > 4)" in text and "Scan a" in text
    assert "b: {x: int}\n-----------\n(5)\n(6)\n(7)" in text
    assert pig.printed[-1] == "a: {x: int}"
    assert "Filter (x > 4)" in (pig.folder / "plan.txt").read_text()


def test_two_stores_into_one_folder_are_refused(pig: Pig) -> None:
    with pytest.raises(ScriptError, match=r"script:3:1: ./out is stored into at script:2:1, too"):
        pig.run("a = LOAD 'in' AS (x: int);\nSTORE a INTO 'out';\nSTORE a INTO './out';\n")


def test_a_folder_that_is_not_ours_is_left_alone(pig: Pig) -> None:
    pig.write("in", "1")
    kept = pig.write("out/diary", "dear")
    with pytest.raises(IncoopError, match="which no earlier run wrote"):
        pig.run("a = LOAD 'in' AS (x: int);\nDUMP a;\nSTORE a INTO 'out';\n")
    assert pig.printed == []
    assert kept.read_text() == "dear\n" and len(list(kept.parent.iterdir())) == 1


def test_a_folder_that_is_not_ours_may_be_removed_by_the_script(pig: Pig) -> None:
    pig.write("in", "1")
    pig.write("out/diary", "dear")
    pig.run("rmf out\na = LOAD 'in' AS (x: int);\nSTORE a INTO 'out';\n")
    assert pig.read("out") == ["1"]


def test_folders_without_files_hold_no_rows(pig: Pig) -> None:
    (pig.folder / "empty").mkdir()
    pig.write("in", "1")
    pig.run("""
        a = LOAD 'empty' AS (x: int);
        DUMP a;
        b = LOAD 'in,empty' AS (x: int);
        n = FOREACH (GROUP a ALL) GENERATE COUNT(a);
        STORE n INTO 'none';
        m = LOAD 'none' AS (n: long);
        u = UNION m, b;
        DUMP u;
    """)
    assert pig.printed == ["(1)"]


def test_values_that_do_not_fit_are_null_and_counted(pig: Pig) -> None:
    pig.write("in", "1", "x", "y")
    report = pig.run(
        "a = LOAD 'in' AS (x: int);\nb = FOREACH a GENERATE x / 0;\nSTORE a INTO 'a';\nSTORE b INTO 'b';\n"
    )
    assert sorted(pig.read("a")) == ["", "", "1"]
    assert report.warnings == {"divisions by zero": 1, "values that do not fit their type": 2}
    assert "2 values that do not fit their type" in str(report)
    assert json.loads(json.dumps(report.as_dict()))["warnings"] == report.warnings


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("b = FILTER a BY org.example.Good(x);", "is a Java class, and no Java is run here"),
        ("b = LOAD 'in' USING org.example.Loader();", "org.example.Loader"),
        ("b = FOREACH a GENERATE COUNTT(x);", "Did you mean COUNT"),
        ("b = ORDER a BY x USING org.example.Compare;", "Order by a value it computes"),
        ("b = MAPREDUCE 'x.jar' STORE a INTO 'i' LOAD 'o';", "no Java is run here"),
        ("b = LIMIT a x;", "there is no field 'x' here"),
        ("b = SAMPLE a 7;", "a share from 0 to 1"),
        ("b = FOREACH a GENERATE FLATTEN(x) AS (p, q);", "FLATTEN takes a tuple"),
        ("b = FOREACH a GENERATE x.y;", "takes a tuple, a bag, or a relation with one row"),
        ("b = FOREACH a GENERATE $7;", "there is no field $7 here"),
        ("b = GROUP a BY y;", "there is no field 'y' here"),
        ("b = STREAM a THROUGH cleen;", "there is no command cleen"),
        ("REGISTER 'x.rb' USING jruby AS r;", "Write them in Python"),
        ("b = FOREACH a GENERATE 99999999999;", "too large for type int"),
        ("b = FILTER a BY x + 1;", "a filter takes a condition"),
        ("b = JOIN a BY x, a BY (x, x);", "JOIN needs equally many keys"),
        ("STORE a INTO 's3://bucket/out';", "s3 is not read here, nor written to"),
    ],
)
def test_what_is_refused_says_where_and_why(script: str, said: str, pig: Pig) -> None:
    pig.write("in", "1")
    with pytest.raises(IncoopError) as caught:
        pig.run(f"a = LOAD 'in' AS (x: int);\n{script}\nDUMP a;")
    assert pig.printed == []
    assert said in str(caught.value)
    if isinstance(caught.value, PigSyntaxError):
        assert caught.value.place.line == 2 and caught.value.line == script


def test_a_scalar_of_several_rows_is_an_error_at_its_place(pig: Pig) -> None:
    pig.write("in", "1", "2")
    with pytest.raises(ScriptError) as caught:
        pig.run("a = LOAD 'in' AS (x: int);\nb = FOREACH a GENERATE x + a.x;\nDUMP b;")
    assert str(caught.value) == (
        "script:2:30: a relation that is used as a value has more than one row\n"
        "    b = FOREACH a GENERATE x + a.x;\n"
        "                                 ^\n"
        "Aggregate it, or limit it to one."
    )


def test_a_chain_of_statements_may_be_long_but_not_endless(pig: Pig) -> None:
    pig.write("in", "1")
    steps = [f"a{number + 1} = FOREACH a{number} GENERATE x + 1 AS x;" for number in range(60)]
    pig.run("\n".join(["a0 = LOAD 'in' AS (x: int);", *steps, "DUMP a60;"]))
    assert pig.printed == ["(61)"]
    steps = [f"a{number + 1} = DISTINCT a{number};" for number in range(3000)]
    with pytest.raises(ScriptError, match="STORE a relation on the way"):
        pig.run("\n".join(["a0 = LOAD 'in' AS (x: int);", *steps, "DUMP a3000;"]))


def test_jars_are_passed_over_with_a_note(pig: Pig) -> None:
    pig.run("REGISTER /usr/lib/pig/piggybank.jar;\na = LOAD 'in' AS (x: int);\nb = SAMPLE a 0.5;")
    assert pig.told[0] == "nothing of /usr/lib/pig/piggybank.jar is used: no Java is run here"
    assert pig.told[1].startswith("SAMPLE chooses rows by their content")


def test_inputs_are_looked_for_before_the_first_batch_alone(pig: Pig) -> None:
    script = "a = LOAD 'nothing' AS (x: int);\nsh touch nothing\nDUMP a;\n"
    check_inputs(Preparation().script(parse_script(script), pig.folder), texts())
    with pytest.raises(MissingInput):
        check_inputs(Preparation().script(parse_script("a = LOAD 'nothing';\nDUMP a;"), pig.folder), texts())


UDFS = """
from pig_util import outputSchema

@outputSchema("word: chararray")
def upper(text):
    return None if text is None else text.upper()

@outputSchema("parts: {t: (part: chararray, size: int)}")
def parts(text):
    return [(each, len(each)) for each in text.split()]

@outputSchema("n: int")
def inverse(n):
    return 100 // n
"""


def test_functions_of_the_users_in_python(pig: Pig) -> None:
    pig.write("in", "the oak", "ash")
    (pig.folder / "mine.py").write_text(UDFS)
    script = """
        REGISTER 'mine.py' USING jython AS mine;
        DEFINE loud mine.upper();
        a = LOAD 'in' AS (line: chararray);
        b = FOREACH a GENERATE mine.upper(line), FLATTEN(mine.parts(line)), loud('x') AS x;
        DESCRIBE b;
        c = FILTER b BY size > 2 AND word != '';
        DUMP c;
    """
    pig.run(script)
    assert pig.printed[0] == "b: {word: chararray,parts::part: chararray,parts::size: int,x: chararray}"
    assert sorted(pig.printed[1:]) == ["(ASH,ash,3,X)", "(THE OAK,oak,3,X)", "(THE OAK,the,3,X)"]


def test_a_function_that_raises_shows_its_traceback_and_the_record(pig: Pig) -> None:
    pig.write("in", "5", "0")
    (pig.folder / "mine.py").write_text(UDFS)
    script = "REGISTER 'mine.py' USING streaming_python AS mine;\na = LOAD 'in' AS (n: int);\n"
    script += "b = FOREACH a GENERATE mine.inverse(n);\nSTORE b INTO 'out';\n"
    with pytest.raises(IncoopError) as caught:
        pig.run(script)
    said = str(caught.value)
    assert "mine.inverse" in said and "(0,)" in said and "return 100 // n" in said and "ZeroDivisionError" in said
    assert "script:3:24" in said
    assert not (pig.folder / "out").exists()
    (pig.folder / "mine.py").write_text(UDFS.replace("100 // n", "100 // n if n else -1"))
    pig.run(script)
    assert sorted(pig.read("out")) == ["-1", "20"]


def test_a_file_of_functions_that_is_not_there(pig: Pig) -> None:
    with pytest.raises(ScriptError, match=r"script:1:1: .*nothing.py"):
        pig.run("REGISTER 'nothing.py' USING jython AS mine;\n")


def test_parquet_is_stored_and_loaded_by_the_names_of_its_columns(pig: Pig) -> None:
    pig.write("marks", "ann\t4\tx", "bob\t3\ty", "\t\tz")
    pig.run(
        "a = LOAD 'marks' AS (name: chararray, mark: int, note); g = GROUP a BY name;"
        "STORE g INTO 'groups' USING org.apache.parquet.pig.ParquetStorer();"
    )
    script = (
        "b = LOAD 'groups' USING parquet.pig.ParquetLoader('a: {(name: chararray, mark: int, note: bytearray)}');"
        "c = FOREACH b GENERATE FLATTEN(a.(note, mark)); d = ORDER c BY note; DUMP d;"
    )
    pig.run(script)
    assert pig.printed == ["(x,4)", "(y,3)", "(z,)"]
    with pytest.raises(IncoopError, match=r"'a' is list.*not text"):
        pig.run("b = LOAD 'groups' USING parquet.pig.ParquetLoader() AS (a: chararray); DUMP b;")
    with pytest.raises(IncoopError, match="finds columns by their names"):
        pig.run("b = LOAD 'groups' USING parquet.pig.ParquetLoader(); DUMP b;")
