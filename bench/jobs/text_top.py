"""The lengths of the three longest lines with each word, and with each two words in a row."""

import heapq
import itertools

import incoop


def of_words(_, line):
    for word in line.split():
        yield word, [len(line)]


def of_pairs(_, line):
    for pair in itertools.pairwise(line.split()):
        yield pair, [len(line)]


def longest(key, lists):
    yield key, heapq.nlargest(3, itertools.chain.from_iterable(lists))


words = incoop.Job("three longest lines of words", mapper=of_words, combiner=longest, reducer=longest)
pairs = incoop.Job("three longest lines of pairs of words", mapper=of_pairs, combiner=longest, reducer=longest)
