"""Parsers of log lines, for mappers: one line to a small typed record, or None for a line that is malformed.

access.py       common and combined: what Apache and nginx write of a request
syslog.py       RFC 3164 and RFC 5424
logfmt.py       key=value pairs
json_lines.py   one JSON object a line
times.py        offsets and months
malformed.py    a line that is no record is counted, and a few of them are shown

Contract: a parser depends on its arguments alone, never on a clock, a time zone of the machine or a line before. A line
that does not follow its format gives None and is counted in the report ("malformed combined lines"), with samples; it
never raises. Time takes a number of steps that is linear in the line. See docs/log-parsers.md.

Imports the engine's counters and `incoop.base`, and nothing else of ours.
"""

from __future__ import annotations

from incoop.logs.access import Hit, combined, common
from incoop.logs.json_lines import json_line
from incoop.logs.logfmt import logfmt
from incoop.logs.syslog import Message, syslog

__all__ = ["Hit", "Message", "combined", "common", "json_line", "logfmt", "syslog"]
