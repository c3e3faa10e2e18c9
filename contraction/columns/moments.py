"""Keys that are moments, times of day or durations, of Python, numpy or pandas, in the form that equal ones share.

Contract: as in contraction/columns/normal.py. What a `datetime` or `timedelta` of Python can hold becomes one.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import numpy as np

from incoop.contraction.columns.encoding import Canonical, encode, unfit

#: Attoseconds, the finest unit that numpy has, of a microsecond, the finest that Python has; and of numpy's units.
_MICRO = 10**12
_UNITS = {"W": 604800 * 10**18, "D": 86400 * 10**18, "h": 3600 * 10**18, "m": 60 * 10**18, "s": 10**18, "ms": 10**15}
_UNITS |= {"us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1}

_EPOCH = datetime(1970, 1, 1)


def of_datetime(key: datetime) -> Any:
    fields = (key.year, key.month, key.day, key.hour, key.minute, key.second, key.microsecond)
    plain = datetime(*fields, tzinfo=key.tzinfo)  # without its fold, which does not count
    offset = plain.utcoffset()
    if offset is None:
        return plain.replace(tzinfo=None)
    if offset != plain.replace(fold=1).utcoffset():
        return Canonical(("of zone", encode(plain)))  # a time that a clock shows twice equals no time of another zone
    try:
        return plain.astimezone(UTC)
    except OverflowError:  # before the first year, or behind the last
        return Canonical(("far moment", attoseconds(plain.replace(tzinfo=None) - datetime.min - offset)))


def of_time(key: time) -> Any:
    offset = key.replace(fold=0).utcoffset()
    if offset is None:
        return time(key.hour, key.minute, key.second, key.microsecond)
    since = timedelta(hours=key.hour, minutes=key.minute, seconds=key.second, microseconds=key.microsecond) - offset
    return Canonical(("time", attoseconds(since)))


def of_timedelta(key: timedelta) -> Any:
    return timedelta(key.days, key.seconds, key.microseconds)


def attoseconds(delta: timedelta) -> int:
    return (delta // timedelta(microseconds=1)) * _MICRO


def _moment(attoseconds: int) -> Any:
    """A time of no zone, so long after the epoch: a datetime where it is one."""
    micros, rest = divmod(attoseconds, _MICRO)
    try:
        if not rest:
            return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        pass
    return Canonical(("since", attoseconds))


def _duration(attoseconds: int) -> Any:
    micros, rest = divmod(attoseconds, _MICRO)
    try:
        if not rest:
            return timedelta(microseconds=micros)
    except OverflowError:
        pass
    return Canonical(("long", attoseconds))


def of_numpy_time(key: Any) -> Any:
    what = type(key).__name__
    if np.isnat(key):
        return Canonical((what, "NaT"))
    unit, count = np.datetime_data(key.dtype)
    if isinstance(key, np.datetime64) and unit in "YM":
        key, unit, count = key.astype("M8[D]"), "D", 1
    number = int(key.astype(np.int64)) * count
    if unit not in _UNITS:
        raise unfit(type(key), "of a unit in which it equals plain numbers, too")
    return (_moment if isinstance(key, np.datetime64) else _duration)(number * _UNITS[unit])


def of_pandas(key: Any) -> Any:
    """A Timestamp or Timedelta, which equal those of Python and numpy as far as they are as fine."""
    what = type(key).__name__
    if what in ("NaTType", "NAType"):
        return Canonical((what,))
    if what == "Timedelta":
        return _duration(key.value * 10**9)
    if what != "Timestamp":
        raise unfit(type(key), "whose equality is that of pandas")
    if not key.nanosecond:
        return of_datetime(key.to_pydatetime(warn=False))
    return _moment(key.value * 10**9) if key.tzinfo is None else Canonical(("moment", key.value * 10**9))
