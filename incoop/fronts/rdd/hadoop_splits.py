"""How many partitions Spark makes of local files, told without asking it.

Contract: the numbers are those of Spark and Hadoop as they are without settings of their own; who calls this has looked
that there are none. tests/fronts/test_unstarted_partitions.py compares them with Spark's.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

#: Hadoop's block of a local file, and how much larger than the others the last split may be.
_BLOCK = 32 << 20
_SLOP = 1.1

#: Spark SQL's largest partition of files, and what opening another file counts.
_SQL_MOST = 128 << 20
_SQL_OPEN = 4 << 20

#: Compressed files that are read from their beginning only.
_WHOLE = ".gz"

#: A file: its name and its size.
Sized = tuple[str, int]


def text_splits(files: Sequence[Sized], least: int) -> int:
    """Partitions of `textFile`, of which the program wants at least so many; Spark leaves out empty files."""
    goal = sum(size for _, size in files) // max(1, least)
    most = max(1, min(goal, _BLOCK))
    splits = 0
    for name, size in files:
        left = size
        while not name.endswith(_WHOLE) and left / most > _SLOP:
            splits += 1
            left -= most
        splits += left > 0
    return splits


def frame_splits(files: Sequence[Sized], parallelism: int) -> int:
    """Partitions of `spark.read.text`: pieces of files, the longest first, side by side while there is room."""
    filled = [(name, size) for name, size in files if size]
    per_core = sum(size + _SQL_OPEN for _, size in filled) // parallelism
    most = min(_SQL_MOST, max(_SQL_OPEN, per_core))
    pieces: list[int] = []
    for name, size in filled:
        if name.endswith(_WHOLE):
            pieces.append(size)
        else:
            pieces += [min(most, size - start) for start in range(0, size, most)]
    partitions, room = 0, -1
    for piece in sorted(pieces, reverse=True):
        if piece > room:
            partitions, room = partitions + 1, most
        room -= piece + _SQL_OPEN
    return partitions


def whole_file_splits(sizes: Sequence[int], least: int) -> list[list[int]]:
    """Which files, by number, each partition of `wholeTextFiles` has, in its order.

    Hadoop fills partitions with files that lie on a machine, then with what is left: files that fill none, and empty
    ones, which lie nowhere.
    """
    most = ceil(sum(sizes) / max(1, least))
    made: list[list[int]] = []

    def filled(numbers: Sequence[int]) -> list[int]:
        piece: list[int] = []
        for number in numbers:
            piece.append(number)
            if most and sum(sizes[each] for each in piece) >= most:
                made.append(piece)
                piece = []
        return piece

    left = filled([number for number, size in enumerate(sizes) if size])
    last = filled(sorted([*left, *(number for number, size in enumerate(sizes) if not size)]))
    if last:
        made.append(last)
    return made
