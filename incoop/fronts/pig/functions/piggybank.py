"""Functions of the piggybank that scripts use, by their full names.

Contract: most are builtins under another name; the others do what the piggybank's do, and where these end a job
because of one value, that value is null here, counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from incoop.fronts.pig.functions.date_patterns import date_pattern
from incoop.fronts.pig.functions.java_regex import BadPattern, compiled, java_replace
from incoop.fronts.pig.functions.numbers import same_as
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Function, Rule, Signature, fixed, implicit
from incoop.query.moments import moment_text, read_moment
from incoop.query.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, read_double
from incoop.query.order import encoded, microseconds
from incoop.query.types import BOOLEAN, BYTES, DOUBLE, INT, LONG, NULL, TEXT, MapType, Type, Value
from incoop.query.warnings import CAST, RANGE, NoValue

_BANK = "org.apache.pig.piggybank.evaluation."
#: Builtins under another name: the piggybank had them first.
ALIASES = {
    **{
        f"{_BANK}string.{name}": builtin
        for name, builtin in {
            "UPPER": "UPPER", "LOWER": "LOWER", "REPLACE": "REPLACE", "SUBSTRING": "SUBSTRING", "INDEXOF": "INDEXOF",
            "LASTINDEXOF": "LAST_INDEX_OF", "LcFirst": "LCFIRST", "UcFirst": "UCFIRST", "Trim": "TRIM",
            "Split": "STRSPLIT", "RegexExtract": "REGEX_EXTRACT", "RegexExtractAll": "REGEX_EXTRACT_ALL",
        }.items()
    },
    **{
        f"{_BANK}math.{name}": name
        for name in ("ABS", "ACOS", "ASIN", "ATAN", "CBRT", "CEIL", "COS", "COSH", "EXP", "FLOOR", "LOG", "LOG10",
                     "ROUND", "SIN", "SINH", "SQRT", "TAN", "TANH", "RANDOM")
    },
    **{f"{_BANK}math.{kind}{name}": name.upper() for kind in ("Int", "Long", "Float", "Double") for name in ("Abs",)},
    **{f"{_BANK}math.{kind}Round": "ROUND" for kind in ("Float", "Double")},
    f"{_BANK}util.ToBag": "TOBAG",
    f"{_BANK}util.ToTuple": "TOTUPLE",
    f"{_BANK}util.Top": "TOP",
    f"{_BANK}stats.COR": "COR",
    f"{_BANK}stats.COV": "COV",
}  # fmt: skip


def _length(text: str) -> int:
    return len(text)


def _soft(row: Callable[..., Value]) -> Callable[..., Value]:
    def tried(*values: Value) -> Value:
        try:
            return row(*values)
        except (BadPattern, ValueError, OverflowError):
            raise NoValue(CAST) from None

    return tried


def _replaced_all(text: str, pairs: dict[str, Value]) -> str:
    """REPLACE_MULTI: each key, a regular expression, by its value; keys in their order as texts."""
    for pattern in sorted(pairs):
        text = java_replace(text, pattern, str(pairs[pattern]))
    return text


def _stuffed(text: str, start: int, count: int, new: str) -> str:
    if not 0 <= start < len(text) or count < 0:
        raise NoValue(RANGE)
    return text[:start] + new + text[start + count :] if count else text


def _fnv(text: str, modulus: int = 0) -> int:
    """The hash that the piggybank calls FNV: of signed bytes, in 32 bits, its absolute value."""
    value = 33554467
    for byte in text.encode("utf-8", "surrogatepass"):
        value = (value * 0x01000193) & 0xFFFFFFFF
        value ^= (byte - 256 if byte > 127 else byte) & 0xFFFFFFFF
    found = abs(value - (1 << 32) if value >= 1 << 31 else value)
    return found % modulus if modulus > 0 else found


def _whole(low: int, high: int) -> Callable[[Value], bool]:
    def row(text: Value) -> bool:
        found = compiled(r"[+-]?\d+").fullmatch(text or "")
        return found is not None and len(text) < 30 and low <= int(text) <= high

    return row


def _is_real(text: Value) -> bool:
    try:
        return bool(text) and read_double(text) is not None
    except NoValue:
        return False


def _decoded(*values: Value) -> Value:
    """Decode(value, key, text, …, otherwise)."""
    if values[0] is None:
        return None
    wanted = encoded(values[0])
    for at in range(1, len(values) - 1, 2):
        if values[at] is not None and encoded(values[at]) == wanted:
            return values[at + 1]
    return values[-1]


def _decode_rule(types: tuple[Type, ...]) -> Signature | None:
    """An even number: a value, pairs of one like it and a text, and a text for all else."""
    if len(types) < 4 or len(types) % 2:
        return None
    keys, texts = {types[0], *types[1:-1:2]}, (*types[2:-1:2], types[-1])
    if len(keys - {NULL}) > 1 or not all(implicit(each, TEXT) for each in texts):
        return None
    wanted = [*types]
    for at in (*range(2, len(types) - 1, 2), len(types) - 1):
        wanted[at] = TEXT
    return Signature(tuple(wanted), TEXT)


def _bin_rule(types: tuple[Type, ...]) -> Signature | None:
    """Bin(number, text, limit, text, limit, …, text)."""
    if len(types) < 4 or len(types) % 2:
        return None
    wanted = tuple(DOUBLE if at % 2 == 0 else TEXT for at in range(len(types)))
    return Signature(wanted, TEXT) if all(map(implicit, types, wanted)) else None


def _bin(*values: Value) -> Value:
    if values[0] is None:
        return None
    for at in range(1, len(values) - 1, 2):
        if values[at + 1] is not None and values[0] <= values[at + 1]:
            return values[at]
    return values[-1]


def _bincond_rule(types: tuple[Type, ...]) -> Signature | None:
    """BinCond(condition, text, …, text)."""
    if len(types) < 3 or len(types) % 2 == 0:
        return None
    wanted = tuple(BOOLEAN if at % 2 == 0 and at < len(types) - 1 else TEXT for at in range(len(types)))
    fits = all(
        one == other if other == BOOLEAN else implicit(one, other) for one, other in zip(types, wanted, strict=True)
    )
    return Signature(wanted, TEXT) if fits else None


def _bincond(*values: Value) -> Value:
    if values[0] is None:
        return None
    for at in range(0, len(values) - 1, 2):
        if values[at]:
            return values[at + 1]
    return values[-1]


def _day(text: str) -> datetime:
    return date_pattern("yyyyMMdd").read(text)


def _days_between(one: str, other: str) -> int:
    return _towards_zero(microseconds(_day(one)) - microseconds(_day(other)), 86400 * 10**6)


def _towards_zero(count: int, unit: int) -> int:
    return count // unit if count >= 0 else -(-count // unit)


def _iso(change: Callable[[datetime], datetime]) -> Callable[[str], str]:
    return lambda text: moment_text(change(read_moment(text)))


def _unit(name: str) -> Callable[[datetime], datetime]:
    return lambda moment: GENERAL.functions["truncated_to"].row(moment, name)


def _week(moment: datetime) -> datetime:
    day: datetime = GENERAL.functions["truncated_to"].row(moment, "day")
    return day - timedelta(days=day.weekday())


def _between(unit: str) -> Function:
    general = GENERAL.functions[f"{unit.lower()}_between"]
    return Function(
        f"{_BANK}datetime.diff.ISO{unit}Between",
        fixed(TEXT, TEXT, result=LONG),
        lambda one, other: general.row(read_moment(one), read_moment(other)),
        "two times as ISO text",
        may_fail=True,
    )


def _of(name: str, rule: Rule, row: Callable[..., Value], takes: str, nulls: bool = False) -> Function:
    if nulls:
        return Function(_BANK + name, rule, row, takes, takes_nulls=True)
    return Function(_BANK + name, rule, _soft(row), takes, may_fail=True)


def _two(name: str, row: Callable[[float, float], float]) -> Function:
    return Function(f"{_BANK}math.{name}", fixed(DOUBLE, DOUBLE, result=DOUBLE), row, "two numbers")


def _one(name: str, row: Callable[[float], float]) -> Function:
    return Function(f"{_BANK}math.{name}", fixed(DOUBLE, result=DOUBLE), row, "a number")


def _larger(largest: bool) -> Callable[[Value, Value], Value]:
    """Of two numbers; null does not count."""

    def row(one: Value, other: Value) -> Value:
        there = [each for each in (one, other) if each is not None]
        if any(each != each for each in there):
            return math.nan
        return (max if largest else min)(there) if there else None

    return row


_DOUBLES = fixed(DOUBLE, DOUBLE, result=DOUBLE)

FUNCTIONS = (
    _of("string.LENGTH", fixed(TEXT, result=INT), _length, "a text"),
    _of("string.Reverse", fixed(TEXT, result=TEXT), lambda text: text[::-1], "a text"),
    _of(
        "string.RegexMatch",
        fixed(TEXT, TEXT, result=INT),
        lambda text, pattern: int(compiled(pattern).fullmatch(text) is not None),
        "a text and a regular expression",
    ),
    _of("string.REPLACE_MULTI", fixed(TEXT, MapType(), result=TEXT), _replaced_all, "a text and a map of patterns"),
    _of("string.Stuff", fixed(TEXT, INT, INT, TEXT, result=TEXT), _stuffed, "a text, a place, how many signs, a text"),
    _of("string.HashFNV", fixed(TEXT, INT, result=LONG, optional=1), _fnv, "a text, and perhaps a modulus"),
    _of("string.HashFNV1", fixed(TEXT, result=LONG), _fnv, "a text"),
    _of("string.HashFNV2", fixed(TEXT, INT, result=LONG), _fnv, "a text and a modulus"),
    _of("IsInt", fixed(TEXT, result=BOOLEAN), _whole(INT_MIN, INT_MAX), "a text", nulls=True),
    _of("IsLong", fixed(TEXT, result=BOOLEAN), _whole(LONG_MIN, LONG_MAX), "a text", nulls=True),
    _of("IsFloat", fixed(TEXT, result=BOOLEAN), _is_real, "a text", nulls=True),
    _of("IsDouble", fixed(TEXT, result=BOOLEAN), _is_real, "a text", nulls=True),
    _of(
        "IsNumeric",
        fixed(TEXT, result=BOOLEAN),
        lambda text: text is not None and compiled(r"-?\d+(\.\d+)?").fullmatch(text) is not None,
        "a text",
        nulls=True,
    ),
    _of("decode.Decode", _decode_rule, _decoded, "a value, pairs of a value and a text, and a text", nulls=True),
    _of("decode.Bin", _bin_rule, _bin, "a number, pairs of a text and a limit, and a text", nulls=True),
    _of("decode.BinCond", _bincond_rule, _bincond, "pairs of a condition and a text, and a text", nulls=True),
    _of("datetime.DiffDate", fixed(TEXT, TEXT, result=INT), _days_between, "two days as yyyyMMdd"),
    _of(
        "datetime.convert.ISOToUnix",
        fixed(TEXT, result=LONG),
        lambda text: microseconds(read_moment(text)) // 1000,
        "a time as ISO text",
    ),
    _of(
        "datetime.convert.UnixToISO",
        fixed(LONG, result=TEXT),
        lambda count: moment_text(GENERAL.functions["from_milliseconds"].row(count)),
        "milliseconds since 1970",
    ),
    _of(
        "datetime.convert.CustomFormatToISO",
        fixed(TEXT, TEXT, result=TEXT),
        lambda text, pattern: moment_text(date_pattern(pattern).read(text)),
        "a time and its pattern",
    ),
    *(
        _of(f"datetime.truncate.ISOTo{unit}", fixed(TEXT, result=TEXT), _iso(_unit(unit.lower())), "a time as ISO text")
        for unit in ("Year", "Month", "Day", "Hour", "Minute", "Second")
    ),
    _of("datetime.truncate.ISOToWeek", fixed(TEXT, result=TEXT), _iso(_week), "a time as ISO text"),
    *(_between(unit) for unit in ("Years", "Months", "Days", "Hours", "Minutes", "Seconds")),
    _of("math.MAX", _DOUBLES, _larger(True), "two numbers", nulls=True),
    _of("math.MIN", _DOUBLES, _larger(False), "two numbers", nulls=True),
    replace(same_as(f"{_BANK}math.POW", "power")),
    same_as(f"{_BANK}math.ATAN2", "atan2"),
    same_as(f"{_BANK}math.SIGNUM", "sign"),
    _two("HYPOT", math.hypot),
    _one("toDegrees", math.degrees),
    _one("toRadians", math.radians),
    _one("EXPM1", lambda value: math.expm1(value) if value < 709.7 else GENERAL.functions["exp"].row(value)),
    _one("LOG1P", lambda value: -math.inf if value == -1 else math.log1p(value) if value > -1 else math.nan),
    _one("RINT", lambda value: float(round(value)) if math.isfinite(value) else value),
)
__all__ = ["ALIASES", "BYTES", "FUNCTIONS"]
