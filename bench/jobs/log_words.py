"""How often each word occurs in what an access log says of its requests: all that is behind the time."""

import incoop


def words(_, line):
    for word in line.partition("] ")[2].replace('"', " ").split():
        yield word, 1


def total(word, counts):
    yield word, sum(counts)


job = incoop.Job("words of a log", mapper=words, combiner=total, reducer=total)
