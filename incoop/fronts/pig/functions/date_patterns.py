"""Patterns of dates as Java's Joda-Time has them, in which ToDate and ToString are written: `yyyy-MM-dd HH:mm`.

Contract: what is printed or read is what Joda-Time prints or reads in English, in UTC. Two rules ask no clock here: a
year of two digits lies between 1969 and 2068; and a date without a year is in 2000, one without a day in January
1970. A pattern that is none raises ValueError, a text that does not follow it NoValue.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from incoop.query.warnings import CAST, NoValue

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: Zones that Joda-Time reads by their letters, in hours from UTC.
_ZONES = {"UTC": 0, "UT": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
          "PST": -8, "PDT": -7}  # fmt: skip
_PIECE = re.compile(r"([A-Za-z])\1*|'(?:[^']|'')*'|'|[^A-Za-z']+", re.DOTALL)
_NUMBERS = "CYxwyeDdKhHkmsS"
_OFFSET = re.compile(r"([+-])(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class DatePattern:
    """A pattern, taken apart once."""

    #: (letter, how often) or a text.
    pieces: tuple[tuple[str, int] | str, ...]
    reader: re.Pattern[str]

    def printed(self, moment: datetime) -> str:
        return "".join(each if isinstance(each, str) else _printed(*each, moment) for each in self.pieces)

    def read(self, text: str, zone: tzinfo = UTC) -> datetime:
        """The moment that a text says, in a zone unless it says one."""
        found = self.reader.fullmatch(text)
        if found is None:
            raise NoValue(CAST)
        said: dict[str, str] = {}
        letters = [each[0] for each in self.pieces if not isinstance(each, str)]
        for at, letter in enumerate(letters):
            said[letter if letter != "S" else "S"] = found[f"g{at}"]
        try:
            return _moment(said, dict(each for each in self.pieces if not isinstance(each, str)), zone).astimezone(UTC)
        except (ValueError, OverflowError, KeyError):
            raise NoValue(CAST) from None


@functools.lru_cache(maxsize=256)
def date_pattern(pattern: str) -> DatePattern:
    """A pattern to read and print by.

    Example:
        >>> day = date_pattern("EEE, d MMM yyyy 'at' h:mm a")
        >>> day.printed(day.read("Sat, 3 Jan 2015 at 2:05 PM"))
        'Sat, 3 Jan 2015 at 2:05 PM'
    """
    pieces: list[tuple[str, int] | str] = []
    if not pattern:
        raise ValueError("a pattern of dates is not empty")
    for found in _PIECE.finditer(pattern):
        text = found[0]
        if text == "'":
            raise ValueError(f"a quote in {pattern!r} is not closed")
        if text.startswith("'"):
            pieces.append("'" if text == "''" else text[1:-1].replace("''", "'"))
        elif found[1]:
            if found[1] not in _NUMBERS + "GEMazZ":
                raise ValueError(
                    f"the letter {found[1]!r} says nothing in the pattern {pattern!r}. Quote it: '{found[1]}'"
                )
            pieces.append((found[1], len(text)))
        else:
            pieces.append(text)
    return DatePattern(tuple(pieces), _reader(pieces))


def zone_of(name: str) -> tzinfo:
    """A zone by its name, or by its distance from UTC (`+05:30`). ValueError where there is none."""
    if name in _ZONES and _ZONES[name] == 0:
        return UTC
    found = _OFFSET.fullmatch(name)
    if found is not None:
        return timezone(_span(name))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"there is no time zone {name!r}. Write a name such as Europe/Berlin, or +01:00.") from None


def _span(text: str) -> timedelta:
    found = _OFFSET.fullmatch(text)
    if found is None:
        raise ValueError(text)
    span = timedelta(hours=int(found[2]), minutes=int(found[3] or 0), seconds=int(found[4] or 0))
    return -span if found[1] == "-" else span


def _is_number(letter: str, count: int) -> bool:
    return letter in _NUMBERS or (letter == "M" and count < 3)


def _reader(pieces: list[tuple[str, int] | str]) -> re.Pattern[str]:
    """What a text has to look like: numbers that stand side by side have as many digits as letters."""
    parts: list[str] = []
    at = 0
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            parts.append(re.escape(piece))
            continue
        letter, count = piece
        following = pieces[place + 1] if place + 1 < len(pieces) else None
        adjacent = isinstance(following, tuple) and _is_number(*following)
        parts.append(f"(?P<g{at}>{_readable(letter, count, adjacent)})")
        at += 1
    return re.compile("".join(parts), re.ASCII | re.IGNORECASE)


def _readable(letter: str, count: int, adjacent: bool) -> str:
    if letter == "S":
        return f"[0-9]{{1,{count}}}" if not adjacent else f"[0-9]{{{count}}}"
    if _is_number(letter, count):
        if adjacent:
            return f"[0-9]{{{count}}}"
        return "[+-]?[0-9]{1,9}" if letter in "yYxC" else "[0-9]{1,9}"
    if letter == "M":
        return "|".join([*_MONTHS, *(name[:3] for name in _MONTHS)])
    if letter == "E":
        return "|".join([*_DAYS, *(name[:3] for name in _DAYS)])
    if letter == "G":
        return "AD|BC"
    if letter == "a":
        return "AM|PM"
    if letter == "z":
        return "|".join(_ZONES)
    return "[A-Za-z_]+(?:/[A-Za-z_+0-9-]+)*" if count > 2 else r"Z|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?"


def _year(text: str, count: int) -> int:
    """A year; of two digits where the pattern has two: the one between 1969 and 2068."""
    year = int(text)
    if count != 2 or len(text) != 2:
        return year
    return 2000 + year if year < 69 else 1900 + year


def _moment(said: Mapping[str, str], counts: Mapping[str, int], zone: tzinfo) -> datetime:
    number = {letter: int(text) for letter, text in said.items() if letter not in "GEazZSM" and letter != "M"}
    if "G" in said and said["G"].upper() == "BC":
        raise ValueError("years before Christ are not known")
    hour = _hour(number, said.get("a"))
    for letter in "Zz":
        if letter in said:
            zone = _zone_said(said[letter])
    day = _day(said, number, counts)
    fraction = int(said.get("S", "0")[:6].ljust(6, "0"))
    minute, second = number.get("m", 0), number.get("s", 0)
    return day.replace(hour=hour, minute=minute, second=second, microsecond=fraction, tzinfo=zone)


def _zone_said(text: str) -> tzinfo:
    hours = _ZONES.get(text.upper())
    return zone_of(text) if hours is None else timezone(timedelta(hours=hours))


def _hour(number: Mapping[str, int], half: str | None) -> int:
    for letter, highest in (("H", 23), ("k", 24)):
        if letter in number:
            if number[letter] > highest or (letter == "k" and number[letter] == 0):
                raise ValueError("no hour")
            return number[letter] % 24
    later = 12 if half is not None and half.upper() == "PM" else 0
    if "K" in number:
        if number["K"] > 11:
            raise ValueError("no hour of half a day")
        return number["K"] + later
    if "h" in number:
        if not 1 <= number["h"] <= 12:
            raise ValueError("no hour of half a day")
        return number["h"] % 12 + later
    return later


def _day(said: Mapping[str, str], number: Mapping[str, int], counts: Mapping[str, int]) -> datetime:
    """The day, from what is said of it."""
    letter = next((each for each in "yY" if each in said), None)
    year = _year(said[letter], counts[letter]) if letter else None
    if "x" in said or "w" in said:
        week = datetime.fromisocalendar(_year(said["x"], counts["x"]) if "x" in said else 1970, number.get("w", 1), 1)
        days = number["e"] - 1 if "e" in number else _weekday(said["E"]) if "E" in said else 0
        if not 0 <= days < 7:
            raise ValueError("no day of a week")
        return week + timedelta(days=days)
    if "D" in number:
        first = datetime(2000 if year is None else year, 1, 1)
        found = first + timedelta(days=number["D"] - 1)
        if found.year != first.year:
            raise ValueError("no day of that year")
        return found
    month = _month(said["M"], counts["M"]) if "M" in said else None
    day = number.get("d")
    if year is None:
        year = 1970 if month is None and day is None else 2000
    found = datetime(year, month or 1, 1 if day is None else day)
    if "E" in said and day is None and month is None:
        return found + timedelta(days=(_weekday(said["E"]) - found.weekday()) % 7)
    if "E" in said and found.weekday() != _weekday(said["E"]):
        raise ValueError("another day of the week")
    return found


def _month(text: str, count: int) -> int:
    if count < 3:
        return int(text)
    return [name[:3].lower() for name in _MONTHS].index(text[:3].lower()) + 1


def _weekday(text: str) -> int:
    return [name[:3].lower() for name in _DAYS].index(text[:3].lower())


_PRINTED: dict[str, Callable[[datetime], int]] = {
    "C": lambda moment: moment.year // 100,
    "Y": lambda moment: moment.year,
    "x": lambda moment: moment.isocalendar().year,
    "w": lambda moment: moment.isocalendar().week,
    "e": lambda moment: moment.isoweekday(),
    "y": lambda moment: moment.year,
    "D": lambda moment: moment.timetuple().tm_yday,
    "M": lambda moment: moment.month,
    "d": lambda moment: moment.day,
    "K": lambda moment: moment.hour % 12,
    "h": lambda moment: (moment.hour + 11) % 12 + 1,
    "H": lambda moment: moment.hour,
    "k": lambda moment: moment.hour or 24,
    "m": lambda moment: moment.minute,
    "s": lambda moment: moment.second,
}


def _printed(letter: str, count: int, moment: datetime) -> str:
    if letter == "S":
        return f"{moment.microsecond:06d}".ljust(count, "0")[:count]
    if letter in "yYx" and count == 2:
        return f"{_PRINTED[letter](moment) % 100:02d}"
    if _is_number(letter, count):
        return str(_PRINTED[letter](moment)).rjust(count, "0")
    if letter in "ME":
        name = _MONTHS[moment.month - 1] if letter == "M" else _DAYS[moment.weekday()]
        return name if count > 3 else name[:3]
    if letter == "G":
        return "AD"
    if letter == "a":
        return "AM" if moment.hour < 12 else "PM"
    return ("+0000", "+00:00", "UTC")[min(count, 3) - 1] if letter == "Z" else "UTC"
