"""Clicks: what people ask of a web server, by client, by page and by status, out of its log."""

import re

import incoop

# The common part of Apache's log formats.
LINE = re.compile(r'(\S+) \S+ \S+ \[[^\]]+\] "\S+ (\S+) [^"]*" (\d{3}) ')


def clicks(_, line):
    if found := LINE.match(line):
        client, page, status = found.groups()
        yield ("client", client), 1
        yield ("page", page.partition("?")[0]), 1
        yield ("status", status), 1


def total(key, counts):
    yield key, sum(counts)


job = incoop.Job("clicks", mapper=clicks, combiner=total, reducer=total)
