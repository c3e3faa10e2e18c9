"""Moments as logs write them. All have an offset, or get one from the caller: none is taken from this machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

#: In English whatever the locale, as the formats say.
MONTHS = {
    name: number
    for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)  # noqa: SIM905
}

#: What RFC 3339 has of a moment, with the capital letters that RFC 5424 asks for; at most six digits behind the point.
RFC_3339 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)"


@lru_cache(maxsize=256)
def zone_of(offset: str) -> tzinfo:
    """The zone of an offset such as +0130.

    Raises:
        ValueError: There is no such offset.

    Example:
        >>> zone_of("+0130"), zone_of("-0000")
        (datetime.timezone(datetime.timedelta(seconds=5400)), datetime.timezone.utc)
    """
    hours, minutes = int(offset[1:3]), int(offset[3:5])
    if minutes > 59:
        raise ValueError(f"no offset: {offset}")
    size = timedelta(hours=hours, minutes=minutes)
    return timezone(-size if offset[0] == "-" else size) if size else UTC


def moment_of(stamp: str) -> datetime:
    """The moment of a stamp that RFC_3339 matches.

    Raises:
        ValueError: There is no such day, time or offset.
    """
    if stamp[-6] in "+-" and int(stamp[-2:]) > 59:  # which fromisoformat lets pass
        raise ValueError(f"no offset: {stamp[-6:]}")
    return datetime.fromisoformat(stamp)
