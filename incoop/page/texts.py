"""Text for a page: what users' data holds is shown, and never obeyed.

Contract: what `text` and `shown` give can stand in an element or in a quoted attribute, whatever it was made of: it
closes nothing, opens nothing and turns no direction of writing. Both are short.
"""

from __future__ import annotations

import html
import math
import reprlib
from collections.abc import Iterable
from typing import Any

from incoop.base.shown import escaped, without_passwords

#: Characters of a value, a path or a sentence: some lines on a phone.
LONGEST = 240

_short = reprlib.Repr()
_short.maxlevel = 4
_short.maxtuple = _short.maxlist = _short.maxarray = _short.maxdict = _short.maxset = _short.maxfrozenset = 8
_short.maxstring = _short.maxother = _short.maxlong = LONGEST


def text(said: str, longest: int = LONGEST) -> str:
    r"""Any text.

    Example:
        >>> text("</script><b title=\"\x1b\">")
        '&lt;/script&gt;&lt;b title=&quot;\\x1b&quot;&gt;'
    """
    cut = said if len(said) <= longest else f"{said[: longest - 1]}…"
    return html.escape(escaped(without_passwords(cut)))


def shown(value: Any) -> str:
    r"""A key or a value: a text as it is, unless that shows less than there is; anything else as Python writes it.

    Example:
        >>> shown("oak"), shown("a\nb"), shown((1, "x")), shown("")
        ('oak', '&#x27;a\\nb&#x27;', '(1, &#x27;x&#x27;)', '&#x27;&#x27;')
    """
    if isinstance(value, str) and value and value.isprintable() and value == value.strip():
        return text(value)
    try:
        return text(_short.repr(value))
    except Exception as error:  # a user's object
        return text(f"a {type(value).__name__} that cannot be shown ({type(error).__name__})")


def size(count: float) -> str:
    """Bytes for people, in powers of a thousand.

    Example:
        >>> size(12), size(1_536), size(270_000_000)
        ('12 B', '1.5 kB', '270 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 99.95 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def seconds(count: float) -> str:
    """A duration for people.

    Example:
        >>> seconds(0.0042), seconds(0.232), seconds(12.7), seconds(754), seconds(7300)
        ('4.2 ms', '0.23 s', '12.7 s', '12 min 34 s', '2 h 1 min')
    """
    if count < 0.0995:
        return f"{count * 1000:.1f} ms"
    if count < 9.995:
        return f"{count:.2f} s"
    if count < 99.95:
        return f"{count:.1f} s"
    whole = round(count)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def percent(part: float, whole: float) -> str:
    """A share; all and nothing are said only where they are true.

    Example:
        >>> percent(1, 3), percent(999_999, 1_000_000), percent(1, 1_000_000), percent(5, 5), percent(0, 5)
        ('33.3 %', '99.9 %', '0.1 %', '100 %', '0 %')
    """
    if not whole or part >= whole:
        return "100 %"
    if part <= 0:
        return "0 %"
    return f"{min(99.9, max(0.1, 100 * part / whole)):.1f} %"


def number(value: float) -> str:
    """A number beside a picture.

    Example:
        >>> number(1234567), number(0.5), number(1e-9), number(1e30)
        ('1,234,567', '0.5', '1e-09', '1e+30')
    """
    if isinstance(value, int) and abs(value) < 10**15:
        return f"{value:,}"
    try:
        near = float(value)
    except OverflowError:
        return "very large"
    return f"{near:,.0f}" if near.is_integer() and abs(near) < 1e15 else f"{near:.4g}"


def times(slow: float, fast: float) -> str:
    """How often the one fits into the other.

    Example:
        >>> times(9.5, 0.25), times(3, 2), times(1, 0)
        ('38', '1.5', 'many')
    """
    if fast <= 0:
        return "many"
    ratio = slow / fast
    return f"{math.floor(ratio):,}" if ratio >= 10 else f"{ratio:.1f}"


def within(rows: Iterable[str], most: int) -> tuple[list[str], bool]:
    """The first rows, up to so many bytes; whether that is all of them."""
    kept: list[str] = []
    room = most
    for row in rows:
        room -= len(row.encode())
        if room < 0:
            return kept, False
        kept.append(row)
    return kept, True
