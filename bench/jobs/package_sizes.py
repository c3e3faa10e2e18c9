"""A package index, one file a line: `name version bytes`. What all files of a package take, the largest, and each."""

import incoop


def sizes(_, line):
    name, _, size = line.split(" ")
    yield name, int(size)


def total(name, found):
    yield name, sum(found)


def largest(name, found):
    yield name, max(found)


def listed(name, found):
    yield name, sorted(found)


sums = incoop.Job("bytes by package", mapper=sizes, combiner=total, reducer=total)
maxima = incoop.Job("largest file by package", mapper=sizes, combiner=largest, reducer=largest)
groups = incoop.Job("files by package", mapper=sizes, reducer=listed)
