"""Functions of moments. All of them are in UTC; none of them asks a clock."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from incoop.query.functions.function import Function, fixed
from incoop.query.order import microseconds, moment_of
from incoop.query.types import DATETIME, INT, LONG, TEXT
from incoop.query.warnings import CAST, RANGE, NoValue

_DURATION = re.compile(
    r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?"
    r"(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+)(?:\.(\d{1,6}))?S)?)?",
    re.ASCII,
)
#: Microseconds in a unit of fixed length.
_UNITS = {
    "milliseconds": 10**3,
    "seconds": 10**6,
    "minutes": 60 * 10**6,
    "hours": 3600 * 10**6,
    "days": 86400 * 10**6,
    "weeks": 7 * 86400 * 10**6,
}
#: What is cut off with a unit: the field that begins anew, the first one last.
_PARTS = {
    "month": {"month": 1},
    "day": {"day": 1},
    "hour": {"hour": 0},
    "minute": {"minute": 0},
    "second": {"second": 0},
}


def _shifted(moment: datetime, duration: str, sign: int) -> datetime:
    found = _DURATION.fullmatch(duration)
    if found is None or duration in ("P", "PT") or duration.endswith("T"):
        raise NoValue(CAST)
    years, months, weeks, days, hours, minutes, seconds = (int(each or 0) for each in found.groups()[:7])
    fraction = int((found[8] or "0").ljust(6, "0"))
    if (found[7] or "").startswith("-"):
        fraction = -fraction
    try:
        moved = _add_months(moment, sign * (12 * years + months))
        return moved + sign * timedelta(
            weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=fraction
        )
    except (ValueError, OverflowError):
        raise NoValue(RANGE) from None


def _add_months(moment: datetime, months: int) -> datetime:
    """The same day of another month, or that month's last."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            if not 1 <= year <= 9999:
                raise
    return moment.replace(year=year, month=month + 1)


def _truncated(moment: datetime, unit: str) -> datetime:
    if unit not in ("year", *_PARTS):
        raise NoValue(CAST)
    smaller = list(_PARTS)[0 if unit == "year" else list(_PARTS).index(unit) + 1 :]
    fresh: dict[str, Any] = {"microsecond": 0}
    for part in smaller:
        fresh.update(_PARTS[part])
    return moment.replace(**fresh)


def _moment(count: int, scale: int) -> datetime:
    try:
        return moment_of(count * scale)
    except OverflowError:
        raise NoValue(RANGE) from None


def _months_between(one: datetime, other: datetime) -> int:
    """Whole months from the other to the one."""
    sign = 1 if one >= other else -1
    late, early = (one, other) if sign > 0 else (other, one)
    months = (late.year - early.year) * 12 + late.month - early.month
    if months and _add_months(early, months) > late:
        months -= 1
    return sign * months


def _between(name: str, scale: int) -> Function:
    def row(one: datetime, other: datetime) -> int:
        span = microseconds(one) - microseconds(other)
        return span // scale if span >= 0 else -(-span // scale)

    return Function(name, fixed(DATETIME, DATETIME, result=LONG), row, "two moments")


def _field(name: str, row: Any) -> Function:
    return Function(name, fixed(DATETIME, result=INT), row, "a moment")


FUNCTIONS = (
    *(
        _field(name, lambda moment, name=name: getattr(moment, name))
        for name in ("year", "month", "day", "hour", "minute", "second")
    ),
    _field("millisecond", lambda moment: moment.microsecond // 1000),
    _field("week", lambda moment: moment.isocalendar().week),
    _field("week_year", lambda moment: moment.isocalendar().year),
    _field("day_of_week", lambda moment: moment.isoweekday()),
    _field("day_of_year", lambda moment: moment.timetuple().tm_yday),
    Function("to_milliseconds", fixed(DATETIME, result=LONG), lambda moment: microseconds(moment) // 1000, "a moment"),
    Function("to_seconds", fixed(DATETIME, result=LONG), lambda moment: microseconds(moment) // 10**6, "a moment"),
    Function(
        "from_milliseconds", fixed(LONG, result=DATETIME), lambda count: _moment(count, 1000), "a long", may_fail=True
    ),
    Function(
        "from_seconds", fixed(LONG, result=DATETIME), lambda count: _moment(count, 10**6), "a long", may_fail=True
    ),
    Function("truncated_to", fixed(DATETIME, TEXT, result=DATETIME), _truncated, "a moment and a unit", may_fail=True),
    Function(
        "add_duration",
        fixed(DATETIME, TEXT, result=DATETIME),
        lambda moment, span: _shifted(moment, span, 1),
        "a moment and a duration",
        may_fail=True,
    ),
    Function(
        "subtract_duration",
        fixed(DATETIME, TEXT, result=DATETIME),
        lambda moment, span: _shifted(moment, span, -1),
        "a moment and a duration",
        may_fail=True,
    ),
    *(_between(f"{unit}_between", scale) for unit, scale in _UNITS.items()),
    Function("months_between", fixed(DATETIME, DATETIME, result=LONG), _months_between, "two moments"),
    Function(
        "years_between",
        fixed(DATETIME, DATETIME, result=LONG),
        lambda one, other: int(_months_between(one, other) / 12),
        "two moments",
    ),
)
