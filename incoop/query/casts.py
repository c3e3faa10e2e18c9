"""A value of one type as one of another.

Contract: null stays null. A value that has no counterpart raises NoValue; types between which there is no cast are a
TypeMismatch before anything is evaluated. Integers wrap as Java's do; floats are cut off to the nearest integer that
fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from incoop.query import numbers
from incoop.query.errors import Position, TypeMismatch
from incoop.query.moments import moment_text, read_moment
from incoop.query.nested_text import print_nested, read_nested
from incoop.query.order import canonical_bag
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
    NUMBERS,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
    Value,
    same_shape,
)
from incoop.query.utf8 import decoded
from incoop.query.warnings import CAST, NoValue, Warnings

#: Casts a value that is not null.
Caster = Callable[[Value, Warnings], Value]


def can_cast(source: Type, target: Type) -> bool:
    """Whether there is a cast at all."""
    if same_shape(source, target) or source in (NULL, BYTES, TEXT) or target in (TEXT, BYTES):
        return True
    if source in NUMBERS or source == BOOLEAN:
        return target in NUMBERS or target == BOOLEAN
    if isinstance(source, TupleType | BagType) and type(source) is type(target):
        assert isinstance(target, TupleType | BagType)
        return (
            source.fields is None
            or target.fields is None
            or all(can_cast(one.type, other.type) for one, other in zip(source.fields, target.fields, strict=False))
        )
    if isinstance(source, MapType) and isinstance(target, MapType):
        return source.value is None or target.value is None or can_cast(source.value, target.value)
    return False


def can_fail(source: Type, target: Type) -> bool:
    """Whether a cast may find a value that has no counterpart."""
    return not (same_shape(source, target) and source in (target, NULL)) and not (
        (source in NUMBERS[:4] or source == BOOLEAN) and (target in NUMBERS[:4] or target in (BOOLEAN, TEXT, BYTES))
    )


def check_cast(source: Type, target: Type, position: Position | None) -> None:
    if not can_cast(source, target):
        raise TypeMismatch(f"a cast to {target}", (str(source),), "a type that can be cast so", position)


def caster(source: Type, target: Type) -> Caster:
    """A function that casts values; `source` may be a type that says nothing of what is inside."""
    if isinstance(target, TupleType | BagType | MapType):
        return _to_nested(target)
    if target == TEXT:
        return lambda value, _: text_of(value, source)
    if target == BYTES:
        return lambda value, _: (
            value if isinstance(value, bytes) else text_of(value, source).encode("utf-8", "surrogatepass")
        )
    plain = _PLAIN[str(target)]
    return lambda value, _: plain(value)


def read_plain(text: str, kind: Type) -> Value:
    """Text as a value of a type without parts."""
    if kind == TEXT:
        return text
    if kind == BYTES:
        return text.encode("utf-8", "surrogateescape")
    return _PLAIN[str(kind)](text)


def text_of(value: Value, kind: Type) -> str:
    """A value as text.

    Example:
        >>> text_of((1, None, 2.0, "x"), TupleType(None)), text_of(True, BOOLEAN)
        ('(1,,2.0,x)', 'true')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return decoded(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return numbers.single_text(value) if kind == FLOAT else numbers.double_text(value)
    if isinstance(value, Decimal):
        return numbers.decimal_text(value)
    if isinstance(value, datetime):
        return moment_text(value)
    return print_nested(value, kind, text_of)


def _text(value: Value) -> str:
    return decoded(value) if isinstance(value, bytes) else str(value)


def _to_boolean(value: Value) -> bool:
    if isinstance(value, str | bytes):
        word = _text(value).lower()
        if word not in ("true", "false"):
            raise NoValue(CAST)
        return word == "true"
    if isinstance(value, bool | int | float | Decimal):
        return bool(value)
    raise NoValue(CAST)


def _to_integer(value: Value, kind: Type) -> int:
    if isinstance(value, str | bytes):
        return numbers.read_integer(_text(value), kind)
    if isinstance(value, int):
        return numbers.wrapped(int(value), kind)
    if isinstance(value, float):
        return numbers.saturated(value, kind)
    if isinstance(value, Decimal):
        if not numbers.fits(int(value), kind):
            raise NoValue(CAST)
        return int(value)
    raise NoValue(CAST)


def _to_double(value: Value) -> float:
    if isinstance(value, str | bytes):
        return numbers.read_double(_text(value))
    if isinstance(value, bool | int | float | Decimal):
        return float(value)
    raise NoValue(CAST)


def _to_float(value: Value) -> float:
    if isinstance(value, str | bytes):
        return numbers.read_single(_text(value))
    if isinstance(value, Decimal):
        return numbers.read_single(str(value))
    if isinstance(value, int):
        return numbers.single_of_int(value)
    if isinstance(value, float):
        return numbers.single(value)
    raise NoValue(CAST)


def _to_decimal(value: Value) -> Decimal:
    if isinstance(value, str | bytes):
        return numbers.read_decimal(_text(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NoValue(CAST)
        return numbers.canonical_decimal(Decimal(repr(value)))
    if isinstance(value, bool | int | Decimal):
        return numbers.canonical_decimal(Decimal(value))
    raise NoValue(CAST)


def _to_datetime(value: Value) -> datetime:
    if isinstance(value, str | bytes):
        return read_moment(_text(value))
    if isinstance(value, datetime):
        return value
    raise NoValue(CAST)


_PLAIN: dict[str, Callable[[Value], Value]] = {
    str(BOOLEAN): _to_boolean,
    str(INT): lambda value: _to_integer(value, INT),
    str(LONG): lambda value: _to_integer(value, LONG),
    str(FLOAT): _to_float,
    str(DOUBLE): _to_double,
    str(DECIMAL): _to_decimal,
    str(DATETIME): _to_datetime,
    str(NULL): lambda value: value,
}


def _to_nested(target: Type) -> Caster:
    def cast(value: Value, warnings: Warnings) -> Value:
        if isinstance(value, str | bytes):
            text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
            return read_nested(text, target, _read_kept, warnings)
        if isinstance(value, tuple) and isinstance(target, TupleType):
            return _cast_row(value, target.fields, warnings)
        if isinstance(value, list) and isinstance(target, BagType):
            return canonical_bag(_cast_row(row, target.fields, warnings) for row in value)
        if isinstance(value, dict) and isinstance(target, MapType):
            inner = target.value
            return value if inner is None else {key: _cast_part(each, inner, warnings) for key, each in value.items()}
        raise NoValue(CAST)

    return cast


def _read_kept(text: str, kind: Type) -> Value:
    """A part of nested text whose bytes were kept apart as lone surrogates."""
    if kind == BYTES:
        return text.encode("utf-8", "surrogateescape")
    return read_plain(decoded(text.encode("utf-8", "surrogateescape")), kind)


def _cast_row(row: tuple[Value, ...], fields: tuple[Field, ...] | None, warnings: Warnings) -> tuple[Value, ...]:
    if fields is None:
        return row
    padded = row[: len(fields)] + (None,) * (len(fields) - len(row))
    return tuple(_cast_part(value, field.type, warnings) for value, field in zip(padded, fields, strict=True))


def _cast_part(value: Value, kind: Type, warnings: Warnings) -> Value:
    if value is None:
        return None
    try:
        return caster(NULL, kind)(value, warnings)
    except NoValue as trouble:
        warnings.count(trouble.kind)
        return None
