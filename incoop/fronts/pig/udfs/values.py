"""Values of queries as a user's function gets them, and what it gives as values of queries.

Contract: a function gets values of its own: whatever it does to a bag or a map, the row stays as it was. Ints and
longs are int, floats and doubles float, chararray is str, bytearray bytes, a tuple a tuple, a bag a list of tuples, a
map a dict, a datetime one in UTC, null None. What it gives has to be what its schema says: a wider number may be an
int, a bag any iterable, whose items that are no tuples become tuples of one; anything else is a WrongResult.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from incoop.query.numbers import canonical_decimal, fits, single
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
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
    Value,
)


class WrongResult(TypeError):
    """A function gave what its schema does not say."""


def given(value: Value) -> Any:
    """A value for a function: what can be changed in it is its own."""
    if isinstance(value, list):
        return [given(row) for row in value]
    if isinstance(value, tuple):
        return tuple(map(given, value))
    if isinstance(value, dict):
        return {key: given(each) for key, each in value.items()}
    return value


def taken(value: Any, kind: Type) -> Value:
    """What a function gave, as a value of a type; what has no type declared is taken as it is."""
    if value is None:
        return None
    if isinstance(kind, TupleType):
        return _row(value, kind.fields)
    if isinstance(kind, BagType):
        return _bag(value, kind)
    if isinstance(kind, MapType):
        return _map(value, kind)
    if kind == BYTES:
        return _anything(value)
    if kind == TEXT and isinstance(value, str | bytes | bytearray):
        return _text(value)
    if kind == BOOLEAN and isinstance(value, bool):
        return bool(value)
    if kind in (INT, LONG) and _is_whole(value):
        if not fits(int(value), kind):
            raise WrongResult(f"it gave {value}, which no {kind} holds. Let its schema say long, or bigdecimal.")
        return int(value)
    if kind in (DOUBLE, FLOAT) and (_is_whole(value) or isinstance(value, float)):
        return single(float(value)) if kind == FLOAT else float(value)
    if kind == DECIMAL and (_is_whole(value) or isinstance(value, float | Decimal)):
        return canonical_decimal(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
    if kind == DATETIME and isinstance(value, date):
        return _moment(value)
    remedy = "a / of whole numbers is a float in Python 3: // is a whole one" if isinstance(value, float) else ""
    raise _wrong(value, str(kind), remedy or "Mend it, or what @outputSchema says")


def _wrong(value: Any, wanted: str, remedy: str) -> WrongResult:
    return WrongResult(
        f"it gave {repr(value)[:200]} ({type(value).__name__}), where its schema says {wanted}. {remedy}."
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: str | bytes | bytearray) -> str:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return bytes(value).decode("utf-8", "replace")


def _moment(value: date) -> datetime:
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _row(value: Any, fields: tuple[Field, ...] | None) -> Value:
    if not isinstance(value, tuple | list):
        raise _wrong(value, "a tuple", "Give (value,) for a tuple of one")
    if fields is None:
        return tuple(map(_anything, value))
    if len(value) != len(fields):
        raise _wrong(value, f"{len(fields)} fields", "Give as many")
    return tuple(taken(each, field.type) for each, field in zip(value, fields, strict=True))


def _bag(value: Any, kind: BagType) -> Value:
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        raise _wrong(value, "a bag", "Give a list of tuples")
    rows = [_row(each if isinstance(each, tuple | list) else (each,), kind.fields) for each in value]
    return canonical_bag(rows) if isinstance(value, Set) else rows


def _map(value: Any, kind: MapType) -> Value:
    if not isinstance(value, Mapping):
        raise _wrong(value, "a map", "Give a dict")
    for key in value:
        if not isinstance(key, str):
            raise _wrong(key, "a key of a map", "Keys are str")
    inner = BYTES if kind.value is None else kind.value
    return {_text(key): taken(value[key], inner) for key in sorted(value)}


def _anything(value: Any) -> Value:
    """What nothing is said of."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, int):
        if not fits(int(value), LONG):
            raise WrongResult(f"it gave {value}, which no long holds. Give a Decimal, or a str.")
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Decimal):
        return canonical_decimal(value)
    if isinstance(value, date):
        return _moment(value)
    if isinstance(value, tuple):
        return tuple(map(_anything, value))
    if isinstance(value, Mapping):
        return _map(value, MapType())
    if isinstance(value, list | Set):
        return _bag(value, BagType())
    raise _wrong(value, "nothing", "Give a number, str, bytes, tuple, list of tuples or dict")
