"""Clicks: what people ask of a web server, by client, by page and by status, out of its log."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Any

from bench import data
from bench.apps.app import App
from bench.apps.words import total

#: The common part of Apache's log formats.
_LINE = re.compile(r'(\S+) \S+ \S+ \[[^\]]+\] "\S+ (\S+) [^"]*" (\d{3}) ')


def clicks(_: Any, line: str) -> Iterator[tuple[tuple[str, str], int]]:
    if found := _LINE.match(line):
        client, page, status = found.groups()
        yield ("client", client), 1
        yield ("page", page.partition("?")[0]), 1
        yield ("status", status), 1


def click_count(lines: Any) -> Any:
    return lines.flatMap(lambda line: clicks(None, line)).reduceByKey(operator.add)


APP = App("clicks", "Clicks in a log", clicks, total, total, click_count, data.write_log, "log")
