"""Columns of typed files as columns of ours, and back: which type is which, and what becomes of values.

Contract: `our_type` is None where there is no type of ours. Lists are bags: their order is not kept. What stands for a
value that ours cannot be (a moment beyond the year 9999) is null, counted; bytes in text that are no UTF-8 become
U+FFFD, as in files of text.

| in the file | here |
|---|---|
| booleans; integers up to 32 bits; up to 64; unsigned ones of 64 | boolean, int, long, decimal |
| floats of 16 and 32 bits; of 64; decimals up to 38 digits | float, double, decimal |
| strings; bytes of any or of fixed length | text, bytes |
| dates, timestamps (those without a zone as UTC, nanoseconds cut off) | datetime |
| structs; lists of structs, lists of other values; maps by text | tuple, bag, bag of one field, map |
| dictionaries; columns of nulls | what they hold; bytes |
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incoop.query.casts import text_of
from incoop.query.errors import QueryError
from incoop.query.expressions.batches import ColumnValues, arrow_type, to_values
from incoop.query.numbers import canonical_decimal
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
from incoop.query.utf8 import decoded
from incoop.query.warnings import CAST, Warnings

#: Microseconds since 1970 of the first and the last moment that a datetime can be.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
#: Seconds a day, of which dates count.
_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
#: Of numbers also wider ones are fit to be declared: none of their values is another then.
_WIDER = {(INT, LONG), (INT, DOUBLE), (FLOAT, DOUBLE)}


def our_type(kind: Any) -> Type | None:
    """The type of ours for one of a file."""
    is_ = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return our_type(kind.storage_type)
    if is_.is_dictionary(kind):
        return our_type(kind.value_type)
    if is_.is_struct(kind):
        fields = [Field(each.name, found) for each in _children(kind) if (found := our_type(each.type)) is not None]
        return TupleType(tuple(fields)) if fields and len(fields) == kind.num_fields else None
    if is_.is_map(kind):
        value = our_type(kind.item_type)
        return MapType(value) if value is not None and our_type(kind.key_type) == TEXT else None
    if _is_list(kind):
        row = our_type(kind.value_type)
        return None if row is None else BagType(row.fields if isinstance(row, TupleType) else (Field(None, row),))
    for kinds, found in _PLAIN:
        if any(fits(kind) for fits in kinds):
            return found
    return None


def _is_integer_of(*widths: Any) -> Any:
    return lambda kind: kind in widths


def _is_string(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


def _is_decimal(kind: Any) -> bool:
    return bool(pa.types.is_decimal(kind)) and kind.precision <= 38


def _is_bytes(kind: Any) -> bool:
    is_ = pa.types
    plain = is_.is_binary(kind) or is_.is_large_binary(kind) or is_.is_fixed_size_binary(kind) or is_.is_null(kind)
    return bool(plain) or str(kind) == "binary_view"


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


_PLAIN: tuple[tuple[tuple[Any, ...], Type], ...] = (
    ((pa.types.is_boolean,), BOOLEAN),
    ((_is_integer_of(pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()),), INT),
    ((_is_integer_of(pa.int64(), pa.uint32()),), LONG),
    ((_is_integer_of(pa.uint64()), _is_decimal), DECIMAL),
    ((pa.types.is_float16, pa.types.is_float32), FLOAT),
    ((pa.types.is_float64,), DOUBLE),
    ((_is_string,), TEXT),
    ((_is_bytes,), BYTES),
    ((pa.types.is_date, pa.types.is_timestamp), DATETIME),
)


def _children(kind: Any) -> list[Any]:
    return [kind.field(at) for at in range(kind.num_fields)]


def can_be(kind: Any, wanted: Type) -> bool:
    """Whether a column of a file is of a type of ours, or of a narrower one."""
    found = our_type(kind)
    return found is not None and (found == wanted or _shape(found) == _shape(wanted) or (found, wanted) in _WIDER)


def _shape(kind: Type) -> Any:
    """A type as far as values go: single fields of bags have no name, or any."""
    if isinstance(kind, BagType) and kind.fields is not None and len(kind.fields) == 1:
        return ("bag", _shape(kind.fields[0].type))
    if isinstance(kind, TupleType | BagType) and kind.fields is not None:
        return (type(kind).__name__, *((each.name, _shape(each.type)) for each in kind.fields))
    if isinstance(kind, MapType) and kind.value is not None:
        return ("map", _shape(kind.value))
    return kind


# ---- from files


def to_our_column(column: Any, kind: Type, warnings: Warnings) -> ColumnValues:
    """A column of a file as one of a type that it can be."""
    array = _plain(column)
    arrow = arrow_type(kind)
    if arrow is None:
        return _values(array, kind, warnings)
    if kind == DATETIME:
        return _moments(array, warnings)
    if kind == TEXT:
        return _text(array)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), arrow)
    return array.cast(arrow)


def _plain(column: Any) -> Any:
    """One array, without dictionaries and types of somebody's own."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # as some versions give it
            column = pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)
    if isinstance(column.type, pa.BaseExtensionType):
        return _plain(column.storage)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _text(array: Any) -> Any:
    whole = array.cast(pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary())
    try:
        return whole.cast(pa.string())  # which looks whether it is UTF-8
    except pa.ArrowInvalid:
        return pa.array([None if each is None else decoded(each) for each in whole.to_pylist()], pa.string())


def _moments(array: Any, warnings: Warnings) -> Any:
    kind = array.type
    if pa.types.is_date(kind):
        counts, times = array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()), 86_400 * 1_000_000
    elif kind.unit == "ns":
        counts, times = _cut_off(array.cast(pa.int64())), 1
    else:
        counts, times = array.cast(pa.int64()), _UNITS[kind.unit]
    fits = pc.and_(pc.greater_equal(counts, -(-_FIRST // times)), pc.less_equal(counts, _LAST // times))
    beyond = pc.sum(pc.invert(fits)).as_py() or 0
    warnings.count(CAST, beyond)
    if beyond:
        counts = pc.if_else(fits, counts, pa.scalar(None, pa.int64()))
    return pc.multiply(counts, times).cast(arrow_type(DATETIME))


def _cut_off(nanoseconds: Any) -> Any:
    """Whole microseconds, the earlier ones: a division alone would go towards 1970."""
    whole = pc.divide(nanoseconds, 1000)
    behind = pc.less(pc.subtract(nanoseconds, pc.multiply(whole, 1000)), 0)
    return pc.subtract(whole, behind.cast(pa.int64()))


def _values(array: Any, kind: Type, warnings: Warnings) -> list[Value]:
    """A column as values: nested ones, and decimals."""
    array = _plain(array)
    if isinstance(kind, TupleType):
        assert kind.fields is not None
        parts = [_values(array.field(at), each.type, warnings) for at, each in enumerate(kind.fields)]
        valid = array.is_valid().to_pylist()
        return [row if there else None for row, there in zip(zip(*parts, strict=True), valid, strict=True)]
    if isinstance(kind, MapType):
        assert kind.value is not None
        keys, items = _values(array.keys, TEXT, warnings), _values(array.items, kind.value, warnings)
        spans = _spans(array)
        return [
            None if span is None else dict(sorted(zip(keys[slice(*span)], items[slice(*span)], strict=True)))
            for span in spans
        ]
    if isinstance(kind, BagType):
        rows = _bag_rows(array, kind, warnings)
        return [None if span is None else canonical_bag(rows[slice(*span)]) for span in _spans(array)]
    if kind == DECIMAL:
        return [None if each is None else canonical_decimal(Decimal(each)) for each in array.to_pylist()]
    return to_values(to_our_column(array, kind, warnings), kind)


def _bag_rows(array: Any, kind: BagType, warnings: Warnings) -> list[Any]:
    assert kind.fields is not None
    inside = _plain(array.values)
    if pa.types.is_struct(inside.type):
        nothing = (None,) * len(kind.fields)
        return [row if row is not None else nothing for row in _values(inside, TupleType(kind.fields), warnings)]
    return [(each,) for each in _values(inside, kind.fields[0].type, warnings)]


def _spans(array: Any) -> list[tuple[int, int] | None]:
    """Where the values of each list begin and end among all values; None for null."""
    valid = array.is_valid().to_pylist()
    if pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        found = [((array.offset + at) * size, (array.offset + at + 1) * size) for at in range(len(array))]
    else:
        found = list(pairwise(array.offsets.to_pylist()))
    return [span if there else None for span, there in zip(found, valid, strict=True)]


# ---- to files


def file_type(kind: Type, scale: int) -> Any:
    """The type of a column that holds values of one of ours; what nothing is known of is bytes."""
    arrow = arrow_type(kind)
    if arrow is not None:
        return arrow
    if kind == DECIMAL:
        return pa.decimal128(38, scale)
    if isinstance(kind, MapType):
        return pa.map_(pa.string(), pa.binary() if kind.value is None else file_type(kind.value, scale))
    if isinstance(kind, TupleType | BagType):
        if not kind.fields:
            raise QueryError("a tuple or bag of unknown fields has no type in such a file. Declare its fields.")
        names = names_of(kind.fields)
        inside = pa.struct([(name, file_type(each.type, scale)) for name, each in zip(names, kind.fields, strict=True)])
        return inside if isinstance(kind, TupleType) else pa.list_(inside)
    return pa.binary()


def names_of(fields: Sequence[Field]) -> list[str]:
    """A name for each field: its own, with what it came through where that tells it apart, or its place."""
    names = [each.name or f"val_{at}" for at, each in enumerate(fields)]
    if len(set(names)) < len(names):
        names = [
            "::".join(each.path) if names.count(name) > 1 and each.path else name
            for name, each in zip(names, fields, strict=True)
        ]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise QueryError(f"two fields are called {name}, which such a file cannot hold. Rename one of them.")
    return names


def to_file_column(values: Sequence[Value], kind: Type, scale: int) -> Any:
    """Values as a column of a file."""
    wanted = file_type(kind, scale)
    try:
        return pa.array([_fileable(each, kind) for each in values], wanted)
    except pa.ArrowInvalid as error:
        raise QueryError(
            f"a value of type {kind} does not fit {wanted} ({error}). Cast it to text, or take another scale."
        ) from error


def _fileable(value: Value, kind: Type) -> Any:
    if value is None:
        return None
    if isinstance(kind, TupleType) and kind.fields is not None:
        padded = (*value, *(None,) * (len(kind.fields) - len(value)))
        named = zip(names_of(kind.fields), kind.fields, padded, strict=False)
        return {name: _fileable(each, field.type) for name, field, each in named}
    if isinstance(kind, BagType):
        return [_fileable(row, kind.row) for row in value]
    if isinstance(kind, MapType):
        return [(key, _fileable(value[key], kind.value or BYTES)) for key in sorted(value)]
    if arrow_type(kind) == pa.binary() and not isinstance(value, bytes):
        return text_of(value, kind).encode("utf-8", "surrogatepass")
    return value
