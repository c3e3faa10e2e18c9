"""The types of values: what a field of a row can hold.

Contract: a type is a frozen value, comparable and printable. What a value of it is in Python:

| type | value |
|---|---|
| int, long | int in 32 or 64 bits, wrapping as Java's |
| float, double | float; one of type float is a number of single precision |
| decimal | Decimal of at most 38 digits, without trailing zeros |
| text, bytes, boolean | str without lone surrogates, bytes, bool |
| datetime | datetime in UTC |
| tuple, bag, map | tuple; list of tuples in canonical order, unless it was sorted; dict with str keys |

Any of them may be None: null. `NULL` is the type of a null that nothing else is known of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: A value of any type, or null.
Value = Any
#: A row: one value a field.
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Type:
    """What a field can hold."""


@dataclass(frozen=True, slots=True)
class PlainType(Type):
    """A type without parts."""

    name: str

    def __str__(self) -> str:
        return self.name


INT = PlainType("int")
LONG = PlainType("long")
FLOAT = PlainType("float")
DOUBLE = PlainType("double")
DECIMAL = PlainType("decimal")
TEXT = PlainType("text")
BYTES = PlainType("bytes")
BOOLEAN = PlainType("boolean")
DATETIME = PlainType("datetime")
NULL = PlainType("null")

#: By the names that they print as.
PLAIN_TYPES = {each.name: each for each in (INT, LONG, FLOAT, DOUBLE, DECIMAL, TEXT, BYTES, BOOLEAN, DATETIME)}
#: From narrow to wide: of two numbers, the later type holds the result.
NUMBERS = (INT, LONG, FLOAT, DOUBLE, DECIMAL)
INTEGERS = (INT, LONG)
FLOATS = (FLOAT, DOUBLE)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of rows or of a tuple."""

    #: None where it has no name, only a place.
    name: str | None
    type: Type
    #: Relations that it came through, the outermost first: `a::b::name`.
    qualifiers: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        return () if self.name is None else (*self.qualifiers, self.name)

    def __str__(self) -> str:
        return f"{'::'.join(self.path)}: {self.type}" if self.name is not None else str(self.type)


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """A row inside a row; its fields are None where they are not known."""

    fields: tuple[Field, ...] | None = None

    def __str__(self) -> str:
        return f"({_listed(self.fields)})"


@dataclass(frozen=True, slots=True)
class BagType(Type):
    """Rows inside a row; the fields of these rows are None where they are not known."""

    fields: tuple[Field, ...] | None = None

    @property
    def row(self) -> TupleType:
        return TupleType(self.fields)

    def __str__(self) -> str:
        return "{" + (f"({_listed(self.fields)})" if self.fields is not None else "") + "}"


@dataclass(frozen=True, slots=True)
class MapType(Type):
    """Values by name; of one type, or of any."""

    value: Type | None = None

    def __str__(self) -> str:
        return f"map[{self.value or ''}]"


def _listed(fields: tuple[Field, ...] | None) -> str:
    return "" if fields is None else ", ".join(map(str, fields))


def fields_of(*types: Type) -> tuple[Field, ...]:
    """Fields without names."""
    return tuple(Field(None, each) for each in types)


def same_shape(one: Type, other: Type) -> bool:
    """Whether two types hold the same values: names of fields do not matter, and what is not known fits all.

    Example:
        >>> same_shape(TupleType((Field("a", INT),)), TupleType((Field("b", INT),)))
        True
    """
    if NULL in (one, other):
        return True
    if isinstance(one, TupleType | BagType) and type(one) is type(other):
        assert isinstance(other, TupleType | BagType)
        if one.fields is None or other.fields is None:
            return True
        return len(one.fields) == len(other.fields) and all(
            same_shape(mine.type, its.type) for mine, its in zip(one.fields, other.fields, strict=True)
        )
    if isinstance(one, MapType) and isinstance(other, MapType):
        return one.value is None or other.value is None or same_shape(one.value, other.value)
    return one == other


def common_type(one: Type, other: Type) -> Type | None:
    """The type that both operands of an operation are cast to: the wider number, what is not null, not bytes; else
    None.

    Example:
        >>> print(common_type(INT, DOUBLE), common_type(BYTES, LONG), common_type(TEXT, INT))
        double long None
    """
    if same_shape(one, other):
        return other if one == NULL else one
    if one in NUMBERS and other in NUMBERS:
        return max(one, other, key=NUMBERS.index)
    if BYTES in (one, other):
        return other if one == BYTES else one
    return None
