"""Print each word of standard input with a one."""

import sys

for line in sys.stdin:
    for word in line.split():
        print(word, 1, sep="\t")
