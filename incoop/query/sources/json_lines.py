"""JSON lines: an object a line, nested as its schema says.

Contract: fields are found by name; one that is missing is null. An object is a tuple or a map, a list a bag, whatever
the schema says. A line that is no object, or nested more than a hundred levels deep, is a row of nulls and counts as a
malformed record; NaN and infinities are no JSON. Where no fields are known, a row is one map.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from incoop.base.strict_json import read_json
from incoop.query.casts import caster, text_of
from incoop.query.order import canonical_bag
from incoop.query.sources.text_format import TextFormat, lines_of
from incoop.query.types import BYTES, NULL, TEXT, BagType, Field, MapType, Row, TupleType, Type, Value
from incoop.query.utf8 import decoded
from incoop.query.warnings import CAST, RECORD, NoValue, Warnings


@dataclass(frozen=True, slots=True)
class JsonLines(TextFormat):
    """An object a line."""

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        fields = self.schema.fields
        chosen = None if fields is None else [fields[at] for at in (range(len(fields)) if wanted is None else wanted)]
        rows: list[Row] = []
        for line in lines_of(chunk):
            found = _object(line)
            if found is None:
                warnings.count(RECORD)
                rows.append((None,) * (1 if chosen is None else len(chosen)))
            elif chosen is None:
                rows.append((_converted(found, MapType(), warnings),))
            else:
                rows.append(tuple(_named(found, field, warnings) for field in chosen))
        return rows

    def printed(self, rows: Iterable[Row]) -> bytes:
        fields = self.schema.fields
        lines = []
        for row in rows:
            if fields is None and len(row) == 1 and isinstance(row[0], dict):
                shown = _shown(row[0], MapType())
            else:
                shown = _shown(row, TupleType(fields))
            lines.append(json.dumps(shown, ensure_ascii=False, separators=(",", ":")) + "\n")
        return "".join(lines).encode("utf-8", "surrogatepass")


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = read_json(decoded(line))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _named(found: dict[str, Any], field: Field, warnings: Warnings) -> Value:
    return _converted(found.get(field.name or ""), field.type, warnings)


def _converted(value: Any, kind: Type, warnings: Warnings) -> Value:
    """What JSON says as a value of a type."""
    if value is None:
        return None
    try:
        return _fitting(value, kind, warnings)
    except NoValue as trouble:
        warnings.count(trouble.kind)
        return None


def _fitting(value: Any, kind: Type, warnings: Warnings) -> Value:
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else value
    if isinstance(kind, TupleType) and isinstance(value, dict):
        if kind.fields is None:
            return tuple(_converted(each, BYTES, warnings) for each in value.values())
        return tuple(_named(value, field, warnings) for field in kind.fields)
    if isinstance(kind, TupleType) and isinstance(value, list):
        types = [BYTES] * len(value) if kind.fields is None else [field.type for field in kind.fields]
        padded = value[: len(types)] + [None] * (len(types) - len(value))
        return tuple(map(_converted, padded, types, [warnings] * len(types)))
    if isinstance(kind, BagType) and isinstance(value, list):
        return canonical_bag(_bag_row(each, kind, warnings) for each in value)
    if isinstance(kind, MapType) and isinstance(value, dict):
        return {_text(key): _converted(each, kind.value or BYTES, warnings) for key, each in sorted(value.items())}
    if isinstance(value, dict | list):
        if kind not in (TEXT, BYTES):
            raise NoValue(CAST)
        value = _text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    elif isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # read as text, so that what is out of range is null, and not another number
    return caster(NULL, kind)(value, warnings)


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _bag_row(value: Any, kind: BagType, warnings: Warnings) -> Row:
    if isinstance(value, dict | list):
        found = _converted(value, kind.row, warnings)
    else:
        fields = kind.fields
        inner = BYTES if not fields else fields[0].type
        found = (_converted(value, inner, warnings), *(None,) * (len(fields or ()) - 1))
    row: Row = found
    return row


def _shown(value: Value, kind: Type) -> Any:
    """A value as JSON has it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        text = text_of(value, kind)
        return float(text) if math.isfinite(value) else text
    if isinstance(value, bytes | datetime | Decimal):
        return text_of(value, kind)
    if isinstance(value, dict):
        inner = kind.value if isinstance(kind, MapType) and kind.value else BYTES
        return {key: _shown(value[key], inner) for key in sorted(value)}
    if isinstance(value, list):
        row = TupleType(kind.fields) if isinstance(kind, BagType) else TupleType()
        return [_shown(each, row) for each in value]
    fields = kind.fields if isinstance(kind, TupleType) else None
    if fields is not None and len(fields) == len(value) and all(field.name for field in fields):
        return {field.name: _shown(each, field.type) for field, each in zip(fields, value, strict=True)}
    return [_shown(each, BYTES) for each in value]
