"""Parameters: where values come from, and where they go."""

from __future__ import annotations

from pathlib import Path

import pytest

from incoop.fronts.pig.syntax.errors import BadParameter, ParameterCommandFailed, PigSyntaxError, UndefinedParameter
from incoop.fronts.pig.syntax.parameters import Parameters, refuse_commands
from incoop.fronts.pig.syntax.print_script import print_script
from incoop.fronts.pig.syntax.script import parse_script


def printed(script: str, parameters: Parameters | None = None) -> str:
    return print_script(parse_script(script, parameters)).strip()


def loaded(path: str) -> str:
    """A script that loads a path, as it is printed."""
    return f"a = LOAD '{path}';"


@pytest.mark.parametrize(
    ("script", "path"),
    [
        pytest.param("a = LOAD '$in';", "data", id="plain"),
        pytest.param("a = LOAD '${in}_1';", "data_1", id="in braces"),
        pytest.param("a = LOAD '$in/$in';", "data/data", id="twice"),
        pytest.param("a = LOAD $quoted;", "in quotes", id="with its quotes"),
        pytest.param("$statement", "x", id="a whole statement"),
        pytest.param("%declare day '2024'\na = LOAD '$in/$day';", "data/2024", id="declared"),
        pytest.param("%DECLARE day 2024\na = LOAD '$day';", "2024", id="declared without quotes"),
        pytest.param("%declare day \"2024\"\na = LOAD '$day';", "2024", id="declared in double quotes"),
        pytest.param("%default in 'other'\na = LOAD '$in';", "data", id="a default that is not needed"),
        pytest.param("%declare in 'other'\na = LOAD '$in';", "other", id="declared again"),
        pytest.param("%default x 1 -- why\na = LOAD '$x';", "1", id="a comment behind a value"),
        pytest.param("%default x /* why */ 1\na = LOAD '$x';", "1", id="a comment before a value"),
        pytest.param("/* c */ %default x a/b.c\na = LOAD '$x';", "a/b.c", id="a comment before a directive"),
        pytest.param("%declare x '$in/1'\n%declare y '$x/2'\na = LOAD '$y';", "data/1/2", id="values of values"),
        pytest.param("%declare x `echo \"$in and more\"`\na = LOAD '$x';", "data and more", id="a command"),
        pytest.param("%declare x 'a'\n%declare x 'b'\na = LOAD '$x';", "b", id="the last counts"),
        pytest.param("-- $none\na = LOAD '$in'; /* $none */ -- it's $none", "data", id="not in comments"),
        pytest.param("a = LOAD '$in--/*x*/';", "data--/*x*/", id="no comment in a text"),
    ],
)
def test_value(script: str, path: str) -> None:
    parameters = Parameters({"in": "data", "quoted": "'in quotes'", "statement": "a = LOAD 'x';"})
    assert printed(script, parameters) == loaded(path)
    assert parameters.values["in"] == "data"


def test_a_directive_holds_from_where_it_stands_on() -> None:
    script = "%declare x 1\na = LOAD '$x';\n%declare x 2\nb = LOAD '$x';"
    assert printed(script) == "a = LOAD '1';\nb = LOAD '2';"


def test_a_backslash_keeps_a_dollar() -> None:
    (statement,) = parse_script(r"DEFINE f F('\$in', '$1', '\\$');").statements
    assert statement.function.arguments == ("$in", "$1", "\\$")  # type: ignore[union-attr]


def test_parameters_are_replaced_in_commands_of_any_kind() -> None:
    script = "fs -rm $out/*\nset job.name '$out'\nREGISTER $out/x.py\nDEFINE c `cat $out`;"
    assert printed(script, Parameters({"out": "o"})) == (
        "fs -rm o/*;\nSET job.name o;\nREGISTER 'o/x.py';\nDEFINE c `cat o`;"
    )


def test_a_command_of_a_default_runs_only_where_there_is_no_value(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = f"%default x `touch {ran}`\na = LOAD '$x';"
    assert printed(script, Parameters({"x": "y"})) == loaded("y")
    assert not ran.exists()
    printed(script)
    assert ran.exists()


def test_a_command_that_fails() -> None:
    with pytest.raises(ParameterCommandFailed) as caught:
        parse_script("a = b;\n%declare x `bash -c 'echo oops >&2; exit 3'`")
    assert "parameter x gets no value" in str(caught.value)
    assert "exit code 3: oops" in str(caught.value)
    assert (caught.value.place.line, caught.value.place.column) == (2, 12)


def test_commands_are_not_run_where_they_are_not_allowed() -> None:
    with pytest.raises(ParameterCommandFailed, match="not allowed"):
        parse_script("%declare x `date`", Parameters(run_command=refuse_commands))


@pytest.mark.parametrize(
    ("script", "column", "said"),
    [
        ("a = LOAD '/data/$inptu';", 17, "Did you mean $input?"),
        ("a = LOAD '${nothing}';", 11, "-param nothing=VALUE"),
        ("%declare x '$y'", 13, "parameter y has no value"),
        ("%declare x `echo $y`", 18, "parameter y has no value"),
        ("%declare x a/$y", 14, "parameter y has no value"),
    ],
)
def test_a_parameter_without_a_value(script: str, column: int, said: str) -> None:
    with pytest.raises(UndefinedParameter) as caught:
        parse_script(script, Parameters({"input": "x"}))
    assert said in str(caught.value)
    assert caught.value.place.column == column


@pytest.mark.parametrize("script", ["%declare", "%default x", "%declare x\n'y'", "%declare x a b", "%declare 'x' y"])
def test_a_directive_that_gives_nothing(script: str) -> None:
    with pytest.raises(PigSyntaxError, match=r"quotes|gives no parameter"):
        parse_script(script)


def test_files_come_first_and_later_ones_replace_earlier_ones(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("# comment\na = 1\n\nb='two words'\nc=\"x\"\n")
    two.write_text("a=2\nd=$b/$a\ne=`echo $a`\n")
    parameters = Parameters.load(["b=3", "f=$d-$b", "g='it\\'s'"], [one, two])
    assert parameters.values == {
        "a": "2",
        "b": "3",
        "c": "x",
        "d": "two words/2",
        "e": "2",
        "f": "two words/2-3",
        "g": "it's",
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("novalue", "not name=value"),
        ("1=2", "not name=value"),
        ("a=$b", "b has no value"),
        ("a=`x", "backtick"),
        ("a=`", "backtick"),
        ("a=`false`", "failed"),
    ],
)
def test_a_bad_parameter(given: str, said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        Parameters.load([given])


def test_values_that_are_hardly_any() -> None:
    parameters = Parameters.load(["a=", "b=''", "c='", "d=``", "e='x", 'f="'])
    assert parameters.values == {"a": "", "b": "", "c": "'", "d": "", "e": "'x", "f": '"'}


def test_a_parameter_file_that_is_not_there_or_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="cannot be read"):
        Parameters.load(files=[tmp_path / "none"])
    (tmp_path / "bad").write_text("a=1\n???\n")
    with pytest.raises(BadParameter, match="bad:2"):
        Parameters.load(files=[tmp_path / "bad"])
