"""What each word, and each two words in a row, weigh: more at the beginning of a line."""

import itertools

import incoop


def of_words(_, line):
    for place, word in enumerate(line.split()):
        yield word, 1 / (place + 3)


def of_pairs(_, line):
    for place, pair in enumerate(itertools.pairwise(line.split())):
        yield pair, 1 / (place + 3)


def total(key, weights):
    yield key, sum(weights)


words = incoop.Job("weight of words", mapper=of_words, combiner=total, reducer=total)
pairs = incoop.Job("weight of pairs of words", mapper=of_pairs, combiner=total, reducer=total)
