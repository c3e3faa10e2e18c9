"""Random types, values, rows and expressions, with the values where meanings differ."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from incoop.query.expressions import build
from incoop.query.expressions.nodes import And, Conditional, Constant, Expression, IsNull, Negation, Not, Or, Reference
from incoop.query.functions import GENERAL
from incoop.query.numbers import canonical_decimal, single
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
    NUMBERS,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
)

PLAIN = (INT, LONG, FLOAT, DOUBLE, DECIMAL, TEXT, BYTES, BOOLEAN, DATETIME)

INTS = st.one_of(
    st.integers(-3, 3), st.sampled_from([-(2**31), 2**31 - 1, 2**31 - 2]), st.integers(-(2**31), 2**31 - 1)
)
LONGS = st.one_of(
    st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, 2**31]), st.integers(-(2**63), 2**63 - 1)
)
DOUBLES = st.one_of(
    st.integers(-4, 4).map(float),
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 0.1, 1e300, -1e300, 5e-324, 2.0**31, 2.0**63, 0.5, 2.5]),
    st.floats(),
)
FLOATS = DOUBLES.map(single)
#: Text that reads as a number, or nearly.
NUMBERS_WRITTEN = (
    "0 1 -1 +5 641L 1.76f 2d 1e3 1e999 -1e999 0x1F 1_0 .5 5. . - e 1e NaN nan inf -Infinity infinity nan(1) 1e-400 "
    "00012 0x1p3 9223372036854775808 2147483648 2147483647.9 -2147483648.9 16777217 0.1 3.4028235677973366e38 "
    "1.00000005960464477540 TRUE false true 2024-02-29T12:30:00.5+02:00 2024-02-29 2024-02-30 (1,2) [a#1] {(1)}"
)
NUMBER_TEXTS = st.sampled_from(
    [*NUMBERS_WRITTEN.split(), "", " 1", "1 ", "\t2", "1\n", " ", "1\0", "1 2", "\u0661"],
)
TEXTS = st.one_of(
    NUMBER_TEXTS,
    st.sampled_from(["", "a", "b", "ab", "aß", "ÄÖ", "\u2028", "x\0y", "😀", " a ", "\n", "(", "{(a)}", "[k#v]"]),
    st.text(st.characters(codec="utf-8"), max_size=5),
)
BYTE_STRINGS = st.one_of(
    TEXTS.map(lambda text: text.encode()), st.binary(max_size=4), st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80"])
)
DECIMALS = st.one_of(
    st.integers(-5, 5).map(Decimal),
    st.decimals(-1000, 1000, places=3),
    st.sampled_from([Decimal("1e38"), Decimal("1e-30")]),
).map(canonical_decimal)
DATETIMES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda each: each.replace(tzinfo=UTC))

OF_PLAIN: dict[Type, st.SearchStrategy[Any]] = {
    INT: INTS,
    LONG: LONGS,
    FLOAT: FLOATS,
    DOUBLE: DOUBLES,
    DECIMAL: DECIMALS,
    TEXT: TEXTS,
    BYTES: BYTE_STRINGS,
    BOOLEAN: st.booleans(),
    DATETIME: DATETIMES,
}


def values_of(kind: Type, nulls: bool = True) -> st.SearchStrategy[Any]:
    """Values of a type; a fifth of them null."""
    if isinstance(kind, TupleType):
        found: st.SearchStrategy[Any] = st.tuples(*(values_of(field.type) for field in kind.fields or ()))
    elif isinstance(kind, BagType):
        found = st.lists(st.tuples(*(values_of(field.type) for field in kind.fields or ())), max_size=3).map(
            canonical_bag
        )
    elif isinstance(kind, MapType):
        found = st.dictionaries(st.sampled_from("abc"), values_of(kind.value or BYTES), max_size=3)
    else:
        found = OF_PLAIN[kind]
    return st.one_of(st.none(), found, found, found, found) if nulls else found


def plain_types() -> st.SearchStrategy[Type]:
    return st.sampled_from(PLAIN)


def types() -> st.SearchStrategy[Type]:
    nested = st.sampled_from(
        [
            TupleType((Field("x", INT), Field("y", TEXT))),
            BagType((Field("x", INT), Field("y", DOUBLE))),
            MapType(INT),
        ]
    )
    return st.one_of(plain_types(), plain_types(), plain_types(), nested)


#: Any value at all, of any kind and depth.
ANY_VALUE = st.recursive(
    st.one_of(st.none(), *OF_PLAIN.values()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.lists(st.lists(inner, max_size=2).map(tuple), max_size=3).map(canonical_bag),
        st.dictionaries(st.text(st.sampled_from("ab\0"), max_size=2), inner, max_size=2),
    ),
    max_leaves=6,
)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 6) -> tuple[tuple[Type, ...], list[tuple[Any, ...]]]:
    """Types of columns, and rows of them."""
    kinds = tuple(draw(st.lists(types(), min_size=1, max_size=4)))
    rows = draw(st.lists(st.tuples(*map(values_of, kinds)), max_size=max_rows))
    return kinds, rows


#: Functions by what they give, with what they take.
CALLS: dict[Type, list[tuple[str, tuple[Type, ...]]]] = {
    TEXT: [
        ("concat", (TEXT, TEXT)),
        ("upper", (TEXT,)),
        ("lower", (TEXT,)),
        ("trim", (TEXT,)),
        ("substring", (TEXT, INT, INT)),
        ("replace", (TEXT, TEXT, TEXT)),
        ("coalesce", (TEXT, TEXT)),
    ],
    INT: [("length", (TEXT,)), ("length", (BYTES,)), ("index_of", (TEXT, TEXT)), ("year", (DATETIME,))],
    LONG: [("abs", (LONG,)), ("round", (DOUBLE,)), ("size", (TEXT,)), ("seconds_between", (DATETIME, DATETIME))],
    DOUBLE: [
        ("sqrt", (DOUBLE,)),
        ("floor", (DOUBLE,)),
        ("ceil", (DOUBLE,)),
        ("exp", (DOUBLE,)),
        ("power", (DOUBLE, DOUBLE)),
    ],
    BOOLEAN: [("starts_with", (TEXT, TEXT)), ("contains", (TEXT, TEXT))],
    BYTES: [("concat", (BYTES, BYTES))],
    DATETIME: [("from_milliseconds", (LONG,))],
}


@st.composite
def expressions(draw: st.DrawFn, kinds: tuple[Type, ...], wanted: Type, depth: int = 3) -> Expression:
    """An expression of a type, over rows of these types."""

    def part(kind: Type) -> Expression:
        return draw(expressions(kinds, kind, depth - 1))

    ways = ["constant"]
    places = [at for at, kind in enumerate(kinds) if kind == wanted]
    ways += ["field"] * (4 if places else 0)
    if depth > 0:
        ways += ["cast", "cast", "choice"]
        ways += ["arithmetic"] * 3 + ["negation"] if wanted in NUMBERS else []
        ways += ["comparison", "comparison", "and", "or", "not", "null", "in"] if wanted == BOOLEAN else []
        ways += ["call"] * 2 if wanted in CALLS else []
    way = draw(st.sampled_from(ways))
    if way == "field":
        return Reference(draw(st.sampled_from(places)), wanted)
    if way == "cast":
        from incoop.query.casts import can_cast

        sources = [kind for kind in (*PLAIN, *kinds) if can_cast(kind, wanted)]
        return build.cast(part(draw(st.sampled_from(sources))), wanted)
    if way == "choice":
        return Conditional(part(BOOLEAN), part(wanted), part(wanted), draw(st.booleans()))
    if way == "arithmetic":
        return build.arithmetic(draw(st.sampled_from("+-*/%")), part(wanted), part(wanted))  # type: ignore[arg-type]
    if way == "negation":
        return Negation(part(wanted))
    if way == "comparison":
        kind = draw(st.sampled_from((*PLAIN, *kinds)))
        return build.compare(draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), part(kind), part(kind))  # type: ignore[arg-type]
    if way in ("and", "or"):
        return (And if way == "and" else Or)(part(BOOLEAN), part(BOOLEAN))
    if way == "not":
        return Not(part(BOOLEAN))
    if way == "null":
        return IsNull(part(draw(st.sampled_from((*PLAIN, *kinds)))))
    if way == "in":
        kind = draw(plain_types())
        options = draw(st.lists(values_of(kind), min_size=1, max_size=3))
        return build.is_in(part(kind), [Constant(value, kind) for value in options])
    if way == "call":
        name, takes = draw(st.sampled_from(CALLS[wanted]))
        return build.call(GENERAL, name, *map(part, takes))
    return Constant(draw(values_of(wanted)), wanted)
