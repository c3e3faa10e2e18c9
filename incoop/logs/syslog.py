"""Lines of syslog: RFC 5424, RFC 3164 as it is sent, and as syslog daemons write it to files.

Contract: a line of RFC 5424 begins with a priority and the version 1. Any other is read as RFC 3164: the priority,
which files do not have, may be missing; its time may be one of RFC 3339, which rsyslog writes; the program before the
first colon, with its process in brackets, may be missing. Escapes in structured data are those of RFC 5424, and a byte
order mark before the message is no part of it.

RFC 3164 has no year and no zone. They are what the caller says, never what a clock says: `time` is None without a
`year`, and UTC without a `zone`. A stamp with a year in it, as some routers write, needs none.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from incoop.logs.malformed import count_malformed, text_of
from incoop.logs.times import MONTHS, RFC_3339, moment_of


class Message(NamedTuple):
    """What a program said."""

    #: Both from the priority; None where the line has none.
    facility: int | None
    severity: int | None
    #: With a zone; None where the line has none, or where it has no year and none was given.
    time: datetime | None
    host: str | None
    app: str | None
    #: Nearly always a number; RFC 5424 lets it be any word.
    pid: str | None
    msgid: str | None
    #: Structured data: element -> name -> value. Of a name that an element has twice, the last value.
    data: dict[str, dict[str, str]]
    text: str


# Quantifiers are possessive, so that no line takes more steps than a few for each of its characters.
_PRIORITY = r"<(0|[1-9]\d{0,2})>"
_NAME = r'[^\s="\]]++'
_VALUE = r'"[^"\\\]]*+(?:\\.[^"\\\]]*+)*+"'
_5424 = re.compile(
    rf"{_PRIORITY}1 (-|{RFC_3339}) (\S++) (\S++) (\S++) (\S++)"
    rf" (-|(?:\[{_NAME}(?: {_NAME}={_VALUE})*+\])++)(?: (.*))?",
    re.ASCII | re.DOTALL,
)
_ELEMENT = re.compile(rf"\[({_NAME})((?: {_NAME}={_VALUE})*+)\]", re.DOTALL)
_PARAMETER = re.compile(rf" ({_NAME})=({_VALUE})", re.DOTALL)
_DATA_ESCAPE = re.compile(r'\\(["\\\]])')

_3164 = re.compile(
    rf"(?:{_PRIORITY})?(?:([A-Z][a-z][a-z]) ([ \d]\d)(?: (\d{{4}}))? (\d\d):(\d\d):(\d\d)|({RFC_3339}))"
    r" (\S++)(?: (.*))?",
    re.ASCII | re.DOTALL,
)
_TAG = re.compile(r"([^\s\[\]:]++(?::++[^\s\[\]:]++)*+)(?:\[([^\]\s]*+)\])?:(?: (.*)|\Z)", re.DOTALL)

#: 23 is the last facility, 7 the last severity.
_LAST_PRIORITY = 23 * 8 + 7

_BOM = "\ufeff"


def syslog(line: str | bytes, year: int | None = None, zone: tzinfo = UTC) -> Message | None:
    r"""A message of either RFC; None if the line is malformed.

    Args:
        year: Of times that have none (RFC 3164), say from the name of the file.
        zone: Of times that have none, the sender's.

    Example:
        >>> said = syslog("<34>Oct 11 22:14:15 mymachine su[12]: 'su root' failed", year=2003)
        >>> said.facility, said.severity, said.time.isoformat(), said.app, said.pid, said.text
        (4, 2, '2003-10-11T22:14:15+00:00', 'su', '12', "'su root' failed")
        >>> said = syslog(r'<165>1 2003-10-11T22:14:15.003Z host app - ID47 [ex@1 iut="3" a="\]"] text')
        >>> said.time.microsecond, said.pid, said.msgid, said.data, said.text
        (3000, None, 'ID47', {'ex@1': {'iut': '3', 'a': ']'}}, 'text')
    """
    text = text_of(line)
    body = text.removesuffix("\r").removeprefix(_BOM)
    try:
        if found := _5424.fullmatch(body):
            message = _of_5424(*found.groups())
        elif found := _3164.fullmatch(body):
            message = _of_3164(year, zone, *found.groups())
        else:
            message = None
    except (ValueError, KeyError):  # no such day, month, time, year or offset
        message = None
    if message is None:
        count_malformed("syslog", text)
    return message


def _of_5424(
    priority: str, stamp: str, host: str, app: str, pid: str, msgid: str, data: str, text: str | None
) -> Message | None:
    number = int(priority)
    elements = _elements(data)
    if number > _LAST_PRIORITY or elements is None:
        return None
    return Message(
        number >> 3,
        number & 7,
        None if stamp == "-" else moment_of(stamp),
        None if host == "-" else host,
        None if app == "-" else app,
        None if pid == "-" else pid,
        None if msgid == "-" else msgid,
        elements,
        (text or "").removeprefix(_BOM),
    )


def _elements(data: str) -> dict[str, dict[str, str]] | None:
    """Structured data; None where an element stands twice, which RFC 5424 forbids."""
    elements: dict[str, dict[str, str]] = {}
    if data != "-":
        for name, parameters in _ELEMENT.findall(data):
            if name in elements:
                return None
            elements[name] = {each: _unescaped(value[1:-1]) for each, value in _PARAMETER.findall(parameters)}
    return elements


def _unescaped(value: str) -> str:
    """A backslash before anything but a quote, a backslash or a bracket stands for itself."""
    return _DATA_ESCAPE.sub(r"\1", value) if "\\" in value else value


def _of_3164(
    year: int | None,
    zone: tzinfo,
    priority: str | None,
    month: str | None,
    day: str,
    own_year: str | None,
    hour: str,
    minute: str,
    second: str,
    stamp: str | None,
    host: str,
    content: str | None,
) -> Message | None:
    number = int(priority) if priority is not None else 0
    if number > _LAST_PRIORITY:
        return None
    if month is None:
        assert stamp is not None
        time: datetime | None = moment_of(stamp)
    else:
        # Whether there is such a day is looked at in a leap year where none is known.
        said = int(own_year) if own_year is not None else year
        parts = (MONTHS[month], int(day), int(hour), int(minute), int(second))
        time = datetime(2000 if said is None else said, *parts, tzinfo=zone)
        time = None if said is None else time
    content = (content or "").removeprefix(_BOM)
    app = pid = None
    if found := _TAG.match(content):
        app, pid, content = found[1], found[2], found[3] or ""
    known = priority is not None
    return Message(
        number >> 3 if known else None, number & 7 if known else None, time, host, app, pid, None, {}, content
    )
