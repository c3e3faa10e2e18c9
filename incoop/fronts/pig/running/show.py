"""What DUMP and ILLUSTRATE print."""

from __future__ import annotations

from collections.abc import Sequence

from incoop.fronts.pig.translation.types import describe_text
from incoop.query.casts import text_of
from incoop.query.schema import Schema
from incoop.query.types import Row, TupleType


def dump_line(row: Row, schema: Schema) -> str:
    """A row as DUMP prints it.

    Example:
        >>> dump_line((1, None, [("a",)]), Schema(None))
        '(1,,{(a)})'
    """
    return text_of(row, TupleType(schema.fields))


def illustrated(alias: str, schema: Schema, rows: Sequence[Row]) -> str:
    """A few rows of a relation below its name."""
    title = describe_text(alias, schema)
    lines = [dump_line(row, schema) for row in rows] or ["(no rows)"]
    return "\n".join([title, "-" * min(len(title), 100), *lines])
