"""Three chained jobs: count words, group them by count, keep the first few of each count.

python examples/top_words.py FILE…

Change a line of the input and run it again: each job redoes only what the change reaches.
"""

import sys

import incoop


def words(_, line):
    for word in line.split():
        yield word, 1


def total(word, counts):
    yield word, sum(counts)


def by_count(word, count):
    yield count, word


def some_words(count, found):
    yield count, sorted(found)[:5]


def frequent(count, found):
    if count > 1:
        yield "frequent", (count, found)


def most_frequent(_, groups):
    yield from sorted(groups, reverse=True)[:5]


def main():
    with incoop.connect() as inc:
        counts = inc.run(incoop.Job("count words", words, combiner=total, reducer=total), sys.argv[1:])
        groups = inc.run(incoop.Job("group by count", by_count, reducer=some_words), counts)
        top = inc.run(incoop.Job("top groups", frequent, reducer=most_frequent), groups)
        for count, found in top:
            print(count, *found)
        for result in (counts, groups, top):
            print(result.report, file=sys.stderr)


if __name__ == "__main__":
    main()
