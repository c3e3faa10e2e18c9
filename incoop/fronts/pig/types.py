"""Types as a script writes them, and as queries have them; and as DESCRIBE prints them.

Contract: both of Pig's big numbers are decimals. A field without a type is bytes.
"""

from __future__ import annotations

from incoop.fronts.pig.syntax import terms as t
from incoop.query.schema import Schema
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    DATETIME,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    TEXT,
    BagType,
    Field,
    MapType,
    PlainType,
    TupleType,
    Type,
)

_WORDS: dict[t.TypeWord, PlainType] = {
    t.TypeWord.BOOLEAN: BOOLEAN,
    t.TypeWord.INT: INT,
    t.TypeWord.LONG: LONG,
    t.TypeWord.FLOAT: FLOAT,
    t.TypeWord.DOUBLE: DOUBLE,
    t.TypeWord.BIGINTEGER: DECIMAL,
    t.TypeWord.BIGDECIMAL: DECIMAL,
    t.TypeWord.CHARARRAY: TEXT,
    t.TypeWord.BYTEARRAY: BYTES,
    t.TypeWord.DATETIME: DATETIME,
}
_NAMES = {
    **{BOOLEAN: "boolean", INT: "int", LONG: "long", FLOAT: "float", DOUBLE: "double", DECIMAL: "bigdecimal"},
    **{TEXT: "chararray", BYTES: "bytearray", DATETIME: "datetime", NULL: "bytearray"},
}


def type_of(written: t.TypeName | None) -> Type:
    """The type that a script writes; bytes where it writes none."""
    match written:
        case None:
            return BYTES
        case t.ScalarTypeName(word):
            return _WORDS[word]
        case t.TupleTypeName(fields):
            return TupleType(fields_of(fields) if fields else None)
        case t.BagTypeName(row):
            return BagType(fields_of(row.fields) if row is not None and row.fields else None)
        case t.MapTypeName(value):
            return MapType(None if value is None else type_of(value))


def field_of(declared: t.FieldDeclaration) -> Field:
    """A declared field; `a::b` is field b that came through a."""
    return named(declared.name, type_of(declared.type))


def named(name: str | None, kind: Type) -> Field:
    if name is None:
        return Field(None, kind)
    *qualifiers, last = name.split("::")
    return Field(last, kind, tuple(qualifiers))


def fields_of(declared: tuple[t.FieldDeclaration, ...]) -> tuple[Field, ...]:
    return tuple(map(field_of, declared))


def type_text(kind: Type) -> str:
    """A type as Pig prints it.

    Example:
        >>> type_text(BagType((Field("x", INT), Field("m", MapType()))))
        '{(x: int,m: map[])}'
    """
    match kind:
        case TupleType(fields):
            return f"({_listed(fields)})"
        case BagType(fields):
            return "{" + (f"({_listed(fields)})" if fields is not None else "") + "}"
        case MapType(value):
            return f"map[{'' if value is None else type_text(value)}]"
        case PlainType():
            return _NAMES[kind]
    raise TypeError(f"no type of Pig: {kind}")


def _listed(fields: tuple[Field, ...] | None) -> str:
    return ",".join(map(_field_text, fields or ()))


def _field_text(field: Field) -> str:
    shown = type_text(field.type)
    return f"{'::'.join(field.path)}: {shown}" if field.name is not None else shown


def describe_text(alias: str, schema: Schema) -> str:
    """What DESCRIBE prints of a relation.

    Example:
        >>> describe_text("a", Schema.of(name=TEXT, age=INT))
        'a: {name: chararray,age: int}'
    """
    if schema.fields is None:
        return f"Schema for {alias} unknown."
    return f"{alias}: {{{_listed(schema.fields)}}}"
