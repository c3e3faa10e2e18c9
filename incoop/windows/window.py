"""What a window is: the newest files, chunks or bytes of an input, or the newest span of time.

Contract: what a window holds follows from the input alone, never from the clock or from earlier runs: the end of a
window of time is the newest time in the input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from incoop.base.durations import seconds_of
from incoop.base.errors import BadCall

#: Gives a record's time: a datetime (one without a zone counts as UTC), or seconds since 1970; None for a record
#: that has none, which is in no window.
TimeOf = Callable[[Any], datetime | float | int | None]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_COUNTED = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)

#: No input has so many files that their number has more.
_MOST_DIGITS = 18

_FORMS = "'10 files', '100 chunks', '1G', '7 days', '90m' or '1h'"


@dataclass(frozen=True, slots=True)
class Window:
    """The newest part of an input. Make one with `last`."""

    #: Which of files, chunks, bytes and time it goes by, and how much of it; time in microseconds.
    by: str
    size: int
    #: It moves by so much at once, 0 for as far as it can.
    hop: int = 0
    #: For time: what gives it, a function of a record; or the form in which names of files have it.
    of: TimeOf | str | None = None

    def __str__(self) -> str:
        size = _span(self.size) if self.by == "time" else f"{self.size} {self.by}"
        hop = f", every {_span(self.hop) if self.by == 'time' else self.hop}" if self.hop else ""
        return f"last {size}{hop}"


def last(
    *,
    files: int | None = None,
    chunks: int | None = None,
    bytes: int | str | None = None,
    weeks: float = 0,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
    of: TimeOf | str | None = None,
    hop: float | timedelta | None = None,
) -> Window:
    """The newest files, chunks or bytes of an input; or the records of the newest span of time.

    A span needs `of`: a function that gives a record's time, or the form of the time in names of files
    (`"%Y-%m-%d"`), which are then taken as wholes. It ends with the newest time. With `hop` a window moves in steps:
    by so many files or chunks, or to whole multiples of a time (a timedelta, or seconds).

    Example:
        >>> str(last(files=10)), str(last(hours=1, of=float, hop=60)), last(bytes="1G").size
        ('last 10 files', 'last 1:00:00, every 0:01:00', 1073741824)
    """
    span = _timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    given = {"files": files, "chunks": chunks, "bytes": bytes, "time": span if span else None}
    named = [name for name, size in given.items() if size is not None]
    if len(named) != 1:
        raise BadCall("a window goes by one of files, chunks, bytes or a span of time: incoop.last(files=10).")
    (by,) = named
    if (by == "time") != (of is not None):
        raise BadCall(
            "a window of time needs `of`, a function that gives a record's time or the form of the time in names of "
            "files (of='%Y-%m-%d'); other windows have none."
        )
    if of is not None and not callable(of) and not (isinstance(of, str) and "%" in of):
        raise BadCall(f"`of` is a function of a record, or the form of a time such as '%Y-%m-%d', not {of!r:.80}.")
    if by == "bytes" and hop is not None:
        raise BadCall("a window of bytes moves as far as it can; `hop` goes with files, chunks and time.")
    size = _bytes(bytes) if by == "bytes" else _microseconds(span) if by == "time" else given[by]
    return Window(by, _whole(by, size), _hop(by, hop), of)


def parsed(text: str, of: TimeOf | str | None = None) -> Window:
    """A window from a text: '10 files', '100 chunks', '1G'; with `of` a span of time; 'every' says how it moves.

    Example:
        >>> parsed("10 files") == last(files=10), parsed("512 MB") == last(bytes=512 << 20)
        (True, True)
        >>> parsed("1h every 1m", of="%H") == last(hours=1, of="%H", hop=60)
        True
    """
    size, every, hop = text.partition(" every ")
    number, unit = _counted(size, text)
    if unit in ("file", "files", "chunk", "chunks"):
        step = _integer(_counted(hop, text)[0], text) if every else None
        return last(**{unit.rstrip("s") + "s": _integer(number, text)}, of=of, hop=step)
    if of is not None:
        return last(seconds=seconds_of(size), of=of, hop=seconds_of(hop) if every else None)
    if every or _SIZE.fullmatch(size.strip()) is None:
        raise BadCall(f"a window is {_FORMS} (a span of time with what gives a record's time), not {text!r:.60}.")
    return last(bytes=size)


def _counted(size: str, text: str) -> tuple[str, str]:
    found = _COUNTED.fullmatch(size.strip())
    if found is None:
        raise BadCall(f"a window is {_FORMS}, not {text!r:.60}.")
    return found[1], found[2].lower()


def microseconds_of(time: Any) -> int | None:
    """What a time function gave, as whole microseconds since 1970."""
    if time is None:
        return None
    if isinstance(time, datetime):
        return (time.replace(tzinfo=UTC) if time.tzinfo is None else time).__sub__(_EPOCH) // _MICROSECOND
    if isinstance(time, int | float) and not isinstance(time, bool) and time == time and abs(time) < 1e15:
        return round(time * 1_000_000)
    raise TypeError(f"a record's time is a datetime, seconds since 1970 or None, not {time!r:.60}")


def _whole(by: str, size: Any) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise BadCall(f"a window holds a whole number of {by}, at least 1, not {size!r:.40}.")
    return size


def _hop(by: str, hop: Any) -> int:
    if hop is None:
        return 0
    if by == "time" and isinstance(hop, int | float) and not isinstance(hop, bool):
        hop = _timedelta(seconds=hop)
    return _whole("time" if by == "time" else by, _microseconds(hop) if isinstance(hop, timedelta) else hop)


def _timedelta(**parts: Any) -> timedelta:
    try:
        return timedelta(**parts)
    except (TypeError, ValueError, OverflowError):
        given = ", ".join(f"{name}={value!r:.40}" for name, value in parts.items() if value != 0)
        raise BadCall(f"a span of time is made of numbers, and no longer than a billion days, not {given}.") from None


def _microseconds(span: timedelta) -> int:
    return span // _MICROSECOND


def _span(microseconds: int) -> str:
    return str(timedelta(microseconds=microseconds))


def _bytes(size: int | str | None) -> Any:
    if not isinstance(size, str):
        return size
    found = _SIZE.fullmatch(size.strip())
    if found is None:
        raise BadCall(f"a size is a number of bytes, with K, M, G or T: '512M', not {size!r:.40}.")
    count = float(found[1]) * _SIZES[found[2].lower()]
    if not math.isfinite(count):
        raise BadCall(f"a size is a number of bytes that some disk could hold, not {size!r:.40}.")
    return round(count)


def _integer(number: str, text: str) -> int:
    if "." in number:
        raise BadCall(f"a window holds whole files or chunks, not {text!r:.40}.")
    if len(number) > _MOST_DIGITS:
        raise BadCall(f"no input has so many files or chunks: {text!r:.40}.")
    return int(number)
