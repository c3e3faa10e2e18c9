"""Schemas that are written in a text of their own: those of JsonLoader, and of functions of the user's.

Contract: what may stand behind AS may stand here. Both of Pig's big numbers are decimals; a field without a type is
bytes.
"""

from __future__ import annotations

from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.syntax.errors import PigSyntaxError
from incoop.fronts.pig.syntax.operators import LoadOperator
from incoop.fronts.pig.syntax.script import parse_script
from incoop.fronts.pig.syntax.statements import AssignStatement
from incoop.query.errors import Position, QueryError
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    DATETIME,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
)

_WORDS: dict[t.TypeWord, Type] = {
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


def read_schema(text: str, position: Position | None = None) -> tuple[Field, ...]:
    """The fields that a text declares.

    Example:
        >>> [str(each) for each in read_schema("word: chararray, n: {(x: int)}")]
        ['word: text', 'n: {(x: int)}']
    """
    try:
        statements = parse_script(f"r = LOAD 'x' AS ({text.strip().rstrip(';')}\n);", file="schema").statements
    except PigSyntaxError as error:
        raise QueryError(f"{text!r} is no schema: {error.problem}. Write name: type, …", position) from None
    match statements:
        case [AssignStatement(operator=LoadOperator(schema=(_, *_) as declared))]:
            return tuple(map(_field, declared))
    raise QueryError(f"{text!r} is no schema. Write name: type, …", position)


def _field(declared: t.FieldDeclaration) -> Field:
    if declared.name is None:
        return Field(None, _type(declared.type))
    *qualifiers, name = declared.name.split("::")
    return Field(name, _type(declared.type), tuple(qualifiers))


def _type(written: t.TypeName | None) -> Type:
    match written:
        case None:
            return BYTES
        case t.ScalarTypeName(word):
            return _WORDS[word]
        case t.TupleTypeName(fields):
            return TupleType(tuple(map(_field, fields)) or None)
        case t.BagTypeName(row):
            return BagType(None if row is None else tuple(map(_field, row.fields)) or None)
        case t.MapTypeName(value):
            return MapType(None if value is None else _type(value))
