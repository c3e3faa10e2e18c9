"""Where in its line each word, and each two words in a row, stand on average."""

import itertools

import incoop


def of_words(_, line):
    for place, word in enumerate(line.split()):
        yield word, (1, place)


def of_pairs(_, line):
    for place, pair in enumerate(itertools.pairwise(line.split())):
        yield pair, (1, place)


def added(key, shares):
    count = total = 0
    for share in shares:
        count += share[0]
        total += share[1]
    yield key, (count, total)


def mean(key, shares):
    for _, (count, total) in added(key, shares):
        yield key, total / count


words = incoop.Job("mean place of words", mapper=of_words, combiner=added, reducer=mean)
pairs = incoop.Job("mean place of pairs of words", mapper=of_pairs, combiner=added, reducer=mean)
