"""Moments as text: ISO 8601.

Contract: a moment is a datetime in UTC, of microseconds. Text without an offset is UTC. What is no moment raises
NoValue(CAST).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from incoop.query.warnings import CAST, NoValue

_ISO = re.compile(
    r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[T ](?:([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?)?)?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)?)?"
)


def read_moment(text: str) -> datetime:
    """A moment from text.

    Example:
        >>> read_moment("2024-02-29T12:30:00.5+02:00").isoformat()
        '2024-02-29T10:30:00.500000+00:00'
    """
    found = _ISO.fullmatch(text.strip(" "))
    if found is None:
        raise NoValue(CAST)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]),
            tzinfo=UTC,
        )
        return moment - _offset(zone)
    except (ValueError, OverflowError):
        raise NoValue(CAST) from None


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta(0)
    digits = zone[1:].replace(":", "")
    span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return -span if zone[0] == "-" else span


def moment_text(moment: datetime) -> str:
    """A moment as text, to the millisecond; to the microsecond where it has one.

    Example:
        >>> moment_text(read_moment("2024-02-29"))
        '2024-02-29T00:00:00.000Z'
    """
    exact = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=exact) + "Z"
