"""Schemas that are written in a text of their own: those of JsonLoader, and of functions of the user's.

Contract: what may stand behind AS may stand here. Both of Pig's big numbers are decimals; a field without a type is
bytes.
"""

from __future__ import annotations

from incoop.fronts.pig.syntax.errors import PigSyntaxError
from incoop.fronts.pig.syntax.operators import LoadOperator
from incoop.fronts.pig.syntax.script import parse_script
from incoop.fronts.pig.syntax.statements import AssignStatement
from incoop.fronts.pig.types import fields_of
from incoop.query.errors import Position, QueryError
from incoop.query.types import Field


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
            return fields_of(declared)
    raise QueryError(f"{text!r} is no schema. Write name: type, …", position)
