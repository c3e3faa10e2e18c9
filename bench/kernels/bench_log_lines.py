"""Parsing a line of each format, beside another parser of access logs; and merging sketches."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import apachelogs
import pytest

from incoop import logs
from incoop.sketches import Distinct, Quantiles

LINES = 1_000

_RNG = random.Random(2026)


def _numbered(line: str) -> list[str]:
    return [line.replace("NUMBER", str(_RNG.randrange(10**6))) for _ in range(LINES)]


COMMON = '10.0.3.7 - - [17/May/2026:10:05:03 +0200] "GET /article/NUMBER?page=2 HTTP/1.1" 200 203023'
COMBINED = (
    f'{COMMON} "http://example.org/articles/" "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 '
    '(KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36"'
)
PARSERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "combined": (logs.combined, COMBINED),
    "combined, by apachelogs": (apachelogs.LogParser(apachelogs.COMBINED).parse, COMBINED),
    "common": (logs.common, COMMON),
    "JSON": (
        logs.json_line,
        '{"time": "2026-05-17T10:05:03Z", "status": 200, "took": 0.031, "url": "/article/NUMBER", "host": "10.0.3.7"}',
    ),
    "syslog, RFC 5424": (
        logs.syslog,
        "<165>1 2026-05-17T10:05:03.003Z web.example.com shop NUMBER ID47 "
        '[request@32473 id="3" source="Application"] an order came in',
    ),
    "syslog, RFC 3164": (
        lambda line: logs.syslog(line, 2026),
        "May 17 10:05:03 web sshd[NUMBER]: Failed password for root from 10.0.3.7 port 22 ssh2",
    ),
    "logfmt": (
        logs.logfmt,
        'at=info method=GET path="/article/NUMBER" host=example.com fwd="10.0.3.7" dyno=web.1 took=18ms status=200',
    ),
}


@pytest.mark.parametrize("name", PARSERS)
def test_parse(benchmark: Any, name: str) -> None:
    """A thousand lines: milliseconds here are microseconds a line."""
    parse, line = PARSERS[name]
    lines = _numbered(line)
    parsed = benchmark(lambda: [parse(each) for each in lines])
    assert None not in parsed


def test_merge_a_thousand_small_sketches_of_different_values(benchmark: Any) -> None:
    sketches = [Distinct([number]) for number in range(1_000)]
    merged = benchmark(lambda: Distinct.merged(sketches))
    assert merged == Distinct(range(1_000))


def test_merge_large_sketches_of_different_values(benchmark: Any) -> None:
    sketches = [Distinct(range(start, start + 10_000)) for start in range(0, 160_000, 10_000)]
    merged = benchmark(lambda: Distinct.merged(sketches))
    assert abs(merged.count() - 160_000) < 8_000


def test_merge_sketches_of_quantiles(benchmark: Any) -> None:
    numbers = [[_RNG.lognormvariate(0, 1) for _ in range(1_000)] for _ in range(16)]
    sketches = [Quantiles(some) for some in numbers]
    merged = benchmark(lambda: Quantiles.merged(sketches))
    assert merged == Quantiles(number for some in numbers for number in some)
