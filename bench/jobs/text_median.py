"""The length of the line in the middle of all those with each word, and with each two words in a row."""

import itertools

import incoop


def of_words(_, line):
    for word in line.split():
        yield word, len(line)


def of_pairs(_, line):
    for pair in itertools.pairwise(line.split()):
        yield pair, len(line)


def middle(key, lengths):
    found = sorted(lengths)
    yield key, found[len(found) // 2]


words = incoop.Job("middle line of words", mapper=of_words, reducer=middle)
pairs = incoop.Job("middle line of pairs of words", mapper=of_pairs, reducer=middle)
