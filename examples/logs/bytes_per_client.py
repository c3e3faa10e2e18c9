"""Bytes sent to each client: incoop run examples/logs/bytes_per_client.py access.log"""

import incoop
from incoop import logs


def sent(_, line):
    if hit := logs.combined(line):
        yield hit.host, hit.bytes


def total(host, sizes):
    yield host, sum(sizes)


job = incoop.Job("bytes per client", mapper=sent, combiner=total, reducer=total)
