"""Pig's functions that make and look into tuples, bags and maps.

Contract: bags that a function makes of its arguments or of a text are in that order, those that come of comparing
bags in the canonical one. Texts are made of values as Pig prints these.
"""

from __future__ import annotations

import heapq
import re

from incoop.fronts.pig.functions.aggregates import bag_of, top, top_descends
from incoop.fronts.pig.functions.java_regex import BadPattern, compiled
from incoop.fronts.pig.functions.request import Maker, Request
from incoop.query.casts import text_of
from incoop.query.errors import QueryError
from incoop.query.expressions.nodes import Call, Expression
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Function, Rule, Signature, implicit
from incoop.query.order import Direction, bag_key, canonical_bag, encoded_keys, sort_key, unique
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    INT,
    LONG,
    NULL,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
    Value,
)
from incoop.query.warnings import CAST, RANGE, NoValue


def _size_rule(types: tuple[Type, ...]) -> Signature | None:
    return Signature(types, LONG) if len(types) == 1 else None


def _size(value: Value) -> int:
    """How many parts it has; a number is one."""
    return len(value) if isinstance(value, str | bytes | tuple | list | dict) else 1


def _emptiable(types: tuple[Type, ...]) -> Signature | None:
    if len(types) != 1:
        return None
    kind = BagType() if types[0] in (BYTES, NULL) else types[0]
    return Signature((kind,), BOOLEAN) if isinstance(kind, BagType | MapType) else None


def _bag_rule(types: tuple[Type, ...]) -> Signature | None:
    if not types:
        return Signature((), BagType())
    return GENERAL.functions["make_bag"].rule(types)


def _bag(*values: Value) -> Value:
    return [each if isinstance(each, tuple) else (each,) for each in values]


def _map_rule(types: tuple[Type, ...]) -> Signature | None:
    found = GENERAL.functions["make_map"].rule(types)
    if found is None or not types:
        return None
    assert isinstance(found.result, MapType)
    return Signature(found.arguments, MapType(_known(found.result.value)))


def _known(kind: Type | None) -> Type | None:
    """The type of a map's values, where it says something."""
    return None if kind in (BYTES, NULL) else kind


def _pairs_rule(types: tuple[Type, ...]) -> Signature | None:
    """A bag of pairs."""
    if len(types) != 1 or not isinstance(types[0], BagType):
        return None
    fields = types[0].fields
    if fields is not None and (len(fields) != 2 or not implicit(fields[0].type, TEXT)):
        return None
    return Signature(types, MapType(None if fields is None else _known(fields[1].type)))


def _map_of_pairs(bag: list[tuple[Value, ...]]) -> Value:
    """Pairs whose key is null are left out; of equal keys the last counts."""
    if any(len(row) != 2 for row in bag):
        raise NoValue(CAST)
    return {text_of(key, BYTES): value for key, value in bag if key is not None}


def _bags_or_two(types: tuple[Type, ...]) -> Signature | None:
    if len(types) != 2:
        return None
    known = [each for each in types if isinstance(each, BagType)]
    if known and all(isinstance(each, BagType) or each in (BYTES, NULL) for each in types):
        return Signature(tuple(each if isinstance(each, BagType) else BagType() for each in types), known[0])
    return None if known else Signature(types, BagType())


def _difference(one: Value, other: Value) -> Value:
    """Rows of either bag that the other does not have, each once; of two values that differ, both."""
    if isinstance(one, list) and isinstance(other, list):
        return canonical_bag(unique([*_without(one, other), *_without(other, one)]))
    return [] if sort_key(one) == sort_key(other) else [(one,), (other,)]


def _two_bags(types: tuple[Type, ...]) -> Signature | None:
    found = _bags_or_two(types)
    return found if found is not None and all(isinstance(each, BagType) for each in found.arguments) else None


def _without(one: list[Value], other: list[Value]) -> list[Value]:
    there = {bag_key(row)[0] for row in other}
    return [row for row in one if bag_key(row)[0] not in there]


def _subtracted(one: Value, other: Value) -> Value:
    """Rows of the one that the other does not have, each once; null is an empty bag."""
    return canonical_bag(unique(_without(one or [], other or [])))


def _map_only(result: Type) -> Rule:
    def rule(types: tuple[Type, ...]) -> Signature | None:
        kind = MapType() if types in ((BYTES,), (NULL,)) else types[0] if len(types) == 1 else None
        return Signature((kind,), result) if isinstance(kind, MapType) else None

    return rule


def _values_rule(types: tuple[Type, ...]) -> Signature | None:
    found = _map_only(BagType())(types)
    if found is None:
        return None
    return Signature(found.arguments, BagType((Field(None, _inner(found)),)))


def _inner(found: Signature) -> Type:
    """What the values of the map are that a function takes."""
    (kind,) = found.arguments
    assert isinstance(kind, MapType)
    return kind.value or BYTES


FUNCTIONS = (
    Function("SIZE", _size_rule, _size, "one value"),
    Function("IsEmpty", _emptiable, lambda value: not value, "a bag or a map"),
    Function(
        "TOTUPLE", lambda types: GENERAL.functions["make_tuple"].rule(types), lambda *values: values, takes_nulls=True
    ),
    Function("TOBAG", _bag_rule, _bag, takes_nulls=True),
    Function(
        "TOMAP",
        _map_rule,
        GENERAL.functions["make_map"].row,
        "keys of type chararray, each with a value, or a bag of pairs",
        takes_nulls=True,
    ),
    Function("DIFF", _bags_or_two, _difference, "two bags, or two other values"),
    Function("SUBTRACT", _two_bags, _subtracted, "two bags", takes_nulls=True),
    Function(
        "KEYSET", _map_only(BagType((Field(None, TEXT),))), lambda value: [(key,) for key in sorted(value)], "a map"
    ),
    Function("VALUELIST", _values_rule, lambda value: canonical_bag((each,) for each in value.values()), "a map"),
    Function(
        "VALUESET", _values_rule, lambda value: unique(canonical_bag((each,) for each in value.values())), "a map"
    ),
    Function("ARITY", lambda types: Signature(types, INT), lambda *values: len(values), takes_nulls=True),
)
_BY_NAME = {each.name: each for each in FUNCTIONS}


def _named_tuple(request: Request) -> Expression:
    """TOTUPLE: its fields are called as the arguments are."""
    made = TupleType(request.fields)
    base = _BY_NAME["TOTUPLE"]
    return request.of(Function(base.name, lambda types: Signature(types, made), base.row, takes_nulls=True))


def _named_bag(request: Request) -> Expression:
    """TOBAG: where its only field has one name in all arguments, it keeps it."""
    base = _BY_NAME["TOBAG"]
    found = base.signature(request.types, request.position).result
    fields = request.fields
    if not isinstance(found, BagType) or found.fields is None or isinstance(fields[0].type, TupleType):
        return request.of(base)
    name = fields[0].name if len({each.name for each in fields}) == 1 else None
    named = BagType((Field(name, fields[0].type),))
    return request.of(Function(base.name, lambda types: Signature(types, named), base.row, takes_nulls=True))


def _map_maker(request: Request) -> Expression:
    if len(request.arguments) != 1:
        return request.of(_BY_NAME["TOMAP"])
    takes = "keys of type chararray, each with a value, or a bag of pairs"
    return request.of(Function("TOMAP of a bag", _pairs_rule, _map_of_pairs, takes, may_fail=True))


def _top(request: Request) -> Expression:
    found = top(request)
    if found is not None:
        return found
    kind = bag_of(request, 2).type
    direction = (Direction(top_descends(request)),)

    def rule(types: tuple[Type, ...]) -> Signature | None:
        fits = len(types) == 3 and implicit(types[0], INT) and implicit(types[1], INT)
        return Signature((INT, INT, kind), kind) if fits else None

    def row(count: int, column: int, bag: list[tuple[Value, ...]]) -> Value:
        if count < 0 or column < 0:
            raise NoValue(RANGE)

        def place(each: tuple[Value, ...]) -> tuple[bytes, object]:
            return encoded_keys((each[column] if column < len(each) else None,), direction), bag_key(each)

        return heapq.nsmallest(count, bag, key=place)

    name = f"TOP {'DESC' if top_descends(request) else 'ASC'}"
    return request.of(Function(name, rule, row, "how many, the number of a column, and a bag", may_fail=True))


def _shown(values: list[Value], types: list[Type]) -> list[str]:
    return ["null" if each is None else text_of(each, kind) for each, kind in zip(values, types, strict=True)]


def _joined(request: Request) -> Expression:
    """BagToString: values of all rows with a sign between them, each as Pig prints it; a null is the word."""
    if len(request.arguments) not in (1, 2):
        raise request.mismatch("a bag, and the sign between values")
    bag = bag_of(request, 0)
    assert isinstance(bag.type, BagType)
    kinds = [field.type for field in bag.type.fields or ()]

    def rule(types: tuple[Type, ...]) -> Signature | None:
        return (
            Signature((bag.type, TEXT)[: len(types)], TEXT) if all(implicit(each, TEXT) for each in types[1:]) else None
        )

    def row(value: list[tuple[Value, ...]], sign: str = "_") -> str:
        parts: list[str] = []
        for each in value:
            parts += _shown(list(each), kinds[: len(each)] + [BYTES] * (len(each) - len(kinds)))
        # As Pig does: no sign while nothing stands there yet.
        text = ""
        for part in parts:
            text += sign + part if text else part
        return text

    name = f"BagToString [{','.join(map(str, kinds))}]"
    return request.of(Function(name, rule, row, "a bag, and the sign between values"))


def _flat(request: Request) -> Expression:
    """BagToTuple: the fields of all rows, side by side."""
    if len(request.arguments) != 1:
        raise request.mismatch("one bag")
    kind = bag_of(request, 0).type
    function = Function(
        "BagToTuple",
        lambda types: Signature((kind,), TupleType()),
        lambda bag: tuple(each for row in bag for each in row),
        "one bag",
    )
    return request.of(function)


def _inverse(request: Request) -> Expression:
    """INVERSEMAP: values as text, each with the bag of its keys."""
    found = _map_only(MapType(BagType((Field(None, TEXT),))))(request.types)
    if found is None:
        raise request.mismatch("a map")
    inner = _inner(found)
    if isinstance(inner, TupleType | BagType):
        raise request.mismatch("a map of values that are no tuples or bags")

    def row(value: dict[str, Value]) -> Value:
        turned: dict[str, list[tuple[str]]] = {}
        for key in sorted(value):
            if value[key] is not None:
                turned.setdefault(text_of(value[key], inner), []).append((key,))
        return dict(sorted(turned.items()))

    return request.of(Function(f"INVERSEMAP {inner}", lambda types: found, row, "a map"))


def _plucked(request: Request) -> Expression:
    """PluckTuple('prefix'): the arguments whose names begin so, or match it; with 'false' behind it, the others."""
    if not request.constructor:
        raise QueryError(
            "PluckTuple needs the beginning of names: write DEFINE pluck PluckTuple('a::'), then pluck(*).",
            request.position,
        )
    prefix, wanted = request.constructor[0], (*request.constructor, "true", "true")[1].lower() == "true"
    try:
        pattern: re.Pattern[str] = compiled(prefix)
    except BadPattern as trouble:
        raise QueryError(trouble.message, request.position) from None
    chosen = [
        (argument, field)
        for argument, field in zip(request.arguments, request.fields, strict=True)
        if (_path(field).startswith(prefix) or pattern.fullmatch(_path(field)) is not None) is wanted
    ]
    result = TupleType(tuple(field for _, field in chosen))
    base = _BY_NAME["TOTUPLE"]
    function = Function(base.name, lambda types: Signature(types, result), base.row, takes_nulls=True)
    return Call(function, tuple(argument for argument, _ in chosen), position=request.position)


def _path(field: Field) -> str:
    return "::".join(field.path)


MAKERS: dict[str, Maker] = {
    "TOTUPLE": _named_tuple,
    "TOBAG": _named_bag,
    "TOMAP": _map_maker,
    "TOP": _top,
    "BagToString": _joined,
    "BagToTuple": _flat,
    "INVERSEMAP": _inverse,
    "PluckTuple": _plucked,
}
