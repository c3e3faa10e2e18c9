"""What is shown to people: text that no terminal obeys, addresses without what opens them.

Contract: `escaped` changes nothing but characters that a terminal would act upon. `shown_address` shows a host, a port,
a path or a database where it is certain that they are that, and else nothing but the scheme.
"""

from __future__ import annotations

import re

#: Control characters (a terminal's commands begin with one), marks that turn the direction of writing, lone surrogates.
#: Newlines and tabs lay text out.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# Both begin where a word does and nowhere else, so that no text takes more than a few steps for each of its characters.
_WORD = re.compile(r"""[^\s'"]++""")

_LONG_WORD = re.compile(r"(?<!\S)\S{400,}+")

#: A host by name or number, a port, one number or word as path.
_PLACE = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)?(?::\d{1,5})?(?:/[A-Za-z0-9._/-]*)?")


def escaped(text: str) -> str:
    r"""Text for a terminal.

    Example:
        >>> print(escaped("two\nlines, \x1b[2Jand no more"))
        two
        lines, \x1b[2Jand no more
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def shortened(text: str) -> str:
    """Text without words that fill a screen: names and values that somebody made too long to read.

    Example:
        >>> len(shortened("cannot read " + "x" * 5000))
        173
    """
    return _LONG_WORD.sub(lambda found: f"{found[0][:100]}…{found[0][-60:]}", text)


def without_passwords(text: str) -> str:
    """Text in which no address shows who opens it and by what, wherever it came from: a word in the wrong place.

    Example:
        >>> without_passwords("No such command 'redis://:hunter2@host:1/0'.")
        "No such command 'redis://…@host:1/0'."
    """
    if "://" not in text or "@" not in text:
        return text
    return _WORD.sub(_without_login, text)


def _without_login(found: re.Match[str]) -> str:
    """A word without what stands between a scheme and the last @."""
    scheme, sign, rest = found[0].partition("://")
    _, at, place = rest.rpartition("@")
    return f"{scheme}{sign}…{at}{place}" if at else found[0]


def shown_address(url: str) -> str:
    """An address without user, password and options, whatever characters are in them.

    Example:
        >>> shown_address("rediss://bob:hunter2@cache.example:6380/3?ssl_ca_certs=ca.pem")
        'rediss://cache.example:6380/3'
        >>> shown_address("redis://:pass/word@host"), shown_address("redis://:not?@all@host/0")
        ('redis://…', 'redis://…')
    """
    scheme, colon, rest = url.partition("://")
    if not colon or not re.fullmatch("[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return "…"
    return f"{scheme}://{place if (place := _place(rest)) is not None else '…'}"


def is_clear(url: str) -> bool:
    """Whether it is certain what in an address is the password: special characters in it are %-codes."""
    _, colon, rest = url.partition("://")
    return bool(colon) and _place(rest) is not None


def _place(rest: str) -> str | None:
    """Host, port and path; None where a part of a password may be taken for them."""
    before = re.split("[?#]", rest, maxsplit=1)[0]
    if "@" in rest[len(before) :]:
        return None
    login, _, place = before.rpartition("@")
    if "/" in login or "@" in login:
        return None
    # A path of this machine (unix:///run/redis.sock) may hold anything but what ends it.
    if place.startswith("/") and place.isprintable():
        return place
    return place if _PLACE.fullmatch(place) else None
