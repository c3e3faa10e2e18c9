"""logfmt and JSON lines against writers of them; and that no line of any format takes long."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.logs import combined, common, json_line, logfmt, syslog

from .counted import counted, parsed

TEXTS = st.text(max_size=20) | st.sampled_from(["", " ", '"', "\\", "=", "a=b", 'say "hi"', "\\n", "a\nb", "café"])
KEYS = st.text(min_size=1, max_size=10).filter(
    lambda key: not any(each.isspace() or each in '="' for each in key) and not key.startswith("\ufeff")
)


def written(pairs: dict[str, str | bool]) -> str:
    """Pairs as writers of logfmt write them: quoted where that is needed."""
    parts = []
    for key, value in pairs.items():
        if value is True:
            parts.append(key)
        elif isinstance(value, str) and value and not any(each.isspace() or each in '"\\' for each in value):
            parts.append(f"{key}={value}")
        else:
            parts.append(f"{key}={json.dumps(value)}")
    return " ".join(parts)


@given(st.dictionaries(KEYS, TEXTS | st.just(True), min_size=1, max_size=6), st.sampled_from(["", " ", "\r", "\t"]))
def test_what_logfmt_writes_is_read(pairs: dict[str, str | bool], behind: str) -> None:
    line = written(pairs) + behind
    assert parsed(logfmt, line) == pairs
    assert parsed(logfmt, "\ufeff " + line) == pairs


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        pytest.param("a= b", {"a": "", "b": True}, id="an empty value and a flag"),
        pytest.param('a="" b=""', {"a": "", "b": ""}, id="empty values in quotes"),
        pytest.param("a=1   b=2\tc=3", {"a": "1", "b": "2", "c": "3"}, id="more than a space"),
        pytest.param("url=/a?b=c&d=e", {"url": "/a?b=c&d=e"}, id="an equals sign in a value"),
        pytest.param("a=1 a=2", {"a": "2"}, id="a key twice"),
        pytest.param(r'm="tab\there \u00e9 \"q\" \\"', {"m": 'tab\there é "q" \\'}, id="JSON's escapes"),
        pytest.param(r'm="\ud83d\ude00"', {"m": "😀"}, id="a pair of surrogates"),
        pytest.param(r"path=C:\new", {"path": r"C:\new"}, id="a backslash without quotes"),
        pytest.param("took=1.5ms", {"took": "1.5ms"}, id="no guess at numbers"),
    ],
)
def test_logfmt_reads(line: str, pairs: dict[str, str | bool]) -> None:
    assert parsed(logfmt, line) == pairs
    assert parsed(logfmt, line.encode()) == pairs


BAD_LOGFMT = ["", "  ", "=1", '"a"=1', 'a="b', 'a="b"c', 'a=b"c', 'a"b=1', r'a="\q"', r'a="\u12"', 'a="b\\"', "a=1 =2"]


@pytest.mark.parametrize("line", BAD_LOGFMT)
def test_a_malformed_line_of_logfmt_is_counted_and_shown(line: str) -> None:
    assert counted(logfmt, line) == ({"malformed logfmt lines": 1}, {"malformed logfmt lines": {line: 1}})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans(), st.sampled_from(["", " ", "\r", "\t"]))
def test_an_object_is_read_as_it_was_written(value: dict[str, Any], ascii_only: bool, around: str) -> None:
    line = around + json.dumps(value, ensure_ascii=ascii_only) + around
    assert parsed(json_line, line) == value
    assert parsed(json_line, "\ufeff" + line) == value


BAD_JSON = {
    "nothing": "",
    "no object": "[1]",
    "null": "null",
    "cut off": '{"a": "b',
    "two objects": "{} {}",
    "NaN": '{"a": NaN}',
    "an infinity": '{"a": -Infinity}',
    "single quotes": "{'a': 1}",
    "a number without an end": '{"a": ' + "9" * 5000 + "}",
    "too deep": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
}


@pytest.mark.parametrize("line", BAD_JSON.values(), ids=BAD_JSON.keys())
def test_a_malformed_line_of_json_is_counted_and_shown(line: str) -> None:
    counters, samples = counted(json_line, line)
    assert counters == {"malformed JSON lines": 1}
    assert len(samples["malformed JSON lines"]) == 1


def test_a_number_beyond_a_float_is_what_python_makes_of_it() -> None:
    assert parsed(json_line, '{"a": 1e999}') == {"a": math.inf}


@given(st.text() | st.binary())
def test_nothing_raises(line: str | bytes) -> None:
    logfmt(line)
    json_line(line)


TIME = "[10/Oct/2000:13:55:36 -0700]"
#: Lines of half a megabyte that a regular expression could try in very many ways.
LONG = {
    "one word": "a" * 500_000,
    "spaces": " " * 500_000,
    "quotes": '"' * 500_000,
    "backslashes": "\\" * 500_000,
    "escaped quotes": f'h - - {TIME} "' + '\\"' * 250_000,
    "users": "h - " + "[10/ " * 100_000,
    "times": "h - - " + f'{TIME} "\\"' * 15_000,
    "requests": f'h - - {TIME} "GET ' + " HTTP/1" * 70_000 + '" 200 5 "-" "-',
    "a word and a quote": "a" * 500_000 + '"',
    "a value without an end": 'a="' + '\\"' * 250_000,
    "structured data": "<1>1 - - - - - " + '[a b="c"]' * 50_000 + "[",
    "a value of structured data": '<1>1 - - - - - [a b="' + '\\"' * 250_000,
    "a tag": "Oct 11 22:14:15 host " + "a:" * 250_000,
    "brackets": "Oct 11 22:14:15 host " + "a[" * 250_000,
}


@pytest.mark.parametrize("line", LONG.values(), ids=LONG.keys())
@pytest.mark.parametrize("parse", [combined, common, logfmt, syslog, json_line])
def test_no_line_takes_long(parse: Callable[[str], Any], line: str) -> None:
    started = time.process_time()
    parse(line)
    assert time.process_time() - started < 1  # some milliseconds; minutes where each character is tried from again
