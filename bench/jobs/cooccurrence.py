"""Co-occurrence matrix: how often each two words stand near each other in a line.

The matrix is symmetric, so a cell is stored once, under its two words in order.
"""

import incoop

# A word is near the next words of its line, up to this many behind it. Pairs, not stripes (a word with a dict of its
# neighbours): stripes take half the space, but updating a frequent word's stripe rewrites all of it, which made updates
# and first runs nearly twice as slow.
WINDOW = 2


def cells(_, line):
    found = line.split()
    for at, word in enumerate(found):
        for near in found[at + 1 : at + 1 + WINDOW]:
            yield (word, near) if word < near else (near, word), 1


def total(cell, counts):
    yield cell, sum(counts)


job = incoop.Job("co-occurrence", mapper=cells, combiner=total, reducer=total)
