"""Texts and numbers as they are written, and the values they stand for."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from incoop.fronts.pig.syntax.terms import LiteralKind

_ESCAPE = re.compile(r"\\(?:[uU]([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "f": "\f", "\\": "\\", "'": "'"}
_WRITTEN = {"\n": "\\n", "\t": "\\t", "\b": "\\b", "\r": "\\r", "\f": "\\f", "\\": "\\\\", "'": "\\'"}

_SUFFIXES = {
    "bi": LiteralKind.BIGINTEGER,
    "bd": LiteralKind.BIGDECIMAL,
    "l": LiteralKind.LONG,
    "f": LiteralKind.FLOAT,
}


#: Python reads no whole number of many more digits, and nobody writes one.
_MOST_DIGITS = 4000


def text_value(written: str) -> str:
    r"""The text between the quotes. Pig refuses other escapes than its own; here they stay as they are (`'\d'`)."""
    return _ESCAPE.sub(_unescaped, written[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _ESCAPED.get(found[2], found[0])


def written_text(value: str) -> str:
    """A text in quotes, so that `text_value` gives it again."""
    out = []
    for each in value:
        if each in _WRITTEN:
            out.append(_WRITTEN[each])
        elif each < " " or each == "\x7f" or "\ud800" <= each <= "\udfff":
            out.append(f"\\u{ord(each):04x}")
        else:
            out.append(each)
    return f"'{''.join(out)}'"


def number_value(written: str) -> tuple[LiteralKind, int | Decimal] | None:
    """Kind and value of a number; None for one that cannot be, as 1.5L, or whose exponent no decimal holds."""
    digits = written.lower()
    kind = None
    for suffix, each in _SUFFIXES.items():
        if digits.endswith(suffix):
            kind, digits = each, digits[: -len(suffix)]
            break
    whole = digits.isdigit()
    if kind is None:
        kind = LiteralKind.INT if whole else LiteralKind.DOUBLE
    if kind in (LiteralKind.INT, LiteralKind.LONG, LiteralKind.BIGINTEGER):
        number = whole_value(digits)
        return None if number is None else (kind, number)
    try:
        return kind, Decimal(digits)
    except InvalidOperation:
        return None


def whole_value(digits: str) -> int | None:
    """A number of digits alone; None for anything else."""
    return int(digits) if digits.isdigit() and digits.isascii() and len(digits) <= _MOST_DIGITS else None


def written_number(kind: LiteralKind, value: int | Decimal) -> str:
    digits = str(value).lower()
    if kind is LiteralKind.DOUBLE and digits.isdigit():
        digits += "e0"  # a whole one would be an int
    suffix = next((suffix for suffix, each in _SUFFIXES.items() if each is kind), "")
    return digits + suffix.upper()
