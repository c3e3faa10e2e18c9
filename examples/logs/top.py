"""The ten URLs and the ten referrers with the most requests: python examples/logs/top.py access.log…

Two jobs, one behind the other: the second one reads what changed in the result of the first.
"""

import heapq
import sys

import incoop
from incoop import logs


def mentions(_, line):
    if hit := logs.combined(line):
        if hit.url:
            yield ("URL", hit.url), 1
        if hit.referrer:
            yield ("referrer", hit.referrer), 1


def total(what, counts):
    yield what, sum(counts)


def by_kind(what, count):
    kind, name = what
    yield kind, [(count, name)]


def ten_most(kind, lists):
    yield kind, heapq.nlargest(10, (each for some in lists for each in some))


count = incoop.Job("requests per URL and referrer", mapper=mentions, combiner=total, reducer=total)
top = incoop.Job("top URLs and referrers", mapper=by_kind, combiner=ten_most, reducer=ten_most)


def main():
    with incoop.connect() as inc:
        counted = inc.run(count, sys.argv[1:])
        for kind, most in sorted(inc.run(top, counted)):
            for requests, name in most:
                print(f"{requests:8,}  {kind:8}  {name}")
        print(counted.report, file=sys.stderr)


if __name__ == "__main__":
    main()
