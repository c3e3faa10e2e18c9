r"""Lines of Apache's and nginx's access logs, in the common and the combined format.

Contract: what the server escaped is unescaped (`\"`, `\\`, `\n`, `\t`, `\xhh`; other characters behind a backslash are
themselves), and the bytes that come out are read as UTF-8, those that are none as lone surrogates. `-` is None where a
value is missing, and 0 for bytes, as `%b` has it. A line may end in a carriage return.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from incoop.logs.malformed import count_malformed, text_of
from incoop.logs.times import MONTHS, zone_of


class Hit(NamedTuple):
    """A request that a server answered."""

    #: Who asked: an address (IPv4 or IPv6) or a name.
    host: str
    #: What identd said; nearly always None.
    ident: str | None
    #: Who was logged in.
    user: str | None
    #: When, with the offset that the server wrote.
    time: datetime
    #: The request as it came.
    request: str | None
    #: The parts of the request; all None where it has no such parts (TLS on a plain port, nothing at all).
    method: str | None
    url: str | None
    #: None for HTTP/0.9, which sends none.
    protocol: str | None
    status: int | None
    #: Of the answer, without its headers.
    bytes: int
    #: Only in the combined format.
    referrer: str | None = None
    agent: str | None = None
    #: What else the line has behind the combined format, as it is: a server may be told to write more.
    extra: str = ""


# Quantifiers are possessive, so that no line takes more steps than a few for each of its characters. A user's name may
# have spaces; it ends where a time begins.
_QUOTED = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_COMMON = (
    r"(\S++) (\S++) (\S*+(?: (?!\[\d\d/)\S*+)*+)"
    r" \[(\d\d)/([A-Z][a-z][a-z])/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-]\d{4})\]"
    rf" {_QUOTED} (\d{{3}}|-) (\d++|-)"
)
_COMMON_LINE = re.compile(rf"{_COMMON}\r?", re.ASCII | re.DOTALL)
_COMBINED_LINE = re.compile(rf"{_COMMON} {_QUOTED} {_QUOTED}(?: ([^\r]*+))?\r?", re.ASCII | re.DOTALL)

#: A request: method, URL, protocol. A URL with spaces is what some clients send, and what the server then has.
_REQUEST = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]++) (.*) (HTTP/\d(?:\.\d)?)", re.DOTALL)
_OLD_REQUEST = re.compile(r"([A-Z]+) (\S+)")

_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_ESCAPED = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"b": b"\b", b"v": b"\v", b"f": b"\f"}

#: Digits of a size that are read: no file has more, and int() refuses more than some thousand.
_SIZE_DIGITS = 20


def common(line: str | bytes) -> Hit | None:
    """A line of the common format (`%h %l %u %t "%r" %>s %b`); None if it is malformed.

    Example:
        >>> hit = common('::1 - ann [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326')
        >>> hit.host, hit.user, hit.method, hit.url, hit.status, hit.bytes, hit.time.isoformat()
        ('::1', 'ann', 'GET', '/a.gif', 200, 2326, '2000-10-10T13:55:36-07:00')
    """
    text = text_of(line)
    found = _COMMON_LINE.fullmatch(text)
    hit = _hit(*found.groups()) if found is not None else None
    if hit is None:
        count_malformed("common", text)
    return hit


def combined(line: str | bytes) -> Hit | None:
    r"""A line of the combined format: the common one, referrer, user agent and perhaps more; None if it is malformed.

    Example:
        >>> hit = combined(r'h - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/2.0" 404 - "-" "a \"b\"" 0.031')
        >>> hit.protocol, hit.bytes, hit.referrer, hit.agent, hit.extra
        ('HTTP/2.0', 0, None, 'a "b"', '0.031')
    """
    text = text_of(line)
    found = _COMBINED_LINE.fullmatch(text)
    hit = _hit(*found.groups()) if found is not None else None
    if hit is None:
        count_malformed("combined", text)
    return hit


def _hit(
    host: str,
    ident: str,
    user: str,
    day: str,
    month: str,
    year: str,
    hour: str,
    minute: str,
    second: str,
    offset: str,
    request: str,
    status: str,
    size: str,
    referrer: str | None = None,
    agent: str | None = None,
    extra: str | None = None,
) -> Hit | None:
    """The record; None where the time is none."""
    try:
        zone = zone_of(offset)
        time = datetime(int(year), MONTHS[month], int(day), int(hour), int(minute), int(second), tzinfo=zone)
    except (ValueError, KeyError):
        return None
    if len(size) > _SIZE_DIGITS:
        return None
    sent = _value(request)
    method = url = protocol = None
    if sent is not None:
        parts = sent.split(" ")
        if len(parts) == 3 and parts[2] in _PROTOCOLS and parts[0] in _METHODS:
            method, url, protocol = parts
        else:
            method, url, protocol = _request_parts(sent)
    return Hit(
        _unescaped(host),
        _value(ident),
        "" if user == '""' else _value(user),
        time,
        sent,
        method,
        url,
        protocol,
        None if status == "-" else int(status),
        0 if size == "-" else int(size),
        _value(referrer),
        _value(agent),
        extra or "",
    )


#: What nearly all requests have, told without a search.
_METHODS = frozenset({"GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"})
_PROTOCOLS = frozenset({"HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/3.0"})


def _request_parts(request: str) -> tuple[str | None, str | None, str | None]:
    r"""Method, URL and protocol.

    Example:
        >>> _request_parts("GET /a b HTTP/2"), _request_parts("GET /"), _request_parts("\x16\x03\x01")
        (('GET', '/a b', 'HTTP/2'), ('GET', '/', None), (None, None, None))
    """
    if found := _REQUEST.fullmatch(request):
        return found[1], found[2], found[3]
    if found := _OLD_REQUEST.fullmatch(request):
        return found[1], found[2], None
    return None, None, None


def _value(field: str | None) -> str | None:
    if field is None or field == "-":
        return None
    return _unescaped(field) if "\\" in field else field


def _unescaped(field: str) -> str:
    if "\\" not in field:
        return field
    data = _ESCAPE.sub(_byte, field.encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _byte(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return bytes.fromhex(found[1].decode())
    return _ESCAPED.get(found[2], found[2])
