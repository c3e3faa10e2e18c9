"""`incoop pig` as a user calls it: output, exit codes, parameters, what is checked without running, and reuse."""

from __future__ import annotations

import json
from pathlib import Path

from ..cli.command import incoop, incoop_here

SCRIPT = """%default least '0'
a = LOAD '$in' AS (k: chararray, n: int);
b = FILTER a BY n > $least;
g = GROUP b BY k;
r = FOREACH g GENERATE group AS k, SUM(b.n) AS total;
STORE r INTO '$out';
o = ORDER r BY total DESC;
DUMP o;
"""


def _prepared(folder: Path) -> None:
    (folder / "sums.pig").write_text(SCRIPT)
    (folder / "in").write_text("a\t1\nb\t2\na\t3\nx\n")
    (folder / "common.params").write_text("# where\nin = in\nout = 'wrong'\n")


def test_a_script_runs_and_says_what_it_reused(tmp_path: Path) -> None:
    _prepared(tmp_path)
    call = ("pig", "sums.pig", "-param_file", "common.params", "-param", "out=out", "--report", "json")
    first = incoop(*call, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout == "(a,4)\n(b,2)\n"
    parts = {path.name: path.read_text() for path in (tmp_path / "out").glob("part-*")}
    assert sorted("".join(parts.values()).splitlines()) == ["a\t4", "b\t2"]
    report = json.loads(first.stderr.splitlines()[-1])
    assert report["script"] == "sums.pig" and report["files_written"] == len(parts)
    again = incoop(*call, cwd=tmp_path)
    assert again.stdout == first.stdout
    report = json.loads(again.stderr.splitlines()[-1])
    assert report["files_written"] == 0
    assert all(stage["map"]["executed"] == 0 for query in report["queries"] for stage in query["stages"])
    (tmp_path / "in").write_text("a\t1\nb\t2\na\t4\nx\n")
    changed = incoop(*call, cwd=tmp_path)
    assert changed.stdout == "(a,5)\n(b,2)\n"


def test_explain_says_what_would_be_reused(tmp_path: Path) -> None:
    _prepared(tmp_path)
    call = ("pig", "sums.pig", "-param", "in=in", "-param", "out=out")
    plans = incoop_here(*call, "-explain", cwd=tmp_path)
    assert plans.returncode == 0 and f"STORE r INTO {tmp_path}/out\nDUMP o\n" in plans.stdout
    assert "Scan a as DelimitedText(k: text, n: int)" in plans.stdout
    assert not (tmp_path / "out").exists()
    assert incoop(*call, cwd=tmp_path).returncode == 0
    after = incoop_here(*call, "-explain", cwd=tmp_path)
    assert after.stdout != plans.stdout and "reuse" in after.stdout
    missing = incoop_here("pig", "sums.pig", "-param", "in=nothing", "-param", "out=out", "-explain", cwd=tmp_path)
    assert "is not known yet: there is nothing to load at nothing" in missing.stdout


def test_check_and_dryrun_run_nothing(tmp_path: Path) -> None:
    _prepared(tmp_path)
    call = ("pig", "sums.pig", "-param", "in=nothing", "-param", "out=out", "-param", "least=2")
    checked = incoop_here(*call, "-check", cwd=tmp_path)
    assert (checked.returncode, checked.stdout) == (0, "")
    assert "sums.pig: 7 statements, nothing wrong found" in checked.stderr
    printed = incoop_here(*call, "-dryrun", cwd=tmp_path)
    assert "a = LOAD 'nothing' AS (k: chararray, n: int);\nb = FILTER a BY n > 2;\n" in printed.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["common.params", "in", "sums.pig"]


def test_statements_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("2\n1\n")
    done = incoop("pig", "-e", "a = LOAD 'in' AS (x: int); b = ORDER a BY x; DUMP b;", "--report", "none", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "(1)\n(2)\n", "")


def test_what_is_wrong_is_said_with_its_place_and_an_exit_code(tmp_path: Path) -> None:
    _prepared(tmp_path)
    nothing = incoop_here("pig", cwd=tmp_path)
    assert nothing.returncode == 2 and "takes one script" in nothing.stderr
    missing = incoop_here("pig", "other.pig", cwd=tmp_path)
    assert missing.returncode == 1 and "other.pig cannot be read" in missing.stderr
    parameter = incoop_here("pig", "sums.pig", cwd=tmp_path)
    assert parameter.returncode == 1 and "-param in=VALUE" in parameter.stderr
    malformed = incoop_here("pig", "sums.pig", "-param", "in", cwd=tmp_path)
    assert malformed.returncode == 1 and "Write name=value" in malformed.stderr
    lost = incoop_here("pig", "sums.pig", "-param", "in=inn", "-param", "out=out", cwd=tmp_path)
    assert lost.returncode == 1 and "Did you mean in?" in lost.stderr and "sums.pig:2:5" in lost.stderr
    wrong = incoop_here("pig", "-e", "a = LOAD 'in' AS (x: int); b = FILTER a BY y > 1; DUMP b;", cwd=tmp_path)
    assert wrong.returncode == 1 and "-e:1:44: there is no field 'y' here" in wrong.stderr
    assert not (tmp_path / "incoop-store").exists()


def test_help_has_an_example(tmp_path: Path) -> None:
    shown = incoop_here("pig", "--help", cwd=tmp_path)
    assert shown.returncode == 0
    for word in ("incoop pig wordcount.pig", "-param_file", "-dryrun", "-check", "-explain", "--store", "--report"):
        assert word in shown.stdout


def test_what_changes_in_every_run_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import time\n@outputSchema('x: double')\ndef now(): return time.time()\n")
    (tmp_path / "now.pig").write_text(
        "REGISTER 'mine.py' USING jython AS my;\na = LOAD 'in' AS (k: chararray);\n"
        "b = FOREACH a GENERATE CurrentTime(), my.now();\nDUMP b;\n"
    )
    found = incoop("pig", "now.pig", "-check", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    notes = [line for line in found.stderr.splitlines() if line.startswith("note: ")]
    assert len(notes) == 2
    assert "my.now in mine.py calls time.time" in notes[0]
    assert "CurrentTime() is another time in every run" in notes[1]
