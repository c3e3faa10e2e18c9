"""Latencies of each URL, to within 0.8 %: median, 90 % and 99 %. incoop run examples/logs/latency.py access.log

The server writes how many seconds a request took behind the combined format: $request_time of nginx.
"""

import incoop
from incoop import logs
from incoop.sketches import Quantiles


def latencies(_, line):
    hit = logs.combined(line)
    if hit and hit.url:
        try:
            took = float(hit.extra)
        except ValueError:
            incoop.counter("lines without a latency", sample=line)
        else:
            yield hit.url.partition("?")[0], Quantiles([took])


def merged(url, parts):
    yield url, Quantiles.merged(parts)


def percentiles(url, parts):
    took = Quantiles.merged(parts)
    yield url, tuple(round(took.quantile(share), 4) for share in (0.5, 0.9, 0.99))


job = incoop.Job("latency", mapper=latencies, combiner=merged, reducer=percentiles)
