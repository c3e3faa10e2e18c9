"""Text for a page: what users' data holds is shown, and never obeyed.

Contract: what `text` and `shown` give can stand in an element or in a quoted attribute, whatever it was made of: it
closes nothing, opens nothing and turns no direction of writing. Both are short.
"""

from __future__ import annotations

import html
import math
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

from incoop.base.shown import escaped, without_passwords

#: Characters of a value, a path or a sentence: some lines on a phone.
LONGEST = 240

#: Characters of a text that are looked at at all.
_LOOKED_AT = 10_000

#: Rows of a table that are in sight at once.
_UNFOLDED = 12

_FIGURES = ' class="n"'

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
    safe = without_passwords(said[:_LOOKED_AT])  # before the cut, which may part a password from what ends it
    cut = safe if len(safe) <= longest else f"{safe[: longest - 1]}…"
    return html.escape(escaped(cut))


def shown(value: Any) -> str:
    r"""A key or a value: a text as it is, unless that shows less than there is; anything else as Python writes it.

    Example:
        >>> shown("oak"), shown("a\nb"), shown((1, "x")), shown("")
        ('oak', '&#x27;a\\nb&#x27;', '(1, &#x27;x&#x27;)', '&#x27;&#x27;')
    """
    if isinstance(value, str):
        value = value[:_LOOKED_AT]
        if value and value.isprintable() and value == value.strip():
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
        ('33.3 %', '99.99 %', '0.1 %', '100 %', '0 %')
    """
    if not whole or part >= whole:
        return "100 %"
    if part <= 0:
        return "0 %"
    share = 100 * part / whole
    if share > 99:
        return f"{math.floor(100 * share) / 100:.2f} %"
    return f"{max(0.1, share):.1f} %"


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


def table(titles: Sequence[tuple[str, bool]], rows: Sequence[str], kind: str = "") -> str:
    """Rows below their titles, of which some are of figures, and stand to the right. What is long is folded."""
    head = "".join(f'<th scope="col"{_FIGURES if figures else ""}>{title}</th>' for title, figures in titles)
    shown = f' class="{kind}"' if kind else ""

    def part(some: Sequence[str]) -> str:
        return f"<table{shown}><thead><tr>{head}</tr></thead><tbody>{''.join(some)}</tbody></table>"

    # A fold for a few rows would be longer than these.
    first = len(rows) if len(rows) <= _UNFOLDED + 5 else _UNFOLDED
    rest = (
        f"<details><summary>{len(rows) - first:,} more</summary>{part(rows[first:])}</details>" if rows[first:] else ""
    )
    return part(rows[:first]) + rest


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
