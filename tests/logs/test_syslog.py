"""Syslog against writers of both RFCs, the examples of the RFCs, and what daemons write to files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.logs import Message, syslog

from .counted import counted, parsed

BOM = "\ufeff"
ZONES = st.just(UTC) | st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda each: timezone(timedelta(minutes=each)))
TIMES = st.builds(
    lambda time, zone: time.replace(tzinfo=zone), st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28)), ZONES
)
#: What RFC 5424 lets a header's field be.
WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters='="]'), min_size=1, max_size=10)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ['"', "\\", "]", '\\"', "\\]", 'a="b"', "] [x", "\\n"]
)
DATA = st.dictionaries(NAMES, st.dictionaries(NAMES, TEXTS, max_size=3), max_size=3)


def written(data: dict[str, dict[str, str]]) -> str:
    """Structured data, as RFC 5424 has it."""
    elements = []
    for name, parameters in data.items():
        pairs = [f' {key}="{escaped(value)}"' for key, value in parameters.items()]
        elements.append(f"[{name}{''.join(pairs)}]")
    return "".join(elements) or "-"


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("]", "\\]")


def nil(word: str) -> str | None:
    return None if word == "-" else word


@given(st.integers(0, 191), st.none() | TIMES, WORDS, WORDS, WORDS, WORDS, DATA, TEXTS, st.booleans())
def test_what_rfc_5424_writes_is_read(
    priority: int,
    time: datetime | None,
    host: str,
    app: str,
    pid: str,
    msgid: str,
    data: dict[str, dict[str, str]],
    text: str,
    marked: bool,
) -> None:
    text = text.lstrip(BOM).rstrip("\r")
    stamp = "-" if time is None else time.isoformat().replace("+00:00", "Z")
    head = f"<{priority}>1 {stamp} {host} {app} {pid} {msgid} {written(data)}"
    line = f"{head} {BOM if marked else ''}{text}"
    message = parsed(syslog, line)
    expected = (priority // 8, priority % 8, time, nil(host), nil(app), nil(pid), nil(msgid), data)
    assert message == (*expected, text)
    assert time is None or message.time.utcoffset() == time.utcoffset()
    assert parsed(syslog, line.encode()) == message
    assert parsed(syslog, head) == (*expected, "")


@given(
    st.none() | st.integers(0, 191),
    st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)),
    WORDS,
    st.none() | st.from_regex(r"[a-z][a-z/:_.-]{0,10}[a-z]", fullmatch=True),
    st.none() | st.integers(1, 99999).map(str),
    TEXTS,
    ZONES,
)
def test_what_rfc_3164_writes_is_read(
    priority: int | None, time: datetime, host: str, app: str | None, pid: str | None, text: str, zone: timezone
) -> None:
    text = "said " + text.rstrip("\r")
    time = time.replace(microsecond=0, tzinfo=zone)
    stamp = f"{MONTHS[time.month - 1]} {time.day:2} {time:%H:%M:%S}"
    tag = "" if app is None else f"{app}[{pid}]: " if pid is not None else f"{app}: "
    line = f"{'' if priority is None else f'<{priority}>'}{stamp} {host} {tag}{text}"
    expected = (
        *((priority // 8, priority % 8) if priority is not None else (None, None)),
        *(time, host, app, pid if app is not None else None, None, {}, text),
    )
    assert parsed(lambda line: syslog(line, year=time.year, zone=zone), line) == expected
    assert parsed(syslog, line).time is None
    own_year = line.replace(stamp, stamp.replace(f"{time.day:2} ", f"{time.day:2} {time.year} ", 1), 1)
    assert parsed(lambda line: syslog(line, year=1, zone=zone), own_year) == expected
    by_rsyslog = line.replace(stamp, time.isoformat(), 1)
    assert parsed(syslog, by_rsyslog) == expected


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def test_the_examples_of_rfc_5424() -> None:
    first = parsed(
        syslog, f"<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - {BOM}'su root' failed for lonvick"
    )
    moment = datetime(2003, 10, 11, 22, 14, 15, 3000, UTC)
    assert first == Message(
        4, 2, moment, "mymachine.example.com", "su", None, "ID47", {}, "'su root' failed for lonvick"
    )
    second = parsed(syslog, "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time.")
    assert second.time == datetime(2003, 8, 24, 12, 14, 15, 3, UTC)
    assert (second.pid, second.text) == ("8710", "%% It's time.")
    third = parsed(
        syslog,
        "<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 "
        '[exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"][examplePriority@32473 class="high"]',
    )
    assert third.data["exampleSDID@32473"] == {"iut": "3", "eventSource": "Application", "eventID": "1011"}
    assert (third.data["examplePriority@32473"], third.text) == ({"class": "high"}, "")


def test_the_examples_of_rfc_3164() -> None:
    first = parsed(lambda line: syslog(line, 2003), "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick")
    assert first.time == datetime(2003, 10, 11, 22, 14, 15, tzinfo=UTC)
    assert (first.app, first.text) == ("su", "'su root' failed for lonvick")
    second = parsed(syslog, "<13>Feb  5 17:32:18 10.0.0.99 Use the BFG!")
    assert (second.host, second.app, second.text) == ("10.0.0.99", None, "Use the BFG!")


def test_a_year_and_a_zone_are_the_callers_and_no_clocks() -> None:
    line = "Feb 29 12:00:00 host kernel: tick"
    berlin = ZoneInfo("Europe/Berlin")
    assert parsed(lambda each: syslog(each, 2024, berlin), line).time == datetime(2024, 2, 29, 11, tzinfo=UTC)
    assert parsed(syslog, line).time is None
    assert counted(lambda each: syslog(each, 2023), line)[0] == {"malformed syslog lines": 1}


def test_a_backslash_before_another_character_stands_for_itself() -> None:
    message = parsed(syslog, r'<1>1 - - - - - [a b="\n\"\]\\"] x')
    assert message.data == {"a": {"b": '\\n"]\\'}}


def test_of_a_name_that_stands_twice_the_last_value_counts() -> None:
    assert parsed(syslog, '<1>1 - - - - - [a ip="1" ip="2"]').data == {"a": {"ip": "2"}}


BAD = {
    "nothing": "",
    "no time": "<34>hello",
    "a priority that is none": "<192>1 - - - - - -",
    "a priority with a zero": "<034>1 - - - - - -",
    "a priority of RFC 3164 that is none": "<999>Oct 11 22:14:15 host a: b",
    "no structured data": "<34>1 2003-10-11T22:14:15.003Z host su - ID47",
    "structured data without an end": '<34>1 - - - - - [a b="c',
    "an element twice": '<34>1 - - - - - [a b="c"][a b="d"]',
    "a bracket that is not escaped": '<34>1 - - - - - [a b="]"] x',
    "no such day": "<34>1 2003-02-30T22:14:15Z host su - - -",
    "a leap second": "<34>1 2003-10-11T22:14:60Z host su - - -",
    "no such offset": "<34>1 2003-10-11T22:14:15+01:60 host su - - -",
    "an offset of a day": "<34>1 2003-10-11T22:14:15+24:00 host su - - -",
    "no offset": "<34>1 2003-10-11T22:14:15 host su - - -",
    "seven digits": "<34>1 2003-10-11T22:14:15.0000003Z host su - - -",
    "small letters": "<34>1 2003-10-11t22:14:15z host su - - -",
    "no such month": "Okt 11 22:14:15 host a: b",
    "day 0": "Oct  0 22:14:15 host a: b",
    "no host": "Oct 11 22:14:15",
    "digits of another script": "Oct \u0661\u0661 22:14:15 host a: b",
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD.keys())
def test_a_malformed_line_is_counted_and_shown(line: str) -> None:
    assert counted(syslog, line) == ({"malformed syslog lines": 1}, {"malformed syslog lines": {line: 1}})


@given(st.text() | st.binary(), st.none() | st.integers(-5, 20_000))
def test_nothing_raises(line: str | bytes, year: int | None) -> None:
    syslog(line, year)
    syslog("Oct 11 22:14:15 h ", year)
