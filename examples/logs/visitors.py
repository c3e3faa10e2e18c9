"""Different visitors of each day, exactly or by a sketch that takes at most 4 KiB a day, with an error of 1.6 %.

incoop run examples/logs/visitors.py:exact access.log
incoop run examples/logs/visitors.py:sketch access.log

Who has the same address and the same browser on a day is one visitor.
"""

import incoop
from incoop import logs
from incoop.sketches import Distinct


def visitors(_, line):
    if hit := logs.combined(line):
        yield f"{hit.time:%Y-%m-%d}", frozenset([(hit.host, hit.agent)])


def union(day, sets):
    yield day, frozenset().union(*sets)


def size(day, sets):
    yield day, len(frozenset().union(*sets))


def sketches(_, line):
    if hit := logs.combined(line):
        yield f"{hit.time:%Y-%m-%d}", Distinct([(hit.host, hit.agent)])


def merged(day, parts):
    yield day, Distinct.merged(parts)


def estimate(day, parts):
    yield day, Distinct.merged(parts).count()


exact = incoop.Job("visitors per day", mapper=visitors, combiner=union, reducer=size)
sketch = incoop.Job("visitors per day, about", mapper=sketches, combiner=merged, reducer=estimate)
