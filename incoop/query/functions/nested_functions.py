"""Functions that make tuples, bags and maps, look into them, and choose between values."""

from __future__ import annotations

from functools import reduce
from typing import Any

from incoop.query.casts import text_of
from incoop.query.functions.function import Function, Signature, implicit
from incoop.query.order import canonical_bag, encoded, sort_key
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    LONG,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
    Value,
    common_type,
    fields_of,
)


def _tuple_rule(types: tuple[Type, ...]) -> Signature | None:
    return Signature(types, TupleType(fields_of(*types)))


def _bag_rule(types: tuple[Type, ...]) -> Signature | None:
    """Each argument a row: a tuple as it is, anything else as a tuple of one."""
    rows = [each if isinstance(each, TupleType) else TupleType(fields_of(each)) for each in types]
    same = bool(rows) and all(each == rows[0] for each in rows)
    return Signature(types, BagType(rows[0].fields if same else None))


def _bag(*values: Value) -> Value:
    return canonical_bag(each if isinstance(each, tuple) else (each,) for each in values)


def _map_rule(types: tuple[Type, ...]) -> Signature | None:
    if len(types) % 2 or not all(implicit(each, TEXT) for each in types[::2]):
        return None
    values = set(types[1::2])
    kind = values.pop() if len(values) == 1 else None
    return Signature(tuple(TEXT if at % 2 == 0 else each for at, each in enumerate(types)), MapType(kind))


def _map(*parts: Value) -> Value:
    """Pairs whose key is null are left out; of equal keys the last counts."""
    return {key: value for key, value in zip(parts[::2], parts[1::2], strict=True) if key is not None}


def _sized(types: tuple[Type, ...]) -> Signature | None:
    if len(types) == 1 and (isinstance(types[0], TupleType | BagType | MapType) or types[0] in (TEXT, BYTES)):
        return Signature(types, LONG)
    return None


def _emptiable(types: tuple[Type, ...]) -> Signature | None:
    return Signature(types, BOOLEAN) if len(types) == 1 and isinstance(types[0], BagType | MapType) else None


def _one_type(types: tuple[Type, ...]) -> Signature | None:
    """All arguments of one type, the widest."""
    if not types:
        return None
    kind: Type | None = types[0]
    for each in types[1:]:
        kind = None if kind is None else common_type(kind, each)
    return None if kind is None else Signature((kind,) * len(types), kind)


def _same_two(types: tuple[Type, ...]) -> Signature | None:
    return _one_type(types) if len(types) == 2 else None


def _of_bags(types: tuple[Type, ...]) -> Signature | None:
    if not types or not all(isinstance(each, BagType) for each in types):
        return None
    same = all(each == types[0] for each in types)
    return Signature(types, types[0] if same else BagType())


def _two_bags(types: tuple[Type, ...]) -> Signature | None:
    return _of_bags(types) if len(types) == 2 else None


def _without(one: Value, other: Value) -> Value:
    """Rows of the one that the other does not have, as often as they occur."""
    there = {encoded(row) for row in other}
    return [row for row in one if encoded(row) not in there]


def _difference(one: Value, other: Value) -> Value:
    """Rows of either that the other does not have."""
    return canonical_bag([*_without(one, other), *_without(other, one)])


def _keys_rule(types: tuple[Type, ...]) -> Signature | None:
    return (
        Signature(types, BagType((Field("key", TEXT),))) if len(types) == 1 and isinstance(types[0], MapType) else None
    )


def _values_rule(types: tuple[Type, ...]) -> Signature | None:
    if len(types) != 1 or not isinstance(types[0], MapType):
        return None
    return Signature(types, BagType(None if types[0].value is None else (Field("value", types[0].value),)))


def _text_rule(types: tuple[Type, ...]) -> Signature | None:
    if (
        len(types) in (1, 2)
        and isinstance(types[0], BagType | TupleType)
        and all(implicit(each, TEXT) for each in types[1:])
    ):
        return Signature((types[0], *(TEXT for _ in types[1:])), TEXT)
    return None


def _joined(values: Value, sign: str = "_") -> str:
    """Values of a tuple, or of all rows of a bag, with a sign between them."""
    flat = [each for row in values for each in row] if isinstance(values, list) else values
    return sign.join("" if each is None else text_of(each, BYTES) for each in flat)


def _extreme(largest: bool) -> Any:
    def row(*values: Value) -> Value:
        there = [each for each in values if each is not None]
        choose = max if largest else min
        return reduce(lambda one, other: choose(one, other, key=sort_key), there) if there else None

    return row


FUNCTIONS = (
    Function("make_tuple", _tuple_rule, lambda *values: values, takes_nulls=True),
    Function("make_bag", _bag_rule, _bag, takes_nulls=True),
    Function("make_map", _map_rule, _map, "keys of type text, each with a value", takes_nulls=True),
    Function("size", _sized, len, "a tuple, bag, map or text"),
    Function("is_empty", _emptiable, lambda value: not value, "a bag or a map"),
    Function("map_keys", _keys_rule, lambda value: [(key,) for key in sorted(value)], "a map"),
    Function("map_values", _values_rule, lambda value: canonical_bag((each,) for each in value.values()), "a map"),
    Function("bag_union", _of_bags, lambda *bags: canonical_bag(row for bag in bags for row in bag), "bags"),
    Function("bag_difference", _two_bags, _difference, "two bags"),
    Function("bag_without", _two_bags, _without, "two bags"),
    Function("joined", _text_rule, _joined, "a bag or a tuple, and the sign between values"),
    Function(
        "coalesce",
        _one_type,
        lambda *values: next((each for each in values if each is not None), None),
        "values of one type",
        takes_nulls=True,
    ),
    Function(
        "null_if",
        _same_two,
        lambda one, other: None if other is not None and one is not None and sort_key(one) == sort_key(other) else one,
        "two values of one type",
        takes_nulls=True,
    ),
    Function("least", _one_type, _extreme(False), "values of one type", takes_nulls=True),
    Function("greatest", _one_type, _extreme(True), "values of one type", takes_nulls=True),
)
