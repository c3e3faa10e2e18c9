"""A list of cities in JSON, a field a line: how often a field has a value, and how it is written."""

import incoop


def ones(_, line):
    if ":" in line:
        yield line.strip().rstrip(","), 1


def lines(_, line):
    if ":" in line:
        name, value = line.strip().rstrip(",").split(": ", 1)
        yield (name, value[1:4]), value


def count(field, found):
    yield field, sum(found)


def last(field, found):
    yield field, max(found)


def listed(field, found):
    yield field, sorted(found)


sums = incoop.Job("fields", mapper=ones, combiner=count, reducer=count)
maxima = incoop.Job("last value", mapper=lines, combiner=last, reducer=last)
groups = incoop.Job("all values", mapper=lines, reducer=listed)
