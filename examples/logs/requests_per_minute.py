"""Requests per minute and status: incoop run examples/logs/requests_per_minute.py access.log"""

import incoop
from incoop import logs


def requests(_, line):
    if hit := logs.combined(line):
        yield (f"{hit.time:%Y-%m-%d %H:%M}", hit.status), 1


def total(key, counts):
    yield key, sum(counts)


def time_of(line):
    """For windows: incoop run … --window 1h --time-of time_of"""
    if hit := logs.combined(line):
        return hit.time


job = incoop.Job("requests per minute", mapper=requests, combiner=total, reducer=total)
