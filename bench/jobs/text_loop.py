"""How often each word, and each two words in a row, occur: added up by hand."""

import itertools

import incoop


def of_words(_, line):
    for word in line.split():
        yield word, 1


def of_pairs(_, line):
    for pair in itertools.pairwise(line.split()):
        yield pair, 1


def total(key, counts):
    result = 0
    for count in counts:
        result += count
    yield key, result


words = incoop.Job("count by hand of words", mapper=of_words, combiner=total, reducer=total)
pairs = incoop.Job("count by hand of pairs of words", mapper=of_pairs, combiner=total, reducer=total)
