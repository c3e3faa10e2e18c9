"""What is wrong with the text of a script, at its place, in the words of someone who writes Pig Latin.

Contract: each error names file, line and column as written, shows the line with a caret, and says what to do. No word
of the parser's own comes to the user.
"""

from __future__ import annotations

from incoop.base.errors import IncoopError
from incoop.fronts.pig.syntax.places import ScriptPlace, SourceFile

#: So much of a line is shown: generated scripts have lines of kilobytes.
_SHOWN = 100


class PigSyntaxError(IncoopError):
    """A script, a file of macros or a macro cannot be read as Pig Latin."""

    def __init__(
        self, problem: str, place: ScriptPlace, line: str = "", expected: tuple[str, ...] = (), remedy: str = ""
    ) -> None:
        super().__init__(problem, place, line, expected, remedy)
        self.problem = problem
        self.place = place
        #: The line as written; empty where there is none to show.
        self.line = line
        #: What could have stood there, the likeliest first, a handful at most.
        self.expected = expected
        self.remedy = remedy

    def __str__(self) -> str:
        said = f"{self.place}: {self.problem}"
        if self.line.strip():
            # Tabs stay tabs, so that the caret is below its character however wide they are shown.
            line, column = _clipped(self.line, self.place.column - 1)
            before = "".join("\t" if each == "\t" else " " for each in line[:column])
            said += f"\n    {line}\n    {before}^"
        if self.expected:
            *most, last = self.expected
            said += f"\nExpected {', '.join(most)}{' or ' if most else ''}{last}."
        if self.remedy:
            said += f"{' ' if self.expected else chr(10)}{self.remedy}"
        return said


def _clipped(line: str, column: int) -> tuple[str, int]:
    """What is shown of a line, around a column, and where that is in it."""
    begin = max(0, column - _SHOWN // 2) if len(line) > _SHOWN else 0
    head = "…" if begin else ""
    tail = "…" if begin + _SHOWN < len(line) else ""
    return head + line[begin : begin + _SHOWN] + tail, column - begin + len(head)


class UndefinedParameter(PigSyntaxError):
    """A script uses `$name`, and nobody said what that is."""


class ParameterCommandFailed(PigSyntaxError):
    """A command in backticks, which should give a parameter its value, failed or may not be run."""


class BadMacro(PigSyntaxError):
    """A macro cannot be defined so, or not be called so."""


class ImportNotFound(PigSyntaxError):
    """A file that IMPORT names is not there, or cannot be read."""


class BadParameter(IncoopError):
    """A parameter on the command line or in a file is not `name=value`."""

    def __init__(self, given: str, where: str, why: str) -> None:
        super().__init__(given, where, why)
        self.given, self.where, self.why = given, where, why

    def __str__(self) -> str:
        return (
            f"{self.where}: {self.why}: {self.given!r}. "
            "Write name=value, with quotes around a value that has blanks at its ends."
        )


def error_at(
    kind: type[PigSyntaxError],
    problem: str,
    source: SourceFile,
    place: ScriptPlace,
    expected: tuple[str, ...] = (),
    remedy: str = "",
) -> PigSyntaxError:
    """An error with the line of a file that it is about."""
    return kind(problem, place, source.line_text(place.line), expected, remedy)
