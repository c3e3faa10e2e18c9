"""The places in a line where each word, and each two words in a row, occur."""

import itertools

import incoop


def of_words(_, line):
    for place, word in enumerate(line.split()):
        yield word, {place}


def of_pairs(_, line):
    for place, pair in enumerate(itertools.pairwise(line.split())):
        yield pair, {place}


def union(key, sets):
    yield key, set().union(*sets)


def places(key, sets):
    yield key, sorted(set().union(*sets))


words = incoop.Job("places of words", mapper=of_words, combiner=union, reducer=places)
pairs = incoop.Job("places of pairs of words", mapper=of_pairs, combiner=union, reducer=places)
