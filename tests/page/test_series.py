"""When pairs are drawn as a series, and when they are not."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pandas
import pytest

from incoop.page.charts import line
from incoop.page.series import series_of

HOURS = [datetime(2026, 5, 1, hour) for hour in range(4)]


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(HOURS, id="moments"),
        pytest.param([hour.replace(tzinfo=UTC) for hour in HOURS], id="moments with a zone"),
        pytest.param([date(2026, 5, day) for day in range(1, 5)], id="days"),
        pytest.param([f"2026-05-0{day}" for day in range(1, 5)], id="days as text"),
        pytest.param([f"2026-0{month}" for month in range(1, 5)], id="months as text"),
        pytest.param([f"2026-05-01T0{hour}:30Z" for hour in range(4)], id="minutes with a zone as text"),
        pytest.param([f"2026-05-01 0{hour}:30:00.5" for hour in range(4)], id="fractions of seconds as text"),
    ],
)
def test_times_with_numbers_are_a_series(keys: list[Any]) -> None:
    (series,) = series_of([(key, at * 1.5) for at, key in reversed(list(enumerate(keys)))])
    assert [value for _, value in series.points] == [0.0, 1.5, 3.0, 4.5], "in the order of time"
    assert (series.first, series.last, series.name) == (keys[0], keys[-1], None)


@pytest.mark.parametrize("swapped", [False, True])
def test_times_with_names_are_a_series_for_each(swapped: bool) -> None:
    keys = [(hour, status) for hour in HOURS for status in (200, 404)]
    series = series_of([((key[1], key[0]) if swapped else key, 1) for key in keys])
    assert [(one.name, len(one.points)) for one in series] == [(200, 4), (404, 4)]


def test_zones_are_compared() -> None:
    east = timezone(timedelta(hours=5))
    keys = [datetime(2026, 5, 1, 6, tzinfo=east), datetime(2026, 5, 1, 2, tzinfo=UTC), HOURS[3].replace(tzinfo=UTC)]
    (series,) = series_of([(key, at) for at, key in enumerate(keys)])
    assert [value for _, value in series.points] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([("2026-05-01", 1), ("2026-05-02", 1)], id="two points"),
        pytest.param([(str(year), 1) for year in range(2000, 2010)], id="numbers that may be years"),
        pytest.param([(stamp, 1) for stamp in range(1_700_000_000, 1_700_000_009)], id="numbers that may be stamps"),
        pytest.param([*((hour, 1) for hour in HOURS), ("total", 9)], id="one key that is none"),
        pytest.param([*((hour, 1) for hour in HOURS), ("2026-13-45", 9)], id="no such day"),
        pytest.param([(hour, "1") for hour in HOURS], id="values that are texts"),
        pytest.param([(hour, True) for hour in HOURS], id="truths"),
        pytest.param([(hour, math.nan) for hour in HOURS], id="no numbers"),
        pytest.param([(hour, math.inf) for hour in HOURS], id="infinity"),
        pytest.param([(hour, 10**400) for hour in HOURS], id="larger than any float"),
        pytest.param([*((hour, 1) for hour in HOURS), (HOURS[0].replace(tzinfo=UTC), 1)], id="with and without zone"),
        pytest.param([((hour, name), 1) for hour in HOURS for name in "abcdefg"], id="more names than are told apart"),
        pytest.param([((hour, "a", "b"), 1) for hour in HOURS], id="more than a name"),
        pytest.param([((hour, [1]), 1) for hour in HOURS], id="a name that no dict takes"),
        pytest.param([(hour, 1) for hour in HOURS] + [(pandas.NaT, 1)], id="no time of pandas"),
        pytest.param([], id="nothing"),
    ],
)
def test_what_is_something_else_is_a_table(pairs: list[tuple[Any, Any]]) -> None:
    assert series_of(pairs) == []


def test_a_long_series_keeps_its_extremes_and_stays_small() -> None:
    points = [(float(at), 5.0) for at in range(100_000)]
    points[54_321] = (54_321.0, 9.0)
    drawn = line(points, 0.0, 9.0, "")
    assert "543.2 0.0" in drawn and len(drawn) < 25_000


def test_a_series_of_one_moment_or_one_value_is_drawn() -> None:
    assert "nan" not in line([(1.0, 2.0)] * 3, 2.0, 2.0, "") and "nan" not in line([(1.0, 0.0)], 0.0, 0.0, "")
