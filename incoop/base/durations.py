"""How long something takes, as people write it: 30s, 500ms, 2m, 1h, 7 days."""

from __future__ import annotations

import math
import re

from incoop.base.errors import BadCall

_UNITS = {
    0.001: ("ms",),
    1.0: ("s", "sec", "second", "seconds"),
    60.0: ("m", "min", "minute", "minutes"),
    3600.0: ("h", "hour", "hours"),
    86400.0: ("d", "day", "days"),
    604800.0: ("w", "week", "weeks"),
}
_SECONDS = {name: seconds for seconds, names in _UNITS.items() for name in names}

_WRITTEN = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)", re.IGNORECASE | re.ASCII)


def seconds_of(text: str) -> float:
    """The seconds that a duration stands for. A bare number is refused: nobody knows what it counts.

    Example:
        >>> seconds_of("30s"), seconds_of("500ms"), seconds_of("1.5 hours")
        (30.0, 0.5, 5400.0)
    """
    found = _WRITTEN.fullmatch(text.strip())
    unit = _SECONDS.get(found[2].lower()) if found is not None else None
    seconds = float(found[1]) * unit if found is not None and unit is not None else math.inf
    if not math.isfinite(seconds):
        raise BadCall(f"{text!r:.60} is not a duration; write 500ms, 30s, 2m, 1h or '7 days'.")
    return seconds
