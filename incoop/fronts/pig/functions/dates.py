"""Pig's functions of moments. All of them are in UTC, and none of them asks a clock, but for CurrentTime, which is
asked once, when the script is read: what uses it is computed anew in every run, and says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import UTC, datetime

from incoop.fronts.pig.functions.date_patterns import date_pattern, zone_of
from incoop.fronts.pig.functions.numbers import same_as
from incoop.fronts.pig.functions.request import Maker, Request
from incoop.query.errors import QueryError
from incoop.query.expressions.nodes import Constant, Expression
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Function, Signature, first_that_fits, fixed
from incoop.query.moments import moment_text, read_moment
from incoop.query.order import microseconds
from incoop.query.types import BYTES, DATETIME, INTEGERS, LONG, NULL, TEXT, Type, Value
from incoop.query.warnings import CAST, NoValue

_SAME = {
    "GetYear": "year", "GetMonth": "month", "GetDay": "day", "GetHour": "hour", "GetMinute": "minute",
    "GetSecond": "second", "GetMilliSecond": "millisecond", "GetWeek": "week", "GetWeekYear": "week_year",
    "AddDuration": "add_duration", "SubtractDuration": "subtract_duration", "ToMilliSeconds": "to_milliseconds",
    "YearsBetween": "years_between", "MonthsBetween": "months_between", "WeeksBetween": "weeks_between",
    "DaysBetween": "days_between", "HoursBetween": "hours_between", "MinutesBetween": "minutes_between",
    "SecondsBetween": "seconds_between", "MilliSecondsBetween": "milliseconds_between",
}  # fmt: skip


class ChangesEveryRun(UserWarning):
    """A function whose value is another in every run."""


def _softly(row: Callable[..., Value]) -> Callable[..., Value]:
    """A pattern or a zone that comes from the data and is none makes a null, counted."""

    def tried(*values: Value) -> Value:
        try:
            return row(*values)
        except ValueError:
            raise NoValue(CAST) from None

    return tried


def _read(value: Value, pattern: str | None = None, zone: str | None = None) -> datetime:
    """From milliseconds since 1970, an ISO text, or a text by a pattern, in a zone unless the text says one."""
    if isinstance(value, int):
        found: datetime = GENERAL.functions["from_milliseconds"].row(value)
        return found
    if pattern is None:
        return read_moment(value)
    return date_pattern(pattern).read(value, UTC if zone is None else zone_of(zone))


def _from_milliseconds(types: tuple[Type, ...]) -> Signature | None:
    return Signature((LONG,), DATETIME) if len(types) == 1 and types[0] in INTEGERS else None


def _from_text(types: tuple[Type, ...]) -> Signature | None:
    # Of one argument that nothing is known of, Pig does not know either whether it is a text or a number.
    return None if types == (BYTES,) else fixed(TEXT, TEXT, TEXT, result=DATETIME, optional=2)(types)


def _shown(moment: datetime, pattern: str | None = None) -> str:
    return moment_text(moment) if pattern is None else date_pattern(pattern).printed(moment)


def _seconds(moment: datetime) -> int:
    """Cut off towards 1970."""
    found = microseconds(moment)
    return found // 10**6 if found >= 0 else -(-found // 10**6)


FUNCTIONS = (
    *(same_as(name, general) for name, general in _SAME.items()),
    Function("ToUnixTime", fixed(DATETIME, result=LONG), _seconds, "a datetime"),
    Function(
        "ToDate",
        first_that_fits(_from_milliseconds, _from_text),
        _softly(_read),
        "a long, or a chararray, perhaps with a pattern and a time zone",
        may_fail=True,
    ),
    Function(
        "ToString",
        fixed(DATETIME, TEXT, result=TEXT, optional=1),
        _softly(_shown),
        "a datetime, and perhaps a pattern",
        may_fail=True,
    ),
)
_BY_NAME = {each.name: each for each in FUNCTIONS}


def check_date_pattern(request: Request, at: int) -> None:
    """A pattern that the script says is one."""
    pattern = request.text(at)
    if pattern is not None:
        try:
            date_pattern(pattern)
        except ValueError as trouble:
            raise QueryError(str(trouble), request.position) from None


def _checked(request: Request) -> Expression:
    """A pattern and a zone that the script says are looked at before anything runs."""
    check_date_pattern(request, 1)
    zone = request.text(2)
    try:
        if zone is not None:
            zone_of(zone)
    except ValueError as trouble:
        raise QueryError(str(trouble), request.position) from None
    return request.of(_BY_NAME[request.name])


def _now(request: Request) -> Expression:
    if request.arguments:
        raise request.mismatch("no arguments")
    warnings.warn(
        f"{request.position or 'a script'}: CurrentTime() is another time in every run, so whatever it goes into is "
        "computed again. Give the time as a parameter, ToDate('$now'), and what it goes into is reused while it stays.",
        ChangesEveryRun,
        stacklevel=2,
    )
    now = datetime.now(UTC)
    return Constant(now.replace(microsecond=now.microsecond // 1000 * 1000), DATETIME, position=request.position)


MAKERS: dict[str, Maker] = {"ToDate": _checked, "ToString": _checked, "CurrentTime": _now}
__all__ = ["FUNCTIONS", "MAKERS", "NULL", "ChangesEveryRun", "check_date_pattern"]
