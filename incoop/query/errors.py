"""What can be wrong with a query, with the place where it is written.

Contract: every error has the position of what it is about where a way in gave one, says what is wrong in the words of
the query, and what to write instead. All of them are raised before anything runs, but for `Overflowed` and
`UserFunctionFailed`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from incoop.base.errors import IncoopError


@dataclass(frozen=True, slots=True)
class Position:
    """Where a piece of a query is written. Lines and columns count from one."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class QueryError(IncoopError):
    """Something is wrong with a query; `position` says where, if that is known."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message, position)
        self.message, self.position = message, position

    def __str__(self) -> str:
        return self.message if self.position is None else f"{self.position}: {self.message}"


class UnknownField(QueryError):
    """A name that no field of the input has."""

    def __init__(self, name: str, known: tuple[str, ...], position: Position | None = None) -> None:
        message = f"there is no field {name!r} here{nearest(name, known)}"
        super().__init__(message, position)
        self.args = (name, known, position)
        self.name, self.known = name, known


class AmbiguousField(QueryError):
    """A name that several fields of the input have."""

    def __init__(self, name: str, candidates: tuple[str, ...], position: Position | None = None) -> None:
        message = (
            f"{name!r} may be any of {', '.join(candidates)}. Write the one that is meant with its relation's name."
        )
        super().__init__(message, position)
        self.args = (name, candidates, position)
        self.name, self.candidates = name, candidates


class TypeMismatch(QueryError):
    """An operation that does not exist for values of these types."""

    def __init__(self, operation: str, found: tuple[str, ...], wanted: str, position: Position | None = None) -> None:
        message = f"{operation} takes {wanted}, not {' and '.join(found) or 'nothing'}. Cast it, or take another field."
        super().__init__(message, position)
        self.args = (operation, found, wanted, position)
        self.operation, self.found, self.wanted = operation, found, wanted


class UnknownFunction(QueryError):
    """A name that no function has."""

    def __init__(self, name: str, known: tuple[str, ...], position: Position | None = None) -> None:
        super().__init__(f"there is no function {name!r}{nearest(name, known)}", position)
        self.args = (name, known, position)
        self.name, self.known = name, known


class BadPlan(QueryError):
    """A plan whose parts do not fit together."""


class Overflowed(QueryError):
    """Checked arithmetic left the range of its type."""

    def __init__(self, operation: str, operands: tuple[str, ...], kind: str, position: Position | None = None) -> None:
        message = (
            f"{f' {operation} '.join(operands)} does not fit type {kind}. Cast an operand to a wider type, "
            "or let arithmetic wrap around."
        )
        super().__init__(message, position)
        self.args = (operation, operands, kind, position)
        self.operation, self.operands, self.kind = operation, operands, kind


class UserFunctionFailed(QueryError):
    """A user's function raised; the traceback is the function's own."""

    def __init__(self, name: str, arguments: str, trace: str, position: Position | None = None) -> None:
        message = f"the function {name} failed on {arguments}. Mend it, or filter such records before.\n{trace}"
        super().__init__(message, position)
        self.args = (name, arguments, trace, position)
        self.name, self.arguments, self.trace = name, arguments, trace


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not known: the nearest one, or all of them.

    Example:
        >>> nearest("nmae", ["name", "age"])
        '. Did you mean name?'
    """
    names = list(known)
    folded = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), list(folded), n=1)
    if close:
        return f". Did you mean {folded[close[0]]}?"
    return f"; there are {', '.join(names)}." if names else "."
