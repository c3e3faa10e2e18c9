"""Single fields of text records to values, and back.

Contract: a field is null where it is empty and not quoted. What does not fit its type is null, counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from incoop.query.casts import caster, text_of
from incoop.query.numbers import double_text
from incoop.query.types import BYTES, FLOAT, Field, Type, Value
from incoop.query.warnings import NoValue, Warnings


def reader_of(kind: Type, warnings: Warnings) -> Callable[[bytes], Value]:
    """A function from a field's bytes to its value."""
    if kind == BYTES:
        return lambda field: field
    change = caster(BYTES, kind)

    def read(field: bytes) -> Value:
        try:
            return change(field, warnings)
        except NoValue as trouble:
            warnings.count(trouble.kind)
            return None

    return read


def printed_field(value: Value, kind: Type) -> bytes:
    """A value as a field: bytes as they are, null as nothing."""
    if value is None:
        return b""
    return value if isinstance(value, bytes) else text_of(value, kind).encode("utf-8", "surrogatepass")


def printed_column(values: Sequence[Value], kind: Type) -> list[str] | None:
    """Values of one field as fields, all at once; None where some are bytes, which need not be text."""
    held = set(map(type, values))
    if held == {str}:
        return values  # type: ignore[return-value]
    if held == {int}:
        return list(map(str, values))
    if held == {float} and kind != FLOAT:
        return list(map(double_text, values))
    if bytes in held:
        return None
    return ["" if value is None else text_of(value, kind) for value in values]


def types_for(row: Sequence[Value], fields: Sequence[Field] | None) -> list[Type]:
    """Types to print a row by; what is not known is bytes."""
    known = [field.type for field in fields or ()]
    return known[: len(row)] + [BYTES] * (len(row) - len(known))
