"""How often each word, and each two words in a row, occur at each place in a line."""

import itertools
from collections import Counter

import incoop


def of_words(_, line):
    for place, word in enumerate(line.split()):
        yield word, Counter([place])


def of_pairs(_, line):
    for place, pair in enumerate(itertools.pairwise(line.split())):
        yield pair, Counter([place])


def merged(key, counters):
    result = Counter()
    for counter in counters:
        result.update(counter)
    yield key, result


def places(key, counters):
    for _, result in merged(key, counters):
        yield key, sorted(result.items())


words = incoop.Job("places counted of words", mapper=of_words, combiner=merged, reducer=places)
pairs = incoop.Job("places counted of pairs of words", mapper=of_pairs, combiner=merged, reducer=places)
