"""A user's function as queries call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from incoop.base.errors import USERS_ERRORS
from incoop.fingerprint import fingerprint
from incoop.fronts.pig.schema_text import read_schema
from incoop.fronts.pig.udfs.values import given, taken
from incoop.query.errors import Position, QueryError
from incoop.query.expressions.nodes import Expression, UserCall
from incoop.query.types import BYTES, Field, TupleType, Type, Value


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function of a registered file."""

    #: As a script calls it: `ns.f`.
    name: str
    function: Callable[..., Any]
    #: What @outputSchema says; None where it says nothing.
    schema: str | None = None
    #: What says it from the types of arguments: @outputSchemaFunction's.
    schema_function: Callable[..., Any] | None = None
    #: Stands for the code, that of all that it calls, and what it captured.
    identity: bytes = field(default=b"", repr=False)

    @property
    def result_name(self) -> str | None:
        """What a field is called that is made by a call; None where nothing says it."""
        fields = () if self.schema is None else read_schema(self.schema)
        return fields[0].name if len(fields) == 1 else None

    def call(self, arguments: Sequence[Expression], position: Position | None = None) -> UserCall:
        """The expression of a call."""
        self._check_count(len(arguments), position)
        kind = self._type(tuple(each.type for each in arguments), position)
        identity = self.identity or fingerprint(self.function)
        return UserCall(self.name, _Called(self.function, kind), identity, tuple(arguments), kind, position=position)

    def _check_count(self, count: int, position: Position | None) -> None:
        try:
            signature = inspect.signature(self.function)
        except (ValueError, TypeError):
            return
        try:
            signature.bind(*(None,) * count)
        except TypeError as trouble:
            raise QueryError(
                f"{self.name}{signature} cannot be called with {count} arguments: {trouble}.", position
            ) from None

    def _type(self, types: tuple[Type, ...], position: Position | None) -> Type:
        if self.schema is not None:
            return _one(read_schema(self.schema, position))
        if self.schema_function is None:
            return BYTES
        asked = tuple(Field(None, each) for each in types)
        try:
            said = self.schema_function(asked)
        except USERS_ERRORS as trouble:
            raise QueryError(
                f"what says what {self.name} gives failed: {type(trouble).__name__}: {trouble}", position
            ) from trouble
        if isinstance(said, str):
            return _one(read_schema(said, position))
        if isinstance(said, tuple) and said and all(isinstance(each, Field) for each in said):
            return _one(said)
        raise QueryError(
            f"what says what {self.name} gives returned {said!r}. Let it return a schema as text, or its argument.",
            position,
        )


def _one(fields: tuple[Field, ...]) -> Type:
    """The type of a result with these fields: one is itself, several are a tuple."""
    return fields[0].type if len(fields) == 1 else TupleType(fields)


@dataclass(frozen=True, slots=True)
class _Called:
    """Values to a value. It travels to workers."""

    function: Callable[..., Any]
    kind: Type

    def __call__(self, *values: Value) -> Value:
        return taken(self.function(*map(given, values)), self.kind)
