"""Bigram count: how often each two words follow each other in a line."""

import itertools

import incoop


def bigrams(_, line):
    for pair in itertools.pairwise(line.split()):
        yield pair, 1


def total(pair, counts):
    yield pair, sum(counts)


job = incoop.Job("bigram count", mapper=bigrams, combiner=total, reducer=total)
