"""Count words: incoop run words_job.py in.txt --output out"""

import incoop


def words(_, line):
    for word in line.split():
        yield word, 1


def total(word, counts):
    yield word, sum(counts)


job = incoop.Job("word count", mapper=words, combiner=total, reducer=total)
