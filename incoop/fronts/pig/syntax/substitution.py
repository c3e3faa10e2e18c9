"""A script as it is parsed: parameters replaced, directives obeyed, bodies of macros cut out.

Contract: a parameter is replaced wherever it stands, in texts and commands, too, but not in comments, and not in
macros, where it waits for their call. `%declare` and `%default` hold from where they stand on. Every character that
is left knows its place (`PlacedText`).

Each step below looks at what stands at one offset and goes on behind it; which of them do, and in which order, follows
from the character there: `_STEPS`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable

from incoop.fronts.pig.syntax.errors import (
    BadMacro,
    ParameterCommandFailed,
    PigSyntaxError,
    UndefinedParameter,
    error_at,
)
from incoop.fronts.pig.syntax.file_text import LONGEST_TEXT
from incoop.fronts.pig.syntax.parameters import (
    NAME,
    Parameters,
    UnknownParameter,
    ValueCommandFailed,
    ValueTooLong,
    unquoted,
)
from incoop.fronts.pig.syntax.places import Excerpt, MacroCallSite, PlacedText, TextPiece
from incoop.fronts.pig.syntax.words import COMMANDS

#: What no other step is for: a word, a run of signs, or whatever stands there.
_PLAIN = re.compile(r"[^-/'\"`%$\\#a-zA-Z_]+|[a-zA-Z_]\w*|(?s:.)")
_COMMENT = re.compile(r"--[^\r\n]*|#![^\r\n]*|/\*(?s:.)*?\*/")
#: A text or a command; one that is not closed is the parser's to complain about.
_QUOTED = re.compile(r"'(?:[^'\\]|\\(?s:.))*'|\"(?:[^\"\\]|\\(?s:.))*\"|`[^`]*`")
_USE = re.compile(rf"\\\$|\$(?:\{{{NAME}\}}|{NAME})")
_GAP = r"(?:[ \t]|/\*(?:[^*\n]|\*(?!/))*\*/)"
_DIRECTIVE = re.compile(rf"%(declare|default)\b{_GAP}+({NAME}){_GAP}+", re.IGNORECASE)
_DIRECTIVE_WORD = re.compile(r"%(?:declare|default)\b", re.IGNORECASE)
_VALUE = re.compile(
    r"(?P<command>`[^`]*`)|(?P<quoted>'(?:[^'\\]|\\(?s:.))*'|\"(?:[^\"\\]|\\(?s:.))*\")"
    r"|(?P<plain>(?!--)(?:[^\s'\"`]|'[^'\r\n]*'|\"[^\"\r\n]*\"|`[^`\r\n]*`)+)"
)
_LINE_REST = re.compile(rf"{_GAP}*\r?(?:--[^\n]*)?(?:\n|\Z)")
_MACRO = re.compile(r"define\s+[a-z]\w*\s*\(", re.IGNORECASE)
#: Commands whose words may be paths with `/*` in them, which is no comment there.
_COMMAND_LINE = re.compile(
    rf"(?:{'|'.join(sorted(COMMANDS, key=len, reverse=True))})[ \t]+(?![=,(])"
    r"(?:'(?:[^'\\\r\n]|\\.)*'|`[^`]*`|(?<![ \t])-|-(?!-)|[^-\r\n;'`])*",
    re.IGNORECASE,
)


def substitute(excerpt: Excerpt, parameters: Parameters, called: MacroCallSite | None = None) -> PlacedText:
    """The text of a script or of a macro's body, ready to be parsed; `parameters` gain what it declares."""
    return _Substitution(excerpt, parameters, called).run()


def _line_begins(began: bool, passed: str) -> bool:
    """Whether a statement may begin behind what was passed, as far as the line tells."""
    if "\n" in passed:
        return not passed.rpartition("\n")[2].strip()
    return passed.endswith(";") or (began and (not passed.strip() or passed.startswith("/*")))


class _Substitution:
    def __init__(self, excerpt: Excerpt, parameters: Parameters, called: MacroCallSite | None) -> None:
        self.source, self.end, self.at = excerpt.source, excerpt.end, excerpt.start
        self.parameters, self.called = parameters, called
        self.out: list[str] = []
        self.length = 0
        self.pieces = [TextPiece(0, excerpt.start)]
        self.bodies: list[Excerpt] = []
        #: Whether only blanks stand before on the line.
        self.line_begins = True

    def run(self) -> PlacedText:
        while self.at < self.end:
            before = self.at
            for step in _STEPS.get(self.source.text[before], _OTHERWISE):
                if step(self):
                    break
            self.line_begins = _line_begins(self.line_begins, self.source.text[before : self.at])
        return PlacedText("".join(self.out), self.source, tuple(self.pieces), self.called, tuple(self.bodies))

    # ---- what is written

    def emit(self, text: str, origin: int, parameter: str | None = None) -> None:
        last = self.pieces[-1]
        goes_on = last.parameter is None and parameter is None and origin - last.origin == self.length - last.start
        if text and not goes_on:
            self.pieces.append(TextPiece(self.length, origin, parameter))
        self.out.append(text)
        self.length += len(text)
        if self.length > LONGEST_TEXT:
            raise self.error(
                PigSyntaxError,
                f"with its parameters replaced, this is longer than {LONGEST_TEXT:,} characters",
                origin,
                "Does a value use a value again and again?",
            )

    def copy(self, end: int) -> None:
        self.emit(self.source.text[self.at : end], self.at)
        self.at = end

    def replace(self, end: int) -> None:
        """Copy with parameters replaced."""
        start = self.at
        try:
            for part, offset, name in self.parameters.parts(self.source.text[start:end]):
                self.emit(part, start + offset, name)
        except UnknownParameter as error:
            raise self.error(
                UndefinedParameter, f"parameter {error.name} has no value", start + error.offset, error.remedy
            ) from None
        self.at = end

    def error(self, kind: type[PigSyntaxError], problem: str, offset: int, remedy: str = "") -> PigSyntaxError:
        return error_at(kind, problem, self.source, self.source.place(offset, self.called), remedy=remedy)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.source.text, self.at, self.end)

    # ---- the steps

    def comment(self) -> bool:
        found = self.match(_COMMENT)
        if found is None:
            if self.source.text.startswith("/*", self.at, self.end):
                raise self.error(
                    PigSyntaxError, "a comment begins here and is not closed", self.at, "Close it with */."
                )
            return False
        self.copy(found.end())
        return True

    def directive(self) -> bool:
        if not self.match(_DIRECTIVE_WORD):
            return False
        head = self.match(_DIRECTIVE)
        value = _VALUE.match(self.source.text, head.end(), self.end) if head else None
        if head is None or value is None:
            raise self.error(
                PigSyntaxError, "this gives no parameter a value", self.at, "Write %default NAME 'VALUE' on one line."
            )
        name, keep = head[2], head[1].lower() == "default"
        try:
            if value["command"]:
                self.parameters.set_by_command(name, value["command"][1:-1], keep=keep)
            else:
                self.parameters.set(name, unquoted(value[0]) if value["quoted"] else value[0], keep=keep)
        except UnknownParameter as error:
            offset = value.start() + (0 if value["plain"] else 1) + error.offset
            raise self.error(UndefinedParameter, f"parameter {error.name} has no value", offset, error.remedy) from None
        except ValueTooLong as error:
            raise self.error(PigSyntaxError, str(error), value.start()) from None
        except ValueCommandFailed as error:
            raise self.error(
                ParameterCommandFailed,
                f"parameter {name} gets no value: {error}",
                value.start(),
                f"Mend the command, or give the value: -param {name}=VALUE"
                + (" (it is then not run)." if keep else ", with %default instead of %declare."),
            ) from None
        self.at = value.end()
        if value["plain"]:
            rest = _LINE_REST.match(self.source.text, self.at, self.end)
            if rest is None:
                raise self.error(
                    PigSyntaxError, "a value with blanks needs quotes", self.at + 1, f"Write %{head[1]} {name} '…'."
                )
        return True

    def macro(self) -> bool:
        """A definition: copied as it stands, but for its body, which becomes a marker."""
        head = self.match(_MACRO)
        if head is None:
            return False
        text, at, depth, start = self.source.text, head.end(), 0, -1
        while at < self.end:
            passed = _COMMENT.match(text, at, self.end) or _QUOTED.match(text, at, self.end)
            if passed:
                at = passed.end()
                continue
            if text[at] == "{":
                start = at if depth == 0 else start
                depth += 1
            elif text[at] == "}":
                depth -= 1
                if depth == 0:
                    break
            elif text[at] == ";" and depth == 0:
                self.copy(at)  # No macro, whatever it is: the parser says.
                return True
            at += 1
        else:
            raise self.error(
                BadMacro, "the macro that begins here has no end", self.at, "Its body stands in braces: { … }."
            )
        self.copy(start)
        self.emit(f"{{\0{len(self.bodies)}\0}}", start)
        self.bodies.append(Excerpt(self.source, start + 1, at))
        self.at = at + 1
        # What follows does not go on where the marker stood.
        self.pieces.append(TextPiece(self.length, self.at))
        return True

    def command(self) -> bool:
        if not self.line_begins:
            return False
        found = self.match(_COMMAND_LINE)
        if found is None:
            return False
        self.replace(found.end())
        return True

    def quoted(self) -> bool:
        found = self.match(_QUOTED)
        if found is None:
            if self.source.text[self.at] in "'\"`":
                self.copy(self.at + 1)
                return True
            return False
        self.replace(found.end())
        return True

    def use(self) -> bool:
        found = self.match(_USE)
        if found is None:
            return False
        self.replace(found.end())
        return True

    def plain(self) -> bool:
        found = self.match(_PLAIN)
        assert found is not None
        self.copy(found.end())
        return True


_Steps = tuple[Callable[[_Substitution], bool], ...]

_OTHERWISE: _Steps = (_Substitution.plain,)
_STEPS: dict[str, _Steps] = {
    **dict.fromkeys("-/#", (_Substitution.comment, _Substitution.plain)),
    **dict.fromkeys("'\"`", (_Substitution.quoted,)),
    **dict.fromkeys("$\\", (_Substitution.use, _Substitution.plain)),
    **dict.fromkeys(string.ascii_letters, (_Substitution.macro, _Substitution.command, _Substitution.plain)),
    "%": (_Substitution.directive, _Substitution.plain),
}
