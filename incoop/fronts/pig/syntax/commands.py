"""Lines that are commands, not queries: DUMP and its kin, SET, REGISTER, EXEC and RUN, and those of the shell.

Contract: the line comes from the grammar's COMMAND, without its semicolon. Words end at blanks; quotes keep blanks in a
word. A `--` that begins a word begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from incoop.fronts.pig.syntax.literals import text_value
from incoop.fronts.pig.syntax.operators import PreviousRelation, RelationName
from incoop.fronts.pig.syntax.places import ScriptPlace
from incoop.fronts.pig.syntax.statements import (
    DescribeStatement,
    DumpStatement,
    ExplainStatement,
    IllustrateStatement,
    RegisterStatement,
    ScriptStatement,
    SetStatement,
    ShellStatement,
    Statement,
)
from incoop.fronts.pig.syntax.words import COMMANDS, SHORT_COMMANDS

_SPELLING = {word.lower(): word for word in COMMANDS} | SHORT_COMMANDS
_WORD = re.compile(r"(?P<comment>--.*|/\*.*?\*/)|(?P<quoted>'(?:[^'\\]|\\.)*')(?=\s|$|;)|(?P<plain>[^\s]+)")
_ALIAS = re.compile(r"@|[a-zA-Z_][\w]*(?:::[a-zA-Z_]\w*)*")
#: How many words a command takes: at least, at most.
_COUNTS = {
    **{"cp": (2, 2), "mv": (2, 2), "copyFromLocal": (2, 2), "copyToLocal": (2, 2)},
    **{"mkdir": (1, 1), "kill": (1, 1), "rm": (1, None), "rmf": (1, None), "cat": (1, None)},
    **{"fs": (1, None), "sh": (1, None), "sql": (1, None), "cd": (0, 1), "ls": (0, None)},
    **{"pwd": (0, 0), "help": (0, None), "history": (0, 1), "clear": (0, 0), "aliases": (0, 0), "quit": (0, 0)},
}

#: Raises an error at an offset within the line.
Complain = Callable[[str, int, str], NoReturn]


class _Line:
    """The words of a line, taken one by one."""

    def __init__(self, text: str, complain: Complain) -> None:
        self.complain = complain
        self.words: list[tuple[str, int, bool]] = []
        for found in _WORD.finditer(text):
            if found["comment"] and text[found.start() - 1].isspace():
                continue
            quoted = bool(found["quoted"])
            self.words.append((text_value(found[0]) if quoted else found[0], found.start(), quoted))
        self.end = len(text.rstrip())

    def take(self, what: str = "") -> str:
        """The next word; where there is none, an error that says `what` is missing."""
        if not self.words:
            self.complain(f"{what} is missing", self.end, "")
        return self.words.pop(0)[0]

    def rest(self) -> tuple[str, ...]:
        taken, self.words = self.words, []
        return tuple(word for word, _, _ in taken)

    def alias(self, place: Callable[[int], ScriptPlace]) -> RelationName | PreviousRelation | None:
        """The alias that ends the line, if any."""
        if not self.words:
            return None
        word, at, _ = self.words.pop(0)
        if not _ALIAS.fullmatch(word):
            self.complain(f"{word} is no alias", at, "")
        self.done()
        return PreviousRelation(place=place(at)) if word == "@" else RelationName(word, place=place(at))

    def done(self) -> None:
        if self.words:
            word, at, _ = self.words[0]
            self.complain(
                f"{word} is one word too many", at, "Begin a new statement on a new line, or after a semicolon."
            )


def command_statement(text: str, place: Callable[[int], ScriptPlace], complain: Complain) -> Statement:
    """The statement that a line is; `place` gives the place of an offset in it."""
    line = _Line(text, complain)
    word = line.take()
    command = _SPELLING.get(word.lower(), word)
    here = place(0)
    match command:
        case "dump":
            return DumpStatement(line.alias(place), place=here)
        case "describe":
            return DescribeStatement(line.alias(place), place=here)
        case "explain" | "illustrate":
            return _explain(command, line, place)
        case "exec" | "run":
            options, _ = _options(line, ("-param", "-param_file"), ())
            script = line.take() if line.words else None
            line.done()
            return ScriptStatement(
                command == "exec", script, tuple(options["-param"]), tuple(options["-param_file"]), place=here
            )
        case "set":
            key = line.take() if line.words else None
            value = " ".join(line.rest()) or None
            return SetStatement(key, value, place=here)
        case "register":
            return _register(line, here)
        case _:
            words = line.rest()
            least, most = _COUNTS[command]
            if len(words) < least or (most is not None and len(words) > most):
                count = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
                complain(f"{command} takes {count} word{'s' if count != '1' else ''}, not {len(words)}", 0, "")
            return ShellStatement(command, words, place=here)


def _register(line: _Line, here: ScriptPlace) -> RegisterStatement:
    path, engine, namespace = line.take("the file to register"), None, None
    if line.words and line.words[0][0].lower() == "using":
        line.take()
        engine = line.take("the language of the functions (jython)")
        if line.words and line.words[0][0].lower() == "as":
            line.take()
            namespace = line.take("a name for the functions")
    line.done()
    return RegisterStatement(path, engine, namespace, place=here)


def _explain(command: str, line: _Line, place: Callable[[int], ScriptPlace]) -> Statement:
    flags = ("-brief", "-dot", "-xml") if command == "explain" else ()
    options, chosen = _options(line, ("-out", "-script", "-param", "-param_file"), flags)
    source = line.alias(place)
    script, out = (options[each][-1] if options[each] else None for each in ("-script", "-out"))
    params, files = tuple(options["-param"]), tuple(options["-param_file"])
    if command == "illustrate":
        return IllustrateStatement(source, script, out, params, files, place=place(0))
    shape = "dot" if "-dot" in chosen else "xml" if "-xml" in chosen else "text"
    return ExplainStatement(source, script, out, shape, "-brief" in chosen, params, files, place=place(0))


def _options(line: _Line, with_value: tuple[str, ...], flags: tuple[str, ...]) -> tuple[dict[str, list[str]], set[str]]:
    """Options at the beginning of a line: values of those that have one, and which of the others are there."""
    values: dict[str, list[str]] = {each: [] for each in with_value}
    chosen = set()
    while line.words and line.words[0][0].startswith("-"):
        word, at, _ = line.words.pop(0)
        option = word.lower()
        if option in values:
            values[option].append(line.take(f"what {option} is given"))
        elif option in flags:
            chosen.add(option)
        else:
            line.complain(f"{word} is no option here", at, f"There are {', '.join((*with_value, *flags))}.")
    return values, chosen
