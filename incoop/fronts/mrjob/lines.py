"""Lines and what mrjob makes of them: records of an input, keys that are sorted and grouped by.

Contract: the same bytes as mrjob's own simulation of Hadoop (`mrjob.sim`): lines end at a newline alone, and are sorted
by what stands before their first tab. Where they are cut into tasks: sorted_lines.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from incoop.inchdfs.cutting.records import Buffer, Lines

#: What an engine's pair is here: the bytes before the first tab, and those behind it.
LinePair = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class RawLines:
    r"""Lines as bytes, ended by a newline alone: a carriage return inside a line ends nothing in mrjob.

    Example:
        >>> RawLines().records(b"one\ntw\ro\r\nlast")
        [b'one', b'tw\ro\r', b'last']
    """

    #: A dataset of lines can be read so.
    cut_as: ClassVar[Lines] = Lines()

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        before = data.rfind(b"\n", start, position) + 1
        after = data.find(b"\n", position - 1, end) + 1
        return before or start, after or -1

    def records(self, chunk: bytes) -> list[bytes]:
        return split_lines(chunk)


def split_lines(data: bytes) -> list[bytes]:
    """The lines of some bytes, without their newlines."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def joined(lines: Iterable[bytes]) -> bytes:
    r"""Lines as the bytes of a file.

    Example:
        >>> joined([b"a", b"b"]), joined([])
        (b'a\nb\n', b'')
    """
    return b"".join([line + b"\n" for line in lines])


def pair_of(line: bytes) -> LinePair:
    r"""The key that a line is sorted by, and the rest. Without a tab its newline is part of the key, as in mrjob.

    Example:
        >>> pair_of(b"a\t1\t2"), pair_of(b"a\t"), pair_of(b"a")
        ((b'a', b'1\t2'), (b'a', b''), (b'a\n', b''))
    """
    key, tab, value = line.partition(b"\t")
    return (key, value) if tab else (line + b"\n", b"")


def line_of(key: bytes, value: bytes) -> bytes:
    r"""The line that `pair_of` took apart.

    Example:
        >>> [line_of(*pair_of(line)) for line in (b"a\t1\t2", b"a\t", b"a", b"")]
        [b'a\t1\t2', b'a\t', b'a', b'']
    """
    return key[:-1] if key.endswith(b"\n") else key + b"\t" + value


def place_of_key(key: bytes, sort_values: bool) -> bytes:
    """What a group of lines is sorted by: its key, or the beginning of whole lines where values are sorted, too."""
    return key + b"\t" if sort_values and not key.endswith(b"\n") else key


def sorted_values(values: Iterable[bytes]) -> list[bytes]:
    r"""Values of one key in the order of whole lines, whose newline counts.

    Example:
        >>> sorted_values([b"ab", b"ab\tc"])
        [b'ab\tc', b'ab']
    """
    return sorted(values, key=lambda value: value + b"\n")
