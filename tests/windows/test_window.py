"""Windows as values: what they go by, from arguments and from text; bad ones are refused with the remedy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import incoop
from incoop.windows.window import microseconds_of, parsed


def of(line: str) -> float:
    return float(line)


@pytest.mark.parametrize(
    ("text", "by", "size", "hop"),
    [
        ("10 files", "files", 10, 0),
        ("1 file", "files", 1, 0),
        ("10 files every 5", "files", 10, 5),
        ("100chunks", "chunks", 100, 0),
        ("1G", "bytes", 1 << 30, 0),
        ("1.5 MiB", "bytes", 3 << 19, 0),
        ("4096", "bytes", 4096, 0),
    ],
)
def test_a_text_names_a_window(text: str, by: str, size: int, hop: int) -> None:
    window = parsed(text)
    assert (window.by, window.size, window.hop) == (by, size, hop)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("90 m", 5400), ("1h", 3600), ("7 days", 604800), ("2 weeks", 1209600), ("1.5 hours", 5400)],
)
def test_with_a_time_a_text_is_a_span(text: str, seconds: int) -> None:
    assert parsed(text, of) == incoop.last(seconds=seconds, of=of)


def test_a_window_says_what_it_is() -> None:
    assert str(incoop.last(days=7, of="%Y-%m-%d")) == "last 7 days, 0:00:00"
    assert str(incoop.last(chunks=3, hop=2)) == "last 3 chunks, every 2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "one of files, chunks, bytes or a span"),
        ({"files": 1, "bytes": 1}, "one of files, chunks, bytes or a span"),
        ({"files": 0}, "at least 1"),
        ({"files": 2.5}, "whole number"),
        ({"files": True}, "whole number"),
        ({"bytes": "many"}, "'512M'"),
        ({"days": 1}, "needs `of`"),
        ({"files": 3, "of": of}, "other windows have none"),
        ({"days": 1, "of": "name"}, "'%Y-%m-%d'"),
        ({"days": -1, "of": of}, "at least 1"),
        ({"bytes": 5, "hop": 1}, "as far as it can"),
        ({"files": 5, "hop": 0}, "at least 1"),
        ({"days": 1, "of": of, "hop": -3}, "at least 1"),
        ({"days": 1e300, "of": of}, "no longer than a billion days"),
        ({"days": float("nan"), "of": of}, "made of numbers"),
        ({"days": "1", "of": of}, "made of numbers, and no longer than a billion days, not days='1'"),
        ({"days": 1, "of": of, "hop": float("inf")}, "made of numbers"),
        ({"bytes": "9" * 400}, "some disk could hold"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(incoop.BadCall) as refused:
        incoop.last(**arguments)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["", "files", "ten files", "2.5 files", "7 days", "1h every 1m", "3 parsecs", "-1 files", "9" * 5000 + " files"],
)
def test_a_text_that_names_none_is_refused(text: str) -> None:
    with pytest.raises(incoop.BadCall):
        parsed(text)


@pytest.mark.parametrize("text", ["7 parsecs", "1h every hour", "days", "9" * 30 + " days"])
def test_a_span_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(incoop.BadCall):
        parsed(text, of)


def test_times_are_whole_microseconds_whatever_gives_them() -> None:
    noon = datetime(1970, 1, 2, 12, 0, 0, 7, tzinfo=UTC)
    here = noon.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert microseconds_of(noon) == microseconds_of(here) == microseconds_of(noon.replace(tzinfo=None)) == 129600000007
    assert microseconds_of(1) == microseconds_of(1.0) == 1_000_000
    assert microseconds_of(None) is None


@pytest.mark.parametrize("time", ["noon", True, float("nan"), float("inf"), 10**400])
def test_what_is_no_time_is_an_error(time: Any) -> None:
    with pytest.raises(TypeError, match="a record's time is"):
        microseconds_of(time)
