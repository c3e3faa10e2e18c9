"""A call of a function as a script says it, before its types are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from incoop.query.errors import Position, TypeMismatch
from incoop.query.expressions import build
from incoop.query.expressions.nodes import Call, Constant, Expression
from incoop.query.functions.function import Function
from incoop.query.types import INT, LONG, TEXT, Field, Type


@dataclass(frozen=True, slots=True)
class Request:
    """What is called, with what."""

    #: As the script wrote it.
    name: str
    arguments: tuple[Expression, ...]
    #: What the fields are called that arguments are, as `a::x`.
    names: tuple[str | None, ...] = ()
    #: What `DEFINE name Function('…')` gives the function once and for all.
    constructor: tuple[str, ...] = ()
    position: Position | None = None

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(each.type for each in self.arguments)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The arguments as fields of a tuple."""
        names = (*self.names, *(None,) * (len(self.arguments) - len(self.names)))
        return tuple(_field(name, kind) for name, kind in zip(names, self.types, strict=False))

    def mismatch(self, wanted: str) -> TypeMismatch:
        return TypeMismatch(self.name, tuple(map(str, self.types)), wanted, self.position)

    def constant(self, at: int) -> Constant | None:
        """An argument, where the script says its value."""
        found = self.arguments[at] if at < len(self.arguments) else None
        return found if isinstance(found, Constant) and found.value is not None else None

    def text(self, at: int) -> str | None:
        """A text that the script says."""
        found = self.constant(at)
        return found.value if found is not None and found.kind == TEXT else None

    def whole(self, at: int) -> int | None:
        """An integer that the script says."""
        found = self.constant(at)
        return found.value if found is not None and found.kind in (INT, LONG) else None

    def of(self, function: Function) -> Expression:
        """A call of a function with these arguments, cast to what it takes."""
        wanted = function.signature(self.types, self.position).arguments
        cast = tuple(build.cast(each, kind) for each, kind in zip(self.arguments, wanted, strict=True))
        return Call(function, cast, position=self.position)


def _field(name: str | None, kind: Type) -> Field:
    if name is None:
        return Field(None, kind)
    *qualifiers, last = name.split("::")
    return Field(last, kind, tuple(qualifiers))


#: Makes the expression of a call, where names, constants or the constructor count.
Maker = Callable[[Request], Expression]
