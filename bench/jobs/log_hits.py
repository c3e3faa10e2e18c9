"""Hits by page and status, the largest answer to each client, out of an access log; and when a line was written."""

import incoop
from incoop import logs


def hits(_, line):
    if hit := logs.combined(line):
        yield (hit.url, hit.status), 1


def largest_answers(_, line):
    if hit := logs.combined(line):
        yield hit.host, hit.bytes


def total(key, counts):
    yield key, sum(counts)


def largest(key, sizes):
    yield key, max(sizes)


def time_of(line):
    hit = logs.combined(line)
    return hit and hit.time


count = incoop.Job("hits", mapper=hits, combiner=total, reducer=total)
most = incoop.Job("largest answers", mapper=largest_answers, combiner=largest, reducer=largest)
