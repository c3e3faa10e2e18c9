"""Tuples, bags and maps as text: `(a,b)`, `{(a),(b)}`, `[key#value]`.

Contract: what is printed reads as the same, unless a text inside has one of the signs itself: the format has no
quotes. Text that is malformed raises NoValue(CAST); a part of it that does not fit its type is null, and counted.
"""

from __future__ import annotations

from collections.abc import Callable

from incoop.query.order import sort_key
from incoop.query.types import BYTES, BagType, Field, MapType, TupleType, Type, Value
from incoop.query.warnings import CAST, NoValue, Warnings

_OPEN = {"(": ")", "{": "}", "[": "]"}
#: Deeper nesting is refused, rather than a stack that overflows.
_DEEPEST = 100

#: Reads text that has no parts as a value of a type.
ReadPlain = Callable[[str, Type], Value]
#: Prints a value that has no parts.
PrintPlain = Callable[[Value, Type], str]


def read_nested(text: str, kind: Type, plain: ReadPlain, warnings: Warnings, depth: int = 0) -> Value:
    """A tuple, bag or map from text; what is inside is read by its type, or left as bytes."""
    text = text.strip(" ")
    if depth > _DEEPEST:
        raise NoValue(CAST)
    if isinstance(kind, TupleType):
        parts = _parts(text, "(", depth)
        return _row(parts, kind.fields, plain, warnings, depth)
    if isinstance(kind, BagType):
        rows = [
            _row(_parts(part.strip(" "), "(", depth), kind.fields, plain, warnings, depth)
            for part in _parts(text, "{", depth)
        ]
        return sorted(rows, key=sort_key)
    assert isinstance(kind, MapType)
    found = {}
    for part in _parts(text, "[", depth):
        key, sign, value = part.partition("#")
        if not sign:
            raise NoValue(CAST)
        found[key] = _part(value, kind.value or BYTES, plain, warnings, depth)
    return found


def _row(
    parts: list[str], fields: tuple[Field, ...] | None, plain: ReadPlain, warnings: Warnings, depth: int
) -> tuple[Value, ...]:
    if fields is None:
        return tuple(_part(part, BYTES, plain, warnings, depth) for part in parts)
    padded = parts[: len(fields)] + [""] * (len(fields) - len(parts))
    return tuple(_part(part, field.type, plain, warnings, depth) for part, field in zip(padded, fields, strict=True))


def _part(text: str, kind: Type, plain: ReadPlain, warnings: Warnings, depth: int) -> Value:
    if not text:
        return None
    try:
        if isinstance(kind, TupleType | BagType | MapType):
            return read_nested(text, kind, plain, warnings, depth + 1)
        return plain(text, kind)
    except NoValue as trouble:
        warnings.count(trouble.kind)
        return None


def _parts(text: str, opening: str, depth: int) -> list[str]:
    """What stands between commas, inside one pair of signs."""
    if len(text) < 2 or text[0] != opening or text[-1] != _OPEN[opening]:
        raise NoValue(CAST)
    parts, start, open_signs = [], 1, [_OPEN[opening]]
    for at in range(1, len(text)):
        sign = text[at]
        if sign in _OPEN:
            open_signs.append(_OPEN[sign])
            if len(open_signs) + depth > _DEEPEST:
                raise NoValue(CAST)
        elif sign == open_signs[-1]:
            open_signs.pop()
            if not open_signs:
                if at != len(text) - 1:
                    raise NoValue(CAST)
                break
        elif sign in ")}]":
            raise NoValue(CAST)
        elif sign == "," and len(open_signs) == 1:
            parts.append(text[start:at])
            start = at + 1
    if open_signs:
        raise NoValue(CAST)
    last = text[start:-1]
    return [*parts, last] if parts or last else []


def print_nested(value: Value, kind: Type, plain: PrintPlain) -> str:
    """A tuple, bag or map as text; null inside is nothing."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        fields = kind.fields if isinstance(kind, TupleType | BagType) else None
        known = fields is not None and len(fields) == len(value)
        types = [field.type for field in fields or ()] if known else [_UNKNOWN] * len(value)
        return f"({','.join(print_nested(each, its, plain) for each, its in zip(value, types, strict=True))})"
    if isinstance(value, list):
        return "{" + ",".join(print_nested(row, kind, plain) for row in value) + "}"
    if isinstance(value, dict):
        inner = kind.value if isinstance(kind, MapType) and kind.value is not None else _UNKNOWN
        return "[" + ",".join(f"{key}#{print_nested(value[key], inner, plain)}" for key in sorted(value)) + "]"
    return plain(value, kind)


#: Where nothing is known of a value, it prints as what it is in Python.
_UNKNOWN = BYTES
