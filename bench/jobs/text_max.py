"""The length of the longest line with each word, and with each two words in a row."""

import itertools

import incoop


def of_words(_, line):
    for word in line.split():
        yield word, len(line)


def of_pairs(_, line):
    for pair in itertools.pairwise(line.split()):
        yield pair, len(line)


def longest(key, lengths):
    yield key, max(lengths)


words = incoop.Job("longest line of words", mapper=of_words, combiner=longest, reducer=longest)
pairs = incoop.Job("longest line of pairs of words", mapper=of_pairs, combiner=longest, reducer=longest)
