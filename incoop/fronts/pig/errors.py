"""What is wrong with a script that is well written Pig Latin, at its place.

Contract: what the relational layer says of a plan becomes an error with file, line, column, the line itself and a
caret, as a syntax error has them. A place in a macro says where that was called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from incoop.fronts.pig.syntax.errors import PigSyntaxError
from incoop.fronts.pig.syntax.nodes import PigNode
from incoop.fronts.pig.syntax.places import MacroCallSite, ScriptPlace
from incoop.query.errors import Overflowed, Position, QueryError, UserFunctionFailed


class ScriptError(PigSyntaxError):
    """A statement of a script cannot be carried out as it is written; nothing of the batch that it is in has run."""


class MissingInput(ScriptError):
    """What a script loads is not there."""


class ScriptCommandFailed(ScriptError):
    """A command of a script (`sh`, `fs`) failed."""


class NotTranslated(QueryError):
    """What Pig would do and we do not: with what to write instead."""


@dataclass(frozen=True, slots=True)
class PigPosition(Position):
    """A position that remembers the call of the macro that it is in."""

    called: MacroCallSite | None = None

    @property
    def place(self) -> ScriptPlace:
        return ScriptPlace(self.file, self.line, self.column, self.called)

    def __str__(self) -> str:
        return str(self.place)


def at(node: PigNode) -> PigPosition:
    """Where a node stands, as plans and expressions say it."""
    place = node.place
    return PigPosition(place.file, place.line, place.column, place.called)


def refuse(message: str, node: PigNode) -> NoReturn:
    """Say that a piece of a script is not carried out."""
    raise NotTranslated(message, at(node))


#: The text of a file of a script, or None.
TextOf = Callable[[str], str | None]


def texts(known: Mapping[str, str] | None = None) -> TextOf:
    """Texts of files by their names: those that are known, and what can be read."""
    found: dict[str, str | None] = dict(known or {})

    def text_of(file: str) -> str | None:
        if file not in found:
            try:
                found[file] = Path(file).read_text(encoding="utf-8")
            except (OSError, ValueError):
                found[file] = None
        return found[file]

    return text_of


def line_at(place: ScriptPlace, text_of: TextOf) -> str:
    """The line that a place is in; empty where the file cannot be read."""
    lines = (text_of(place.file) or "").split("\n")
    return lines[place.line - 1].rstrip("\r") if 0 < place.line <= len(lines) else ""


@contextmanager
def placed(node: PigNode, text_of: TextOf) -> Iterator[None]:
    """Errors of plans that are made in it become errors of the script: at their own place, or that of `node`."""
    try:
        yield
    except (Overflowed, UserFunctionFailed):
        raise
    except QueryError as error:
        raise script_error(error, node.place, text_of) from error
    except RecursionError:
        raise _too_deep(node, text_of) from None


def _too_deep(node: PigNode, text_of: TextOf) -> ScriptError:
    return ScriptError(
        "this stands on too many statements, each of which needs the one before",
        node.place,
        line_at(node.place, text_of),
        remedy="STORE a relation on the way, and LOAD it again.",
    )


@contextmanager
def running(node: PigNode, text_of: TextOf) -> Iterator[None]:
    """What goes wrong while plans run is said with the line that it is about, where that is known. What a user's
    function says stays as it is: it has a traceback.
    """
    try:
        yield
    except UserFunctionFailed:
        raise
    except QueryError as error:
        if not isinstance(error.position, PigPosition):
            raise
        raise script_error(error, error.position.place, text_of) from error
    except RecursionError:
        raise _too_deep(node, text_of) from None


def script_error(error: QueryError, place: ScriptPlace, text_of: TextOf) -> ScriptError:
    """What a plan's error is in words of the script."""
    position = error.position
    if isinstance(position, PigPosition):
        place = position.place
    problem, _, remedy = error.message.partition(". ")
    return ScriptError(problem.rstrip("."), place, line_at(place, text_of), remedy=remedy)
