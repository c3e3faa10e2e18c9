"""BinStorage: rows with the types of their values, in a layout of our own.

Contract: what is printed reads as the same values, whatever they are, with or without a schema. A record is a line of
JSON; what JSON has no word for is an object of one key. A line that is none is a row of nulls and counts as a
malformed record: files that Hadoop's BinStorage wrote are such.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from incoop.query.casts import can_cast, caster
from incoop.query.order import microseconds, moment_of
from incoop.query.sources.text_format import TextFormat, lines_of
from incoop.query.types import NULL, Row, Type, Value
from incoop.query.utf8 import decoded
from incoop.query.warnings import RECORD, NoValue, Warnings


@dataclass(frozen=True, slots=True)
class TypedLines(TextFormat):
    """A row a line."""

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        fields = self.schema.fields
        rows: list[Row] = []
        for line in lines_of(chunk):
            try:
                found = json.loads(decoded(line))
                row = tuple(map(_value, found)) if isinstance(found, list) else None
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, InvalidOperation):
                row = None
            if row is None:
                warnings.count(RECORD)
                row = ()
            width = len(row) if fields is None else len(fields)
            chosen = range(width) if wanted is None else wanted
            there = [row[at] if at < len(row) else None for at in chosen]
            if fields is not None:
                there = [_fitting(value, fields[at].type, warnings) for at, value in zip(chosen, there, strict=True)]
            rows.append(tuple(there))
        return rows

    def printed(self, rows: Iterable[Row]) -> bytes:
        return "".join(
            json.dumps([_shown(each) for each in row], separators=(",", ":")) + "\n" for row in rows
        ).encode()


def _fitting(value: Value, kind: Type, warnings: Warnings) -> Value:
    if value is None:
        return None
    try:
        if not can_cast(NULL, kind):
            return None
        return caster(NULL, kind)(value, warnings)
    except NoValue as trouble:
        warnings.count(trouble.kind)
        return None


def _shown(value: Value) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"f": value.hex() if math.isfinite(value) else repr(value)}
    if isinstance(value, bytes):
        return {"x": value.hex()}
    if isinstance(value, Decimal):
        return {"d": str(value)}
    if isinstance(value, datetime):
        return {"t": microseconds(value)}
    if isinstance(value, tuple):
        return {"r": [_shown(each) for each in value]}
    if isinstance(value, list):
        return {"g": [[_shown(each) for each in row] for row in value]}
    return {"m": {key: _shown(value[key]) for key in sorted(value)}}


def _value(shown: Any) -> Value:
    if isinstance(shown, str):
        return shown.encode("utf-8", "replace").decode()
    if shown is None or isinstance(shown, bool):
        return shown
    if isinstance(shown, int):
        if not -(2**63) <= shown < 2**63:
            raise ValueError(shown)
        return shown
    ((kind, inner),) = shown.items()
    match kind:
        case "f":
            return float(inner) if inner in ("nan", "inf", "-inf") else float.fromhex(inner)
        case "x":
            return bytes.fromhex(inner)
        case "d":
            return Decimal(inner)
        case "t":
            return moment_of(inner)
        case "r":
            return tuple(map(_value, inner))
        case "g":
            return [tuple(map(_value, row)) for row in inner]
        case "m":
            return {str(_value(key)): _value(each) for key, each in inner.items()}
    raise ValueError(kind)
