"""Sessions of each visitor: visits that lie at most 30 minutes apart. incoop run examples/logs/sessions.py access.log

A session is its first and its last moment, in seconds since 1970, and its number of requests.
"""

import incoop
from incoop import logs

GAP = 30 * 60


def visits(_, line):
    if hit := logs.combined(line):
        second = int(hit.time.timestamp())
        yield hit.host, [(second, second, 1)]


def joined(host, parts):
    """Sessions of parts of the log, joined where they meet: the same however the log was cut."""
    parts = list(parts)
    if len(parts) == 1:  # as the reducer is given it: the combiner has joined all of them
        yield host, parts[0]
        return
    found = []
    for start, end, requests in sorted(session for part in parts for session in part):
        if found and start - found[-1][1] <= GAP:
            first, last, before = found[-1]
            found[-1] = (first, max(last, end), before + requests)
        else:
            found.append((start, end, requests))
    yield host, found


job = incoop.Job("sessions", mapper=visits, combiner=joined, reducer=joined)
