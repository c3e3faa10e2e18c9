"""Minutes in which many requests failed: incoop run examples/logs/error_bursts.py access.log

A burst is at least 5 errors of the server (status 5xx) in a minute, and at least a fifth of its requests.
"""

import incoop
from incoop import logs

ERRORS, SHARE = 5, 0.2


def outcomes(_, line):
    if hit := logs.combined(line):
        failed = hit.status is not None and hit.status >= 500
        yield f"{hit.time:%Y-%m-%d %H:%M}", (int(failed), 1)


def added(minute, counts):
    counts = list(counts)
    yield minute, (sum(failed for failed, _ in counts), sum(requests for _, requests in counts))


def bursts(minute, counts):
    for _, (failed, requests) in added(minute, counts):
        if failed >= ERRORS and failed >= SHARE * requests:
            yield minute, (failed, requests)


job = incoop.Job("error bursts", mapper=outcomes, combiner=added, reducer=bursts)
