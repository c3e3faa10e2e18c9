"""What ILLUSTRATE prints."""

from __future__ import annotations

from collections.abc import Sequence

from incoop.fronts.pig.formats import dumped
from incoop.fronts.pig.types import describe_text
from incoop.query.schema import Schema
from incoop.query.types import Row


def illustrated(alias: str, schema: Schema, rows: Sequence[Row]) -> str:
    """A few rows of a relation below its name."""
    title = describe_text(alias, schema)
    lines = [dumped(row, schema.fields) for row in rows] or ["(no rows)"]
    return "\n".join([title, "-" * min(len(title), 100), *lines])
