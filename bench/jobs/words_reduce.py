"""Add up the numbers of each word on standard input, which is sorted by words."""

import sys

current, count = None, 0
for line in sys.stdin:
    word, number = line.rstrip("\n").split("\t", 1)
    if word != current:
        if current is not None:
            print(current, count, sep="\t")
        current, count = word, 0
    count += int(number)
if current is not None:
    print(current, count, sep="\t")
