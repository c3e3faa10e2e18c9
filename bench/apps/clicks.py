"""Clicks: what people ask of a web server, by client, by page and by status, out of its log."""

from __future__ import annotations

import operator
from typing import Any

from bench import data
from bench.apps.app import App
from bench.jobs.clicks import clicks, total


def click_count(lines: Any) -> Any:
    return lines.flatMap(lambda line: clicks(None, line)).reduceByKey(operator.add)


APP = App("clicks", "Clicks in a log", clicks, total, total, click_count, data.write_log, "log")
