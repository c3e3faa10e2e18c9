"""Scripts of some lines that stand for more than any memory holds, or nest deeper than any stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from incoop.fronts.pig.syntax import macros
from incoop.fronts.pig.syntax.errors import BadMacro, BadParameter, ImportNotFound, PigSyntaxError
from incoop.fronts.pig.syntax.macros import DEEPEST
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.script import ScriptUnreadable, parse_script, read_script

#: Each line is twice the one above.
DOUBLED = "".join(f"%declare x{number} '$x{number - 1}$x{number - 1}'\n" for number in range(1, 60))


def test_values_that_use_each_other_again_and_again_are_refused() -> None:
    with pytest.raises(PigSyntaxError, match="the value of x18 has more than 1,048,576 characters"):
        parse_script("%declare x0 'ash, oak'\n" + DOUBLED + "a = LOAD '$x59';")


def test_so_are_those_of_the_command_line_and_of_commands() -> None:
    given = ["x0=ash, oak", *(f"x{number}=$x{number - 1}$x{number - 1}" for number in range(1, 60))]
    with pytest.raises(BadParameter, match="the value of x18 has more than"):
        Parameters.load(given)
    with pytest.raises(PigSyntaxError, match="the value of x has more than"):
        parse_script("%declare x `head -c 2000000 /dev/zero | tr '\\0' a`\na = LOAD '$x';")


def test_a_text_of_long_values_is_refused() -> None:
    with pytest.raises(PigSyntaxError, match="with its parameters replaced, this is longer than"):
        parse_script("a = LOAD '" + "$x" * 200 + "';", Parameters({"x": "a" * 1_000_000}))


def test_macros_that_each_call_another_twice_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert macros.MOST_CALLS == 10_000
    monkeypatch.setattr(macros, "MOST_CALLS", 1000)  # as many calls take seconds
    doubled = "DEFINE m0(a) RETURNS b { $b = LIMIT $a 1; };\n" + "".join(
        f"DEFINE m{number}(a) RETURNS b {{ x = m{number - 1}($a); $b = m{number - 1}(x); }};\n"
        for number in range(1, 40)
    )
    with pytest.raises(BadMacro, match="macros are called more than 1,000 times"):
        parse_script(doubled + "a = LOAD 'x'; c = m39(a);")


def chain(length: int) -> str:
    """A script in which each macro calls the next one."""
    return "DEFINE m1(a) RETURNS b { $b = LIMIT $a 1; };\n" + "".join(
        f"DEFINE m{number}(a) RETURNS b {{ $b = m{number - 1}($a); }};\n" for number in range(2, length + 1)
    ) + f"a = LOAD 'x'; c = m{length}(a);"  # fmt: skip


def test_macros_call_macros_up_to_a_depth() -> None:
    assert len(parse_script(chain(DEEPEST)).statements) == 2
    for length in (DEEPEST + 1, 2000):
        with pytest.raises(BadMacro, match=f"macros call macros, {DEEPEST} levels deep"):
            parse_script(chain(length))


def test_files_import_files_up_to_a_depth(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"{number}.pig").write_text(f"IMPORT '{number + 1}.pig';\n")
    (tmp_path / "1500.pig").write_text("a = LOAD 'x';")
    assert len(read_script(tmp_path / f"{1500 - DEEPEST}.pig").statements) == 1
    for first in (1500 - DEEPEST - 1, 0):
        with pytest.raises(ImportNotFound, match=f"files import files, {DEEPEST} levels deep"):
            read_script(tmp_path / f"{first}.pig")


def test_a_script_without_end_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(ScriptUnreadable, match="longer than"):
        read_script("/dev/zero")
    with pytest.raises(BadParameter, match="longer than"):
        Parameters.load((), ["/dev/zero"])
    with pytest.raises(BadParameter, match="NUL"):
        Parameters.load((), ["\0"])
    with pytest.raises(ImportNotFound, match="there is no file"):
        parse_script(f"IMPORT '{'x' * 5000}';")
