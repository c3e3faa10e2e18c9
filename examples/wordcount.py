"""Count words: incoop run examples/wordcount.py README.md"""

import incoop


def words(_, line):
    for word in line.split():
        yield word, 1


def total(word, counts):
    yield word, sum(counts)


job = incoop.Job("word count", mapper=words, combiner=total, reducer=total)
