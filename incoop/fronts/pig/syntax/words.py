"""The words of the language: keywords, commands, and what each terminal of the grammar is called in an error.

Contract: `grammar_text` is the grammar that lark gets: grammar.lark, with a terminal for every keyword that it names.
"""

from __future__ import annotations

import re
from pathlib import Path

_GRAMMAR = Path(__file__).with_name("grammar.lark")

#: What stands at the beginning of a line and ends with it, or at a semicolon; short forms of `dump` and the like, too.
COMMANDS = (
    *("dump", "describe", "explain", "illustrate", "register", "set", "exec", "run"),
    *(
        "fs",
        "sh",
        "cat",
        "cd",
        "cp",
        "copyFromLocal",
        "copyToLocal",
        "kill",
        "ls",
        "mkdir",
        "mv",
        "pwd",
        "rm",
        "rmf",
        "sql",
    ),
    *("help", "history", "clear", "aliases", "quit"),
)
#: What the short forms of commands stand for.
SHORT_COMMANDS = {"\\d": "dump", "\\de": "describe", "\\e": "explain", "\\i": "illustrate", "\\q": "quit"}

#: A command is none where an alias of that name gets a value, or a macro of that name is called.
_NO_COMMAND = r"(?![^\s;]|[ \t]*[=,(])"
#: To the end of the line or a semicolon, but for those in quotes, backticks and comments; REGISTER may go on below.
_REST = r"(?:(?<=[ \t])--[^\r\n]*|'(?:[^'\\\r\n]|\\.)*'|`[^`]*`|[^\r\n;'`])*"
_REGISTER = r"register\s+(?![=,(])(?:'(?:[^'\\\r\n]|\\.)*'|[^\s;'()]+)(?:\s+using\s+[^\s;]+(?:\s+as\s+[a-z]\w*)?)?"


def _command_pattern() -> str:
    plain = "|".join(sorted((word for word in COMMANDS if word not in ("register", "sql")), key=len, reverse=True))
    short = "|".join(re.escape(word) for word in sorted(SHORT_COMMANDS, key=len, reverse=True))
    return rf"(?:{_REGISTER}|sql\s[^;]*|(?:(?:{plain}){_NO_COMMAND}|(?:{short})(?![^\s;])){_REST})"


def keywords_of(grammar: str) -> list[str]:
    """Terminals that a grammar uses and does not define: the keywords, some with an underscore before them."""
    rules = re.sub(r"//.*|/(?:[^/\\\n]|\\.)+/i?|\"[^\"\n]*\"", "", grammar)
    defined = set(re.findall(r"^([A-Z_]+)(?:\.\d+)?:", rules, re.MULTILINE))
    return sorted(set(re.findall(r"\b_?[A-Z][A-Z_]+\b", rules)) - defined - {"COMMAND"})


def grammar_text() -> str:
    grammar = _GRAMMAR.read_text(encoding="utf-8")
    # In ASCII: to Python's re, a long s is an s in another case.
    made = [f"COMMAND.2: /(?ai:{_command_pattern().replace('/', chr(92) + '/')})/"]
    # Priority over names. Not a keyword: the beginning of a longer word, and the relation in `left::field`.
    made += [rf"{name}.1: /(?ai:{name.strip('_').lower()})(?!\w|::)/" for name in keywords_of(grammar)]
    return "\n".join((grammar, *made, ""))


#: What terminals that are no keywords are called.
_CALLED = {
    "NAME": "a name",
    "INDEX": "a position ($0)",
    "NUMBER": "a number",
    "STRING": "a text in 'quotes'",
    "LONG_STRING": "a text in 'quotes'",
    "SHELL": "a command in `backticks`",
    "MACRO_BODY": "the body of a macro in braces",
    "COMMAND": "a command",
    "COMPARISON": "a comparison (==)",
    "SUM_SIGN": "'+' or '-'",
    "STAR": "'*'",
    "PRODUCT_SIGN": "'/' or '%'",
    "$END": "the end of the script",
}


def called(terminal: str, literal: str | None) -> str:
    """What a terminal is called in an error; `literal` is its text, if it is always the same."""
    if literal is not None:
        return f"'{literal}'"
    return _CALLED.get(terminal) or terminal.strip("_").upper()


def is_keyword(terminal: str, literal: str | None) -> bool:
    return literal is None and terminal not in _CALLED
