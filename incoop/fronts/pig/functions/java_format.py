"""Formats of Java's String.format in Python: what SPRINTF takes.

Contract: `%[number$][flags][width][.precision]` and one of b s c d o x e f g and their capitals, %% and %n give what
Java gives, in English. What is not there (dates, %h, %a) or does not fit its argument raises BadFormat: before
anything runs where the script says the format.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

from incoop.fronts.pig.functions.request import Request
from incoop.query.casts import text_of
from incoop.query.errors import QueryError
from incoop.query.expressions.nodes import Expression
from incoop.query.functions.function import Function, Signature
from incoop.query.types import BYTES, DECIMAL, FLOATS, INT, INTEGERS, NULL, TEXT, Type, Value
from incoop.query.warnings import CAST, NoValue

_SPECIFIER = re.compile(r"%(?:([0-9]+)\$|(<))?([-#+ 0,(]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z%])", re.ASCII)
_WIDE = Context(prec=1100)


class BadFormat(ValueError):
    """A format that is none, or that does not fit what it is given."""


@dataclass(frozen=True, slots=True)
class _Item:
    """One %… of a format."""

    argument: int
    flags: str
    width: int
    precision: int | None
    conversion: str


@functools.lru_cache(maxsize=256)
def _items(text: str) -> tuple[_Item | str, ...]:
    found: list[_Item | str] = []
    last, ordinary, previous = 0, 0, 0
    for match in re.finditer("%", text):
        if match.start() < last:
            continue
        found.append(text[last : match.start()])
        specifier = _SPECIFIER.match(text, match.start())
        if specifier is None:
            raise BadFormat(
                f"{text[match.start() : match.start() + 5]!r} in {text!r} is no format. Write %% for a percent sign."
            )
        number, again, flags, width, precision, conversion = specifier.groups()
        last = specifier.end()
        if conversion in "%n":
            found.append(_padded("%", flags, int(width or 0)) if conversion == "%" else "\n")
            continue
        if conversion not in "bBsScCdoxXeEfgG":
            raise BadFormat(f"%{conversion} is not known here. Use %s, and ToString or another function before it.")
        if number:
            previous = int(number)
        elif not again:
            ordinary += 1
            previous = ordinary
        found.append(_Item(previous, flags, int(width or 0), None if precision is None else int(precision), conversion))
    found.append(text[last:])
    return tuple(found)


def formatted(text: str, values: tuple[Value, ...], types: tuple[Type, ...]) -> str:
    """A format with values of these types put in.

    Example:
        >>> from incoop.query.types import DOUBLE, INT, TEXT
        >>> formatted("%-5s|%05d|%,.2f", ("ab", 42, 1234.5), (TEXT, INT, DOUBLE))
        'ab   |00042|1,234.50'
    """
    pieces: list[str] = []
    for each in _items(text):
        if isinstance(each, str):
            pieces.append(each)
            continue
        if not 1 <= each.argument <= len(values):
            raise BadFormat(f"{text!r} asks for {each.argument} values, and is given {len(values)}.")
        pieces.append(_shown(each, values[each.argument - 1], types[each.argument - 1]))
    return "".join(pieces)


def check_format(text: str, types: tuple[Type, ...]) -> None:
    """A format fits types."""
    for each in _items(text):
        if isinstance(each, str):
            continue
        if not 1 <= each.argument <= len(types):
            raise BadFormat(f"{text!r} asks for {each.argument} values, and is given {len(types)}.")
        kind = types[each.argument - 1]
        letter = each.conversion.lower()
        fits = {
            "d": kind in (*INTEGERS, DECIMAL),
            "o": kind in INTEGERS,
            "x": kind in INTEGERS,
            "c": kind == INT,
            "e": kind in (*FLOATS, DECIMAL),
            "f": kind in (*FLOATS, DECIMAL),
            "g": kind in (*FLOATS, DECIMAL),
        }.get(letter, True)
        if not fits and kind not in (BYTES, NULL):
            raise BadFormat(f"%{each.conversion} takes no {kind}. Cast it, or write %s.")


def _shown(item: _Item, value: Value, kind: Type) -> str:
    letter = item.conversion.lower()
    if letter in "bs":
        text = ("true" if value is not False else "false") if letter == "b" else text_of(value, kind)
        if item.precision is not None:
            text = text[: item.precision]
        return _cased(_padded(text, item.flags, item.width), item)
    if letter == "c":
        if not isinstance(value, int) or not 0 <= value < 0x110000:
            raise BadFormat(f"%c takes the number of a sign, not {value!r}.")
        return _cased(_padded(chr(value), item.flags, item.width), item)
    if letter in "dox":
        return _cased(_integer(item, value, kind), item)
    return _cased(_real(item, value), item)


def _cased(text: str, item: _Item) -> str:
    return text.upper() if item.conversion.isupper() else text


def _padded(text: str, flags: str, width: int) -> str:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _integer(item: _Item, value: Value, kind: Type) -> str:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadFormat(f"%{item.conversion} takes an integer, not {value!r}.")
    letter = item.conversion.lower()
    if letter == "d":
        return _signed(item, f"{abs(value):,}" if "," in item.flags else str(abs(value)), value < 0)
    if value < 0:  # the bits that Java has of it
        value += 1 << (32 if kind == INT else 64)
    digits = f"{value:o}" if letter == "o" else f"{value:x}"
    mark = ("0" if letter == "o" else "0x") if "#" in item.flags else ""
    if "0" in item.flags and "-" not in item.flags:
        digits = digits.rjust(item.width - len(mark), "0")
    return _padded(mark + digits, item.flags, item.width)


def _signed(item: _Item, digits: str, negative: bool) -> str:
    """Digits with their sign, and what the flags put around them."""
    if negative:
        before, after = ("(", ")") if "(" in item.flags else ("-", "")
    else:
        before, after = ("+" if "+" in item.flags else " " if " " in item.flags else ""), ""
    if "0" in item.flags and "-" not in item.flags:
        digits = digits.rjust(item.width - len(before) - len(after), "0")
    return _padded(before + digits + after, item.flags, item.width)


def _real(item: _Item, value: Value) -> str:
    if isinstance(value, bool) or not isinstance(value, float | Decimal):
        raise BadFormat(f"%{item.conversion} takes a number with a point, not {value!r}. Cast it to double.")
    if not math.isfinite(value):
        text = "NaN" if value != value else "Infinity"
        plain = _Item(item.argument, item.flags.replace("0", ""), item.width, None, item.conversion)
        return _padded(text, item.flags, item.width) if value != value else _signed(plain, text, value < 0)
    number = Decimal(repr(value)) if isinstance(value, float) else value
    precision = 6 if item.precision is None else item.precision
    letter = item.conversion.lower()
    size = abs(number)
    if letter == "g":
        precision = precision or 1
        rounded = _rounded_to_digits(size, precision)
        if rounded == 0 or Decimal("0.0001") <= rounded < Decimal(10) ** precision:
            before = rounded.adjusted() + 1 if rounded else 1
            digits = _fixed(rounded, max(precision - before, 0))
        else:
            digits = _scientific(size, precision - 1)
    else:
        digits = _fixed(size, precision) if letter == "f" else _scientific(size, precision)
    if "," in item.flags and letter != "e":
        whole, point, rest = digits.partition(".")
        digits = f"{int(whole):,}{point}{rest}" if whole.isdigit() else digits
    if "#" in item.flags and "." not in digits and letter in "fe":
        digits += "."
    return _signed(item, digits, math.copysign(1.0, value) < 0 if isinstance(value, float) else value < 0)


def _fixed(size: Decimal, places: int) -> str:
    return f"{size.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _WIDE):f}"


def _rounded_to_digits(size: Decimal, digits: int) -> Decimal:
    return size if not size else size.quantize(Decimal(1).scaleb(size.adjusted() - digits + 1), ROUND_HALF_UP, _WIDE)


def _scientific(size: Decimal, places: int) -> str:
    rounded = _rounded_to_digits(size, places + 1)
    power = rounded.adjusted() if rounded else 0
    return f"{_fixed(rounded.scaleb(-power, _WIDE), places)}e{'-' if power < 0 else '+'}{abs(power):02d}"


def sprintf(request: Request) -> Expression:
    """SPRINTF: null where one of its arguments is; a format that the data says and that does not fit makes a null."""
    types = request.types
    if not types or types[0] not in (TEXT, BYTES, NULL):
        raise request.mismatch("a format, and what it shows")
    text = request.text(0)
    try:
        if text is not None:
            check_format(text, types[1:])
    except BadFormat as trouble:
        raise QueryError(f"SPRINTF: {trouble}", request.position) from None

    def row(template: str, *values: Value) -> str:
        try:
            return formatted(template, values, types[1:])
        except BadFormat:
            raise NoValue(CAST) from None

    name = f"SPRINTF [{','.join(map(str, types[1:]))}]"
    return request.of(
        Function(name, lambda found: Signature((TEXT, *found[1:]), TEXT), row, "a format and values", may_fail=True)
    )
