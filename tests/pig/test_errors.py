"""What is wrong with a script is said at its place, in the words of its author, and never in the parser's."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.errors import IncoopError
from incoop.fronts.pig.syntax.build_terms import MAX_DEPTH
from incoop.fronts.pig.syntax.errors import PigSyntaxError
from incoop.fronts.pig.syntax.explain_failure import MOST_EXPECTED
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.script import ScriptUnreadable, parse_script, read_script
from incoop.fronts.pig.syntax.statements import ShellStatement


def failure(script: str, **parameters: str) -> PigSyntaxError:
    with pytest.raises(PigSyntaxError) as caught:
        parse_script(script, Parameters(parameters), file="s.pig")
    return caught.value


@pytest.mark.parametrize(
    ("script", "line", "column", "said"),
    [
        ("a = LAOD 'x';", 1, 5, "Did you mean LOAD?"),
        ("b = FILTR a BY x;", 1, 5, "Did you mean FILTER?"),
        ("STOER a INTO 'x';", 1, 1, "Did you mean STORE?"),
        ("dmup a;", 1, 1, "Did you mean DUMP?"),
        ("b = FOREACH a GENERAT x;", 1, 15, "Did you mean GENERATE?"),
        ("b = ORDER a BY x DSC;", 1, 18, "Did you mean DESC?"),
        ("b = JOIN a BY x LEFT OUTR, c BY y;", 1, 22, "Did you mean OUTER?"),
        ("b = FILTER a BY x MATCHS 'y';", 1, 19, "Did you mean MATCHES?"),
        ("a = LOAD 'x' AS (n: itn);", 1, 21, "Did you mean INT?"),
        ("SPLIT a INTO b IF x > 1, c OTHRWISE;", 1, 28, "Did you mean OTHERWISE?"),
        ("a = LOAD 'x'\nb = FILTER a BY x > 1;", 2, 1, "Is a semicolon missing at the end of line 1?"),
        ("b = FOREACH a GENERATE x y;", 1, 26, "Expected AS, PARALLEL, ',', ';' or an operator."),
        ("b = FILTER a BY x = 5;", 1, 19, "A comparison is written with ==."),
        ("b = FILTER a BY x <> 5;", 1, 20, "Write != for “not equal”."),
        ("b = FILTER a BY x && y;", 1, 19, "Write AND."),
        ('a = LOAD "x";', 1, 10, "A text stands in 'single quotes'."),
        ("a = LOAD 'x;\nb = a;", 1, 10, "is its closing quote missing?"),
        ("a = LOAD 'x' AS (n: int", 1, 24, "the script ends in the middle of a statement"),
        ("b = FOREACH a { GENERATE x;", 1, 28, "Expected '}'. A brace is not closed."),
        ("b = FILTER a BY;", 1, 16, "Expected an expression."),
        ("b = FILTER a BY (x > 5;", 1, 23, "Expected ')', ',', '?' or an operator."),
        ("b = GROUP a BY ();", 1, 11, "Write ALL instead of BY"),
        ("b = FOREACH a GENERATE x.(y, z)(1);", 1, 24, "no name of a function"),
        ("a = LOAD 'x' PARALLEL 2.5;", 1, 23, "2.5 is no whole number"),
        ("b = FOREACH a GENERATE 1.5L;", 1, 24, "1.5L is no number"),
        (f"b = FOREACH a GENERATE {'1' * 5000};", 1, 24, "is no number"),
        ("b = FOREACH a GENERATE 1e99999999999999999999;", 1, 24, "is no number"),
        ("b = FOREACH a GENERATE 1e-99999999999999999999BD;", 1, 24, "is no number"),
        (f"b = FOREACH a GENERATE ${'1' * 5000};", 1, 24, "is no field"),
        (f"b = GROUP a BY x PARALLEL {'1' * 5000};", 1, 27, "is no whole number"),
        ("b = FOREACH a GENERATE +x;", 1, 24, "Leave the '+' out."),
        ("b = FILTER a BY x IN ();", 1, 23, "Expected an expression."),
        ("/* no end", 1, 1, "Close it with */."),
        ("dump a b;", 1, 8, "b is one word too many"),
        ("explain -foo a;", 1, 9, "-foo is no option here"),
        ("exec -param;", 1, 12, "what -param is given is missing"),
        ("cp a;", 1, 1, "cp takes 2 words, not 1"),
        ("a = LOAD 'x';\n\tb = FILTER a BY x >;", 2, 21, "\n    \t                   ^"),
        ("a = LOAD 'x'; é", 1, 15, "unexpected character é"),
        ("sh\U00018cd6 x;", 1, 3, "unexpected character"),
        ("\u017fh x;", 1, 1, "unexpected character"),
        ("b = FILTER a BY x matche\u017f 'y';", 1, 19, "unexpected"),
        ("register;", 1, 9, "unexpected ;"),
        (")", 1, 1, "Expected a statement."),
    ],
)
def test_bad_script(script: str, line: int, column: int, said: str) -> None:
    error = failure(script)
    assert (error.place.file, error.place.line, error.place.column) == ("s.pig", line, column)
    assert said in str(error)
    assert len(error.expected) <= MOST_EXPECTED
    assert not re.search(r"__|_[A-Z]|LPAR|SEMICOLON|\$END|Token|lark", str(error))
    assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)


def test_an_error_survives_pickling() -> None:
    error = failure("b = FILTER a BY (x;")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_error_in_a_parameter_stands_where_the_parameter_does_and_shows_its_value() -> None:
    error = failure("b = FILTER a BY\n  $condition;", condition="x >> 5")
    assert (error.place.line, error.place.column) == (2, 3)
    assert "It stands in the value of $condition: x >> 5." in str(error)


def test_places_behind_a_parameter_are_those_of_the_script_as_written() -> None:
    error = failure("b = FILTER $rel BY x > ;", rel="a_relation_with_a_long_name")
    assert error.place.column == 24


def test_a_long_line_is_shown_around_the_place() -> None:
    script = "b = FOREACH a GENERATE " + ", ".join(f"field{i}" for i in range(500)) + " oops;"
    *_, line, caret, _ = str(failure(script)).split("\n")
    assert len(line) < 120
    assert line[caret.index("^") :].startswith("oops;")


COUNTS = [
    *(("cp", 2, 2), ("mv", 2, 2), ("copyFromLocal", 2, 2), ("copyToLocal", 2, 2), ("mkdir", 1, 1), ("kill", 1, 1)),
    *(("rm", 1, None), ("rmf", 1, None), ("cat", 1, None), ("fs", 1, None), ("sh", 1, None), ("sql", 1, None)),
    *(("cd", 0, 1), ("ls", 0, None), ("pwd", 0, 0), ("help", 0, None), ("history", 0, 1), ("clear", 0, 0)),
    *(("aliases", 0, 0), ("quit", 0, 0)),
]


@pytest.mark.parametrize(("command", "least", "most"), COUNTS)
def test_a_command_takes_as_many_words_as_grunt_says(command: str, least: int, most: int | None) -> None:
    for count in range(5):
        words = tuple("abcde"[:count])
        script = " ".join([command, *words]) + "\n"
        if least <= count <= (5 if most is None else most):
            (statement,) = parse_script(script).statements
            assert isinstance(statement, ShellStatement) and (statement.command, statement.words) == (command, words)
        else:
            assert f"{command} takes " in str(failure(script)) and f", not {count}" in str(failure(script))


def test_a_brace_is_not_missing_where_something_else_is_wrong() -> None:
    assert "brace" not in str(failure("b = FOREACH a { GENERATE x; ) };"))


def test_what_is_nested_too_deeply_is_refused() -> None:
    assert "nested more than" in str(failure(f"b = FILTER a BY {'(' * 5000}x{')' * 5000} > 0;"))
    assert "nested more than" in str(failure(f"b = FILTER a BY x{' + x' * 5000} > 0;"))
    said = str(failure(f"b = FILTER a BY x{' + x' * MAX_DEPTH} > 0;"))
    assert f"nested more than {MAX_DEPTH} levels deep" in said and "several statements" in said


def test_what_is_nested_as_deeply_as_may_be_is_read() -> None:
    # Five more levels: the comparison, FILTER, the statement, its alias, the script.
    parse_script(f"b = FILTER a BY x{' + x' * (MAX_DEPTH - 5)} > 0;")
    assert "nested more than" in str(failure(f"b = FILTER a BY x{' + x' * (MAX_DEPTH - 4)} > 0;"))


@given(
    st.text(max_size=30)
    | st.lists(
        st.sampled_from(
            [
                "a",
                "=",
                "LOAD",
                "'x'",
                ";",
                "(",
                ")",
                "{",
                "}",
                "BY",
                ",",
                ".",
                "$",
                "'",
                "FOREACH",
                "GENERATE",
                "%",
                "--",
                "dump",
            ]
        )
    ).map(" ".join)
)
def test_any_text_is_a_script_or_an_error_with_a_place(text: str) -> None:
    try:
        parse_script(text)
    except PigSyntaxError as error:
        assert error.place.line >= 1
        assert error.place.column >= 1


def test_a_script_that_cannot_be_read(tmp_path: pytest.TempPathFactory) -> None:
    folder = str(tmp_path)
    with pytest.raises(ScriptUnreadable, match="No such file"):
        read_script(f"{folder}/none.pig")
    with pytest.raises(IncoopError, match="directory"):
        read_script(folder)
