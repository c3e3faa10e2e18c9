"""Lines as records: where a key ends, in which order a reducer sees them.

Contract: a line is kept as the command printed it. Lines are ordered by key, byte by byte or as a comparator says, and
those of one key by value; so what a reducer reads follows from the lines, whatever the order they came in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from incoop.base.errors import BadCall
from incoop.fronts.streaming.key_fields import KeyField
from incoop.fronts.streaming.line_keys import LineKeys

#: Lines that are looked at for repetition before they are sorted.
_SAMPLE = 1000

#: Bytes whose lines are counted at once: more than a program prints at a time, and little to do after it has ended.
_COUNTED_AT_ONCE = 256 << 10

#: Lines that are put together at once for a command to read.
_FED_AT_ONCE = 16 << 10


def lines_of(data: bytes) -> list[bytes]:
    r"""The lines of an output; a last one may lack its newline.

    Example:
        >>> lines_of(b"a\t1\n\nb")
        [b'a\t1', b'', b'b']
    """
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def joined(lines: list[bytes], counts: Sequence[int] | None = None) -> bytes:
    """Lines as one text, each with its newline, and as often as `counts` says."""
    if counts is None:
        return b"\n".join(lines) + b"\n" if lines else b""
    return b"".join([(line + b"\n") * count for line, count in zip(lines, counts, strict=True)])


def in_pieces(lines: list[bytes], counts: Sequence[int] | None = None) -> Iterator[bytes]:
    """Lines as texts of many lines: a command can begin with the first, and no copy of all is made."""
    for at in range(0, len(lines), _FED_AT_ONCE):
        end = at + _FED_AT_ONCE
        yield joined(lines[at:end], counts[at:end] if counts is not None else None)


def repeated(lines: list[bytes], counts: Sequence[int] | None) -> list[bytes]:
    """Lines, each as often as `counts` says."""
    return lines if counts is None else list(chain.from_iterable(map(repeat, lines, counts)))


class LineCounts:
    r"""The lines of a text that comes in pieces, each once, with how often it occurs.

    Mappers often print the same lines again; they are counted while the mapper still runs.

    Example:
        >>> lines = LineCounts()
        >>> for piece in (b"a\nb", b"\na\nc"):
        ...     lines.feed(piece)
        >>> lines.close()
        {b'a': 2, b'b': 1, b'c': 1}
    """

    def __init__(self) -> None:
        self._counts: Counter[bytes] = Counter()
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size >= _COUNTED_AT_ONCE:
            *lines, rest = b"".join(self._pieces).split(b"\n")
            self._counts.update(lines)
            self._pieces, self._size = [rest], 0

    def close(self) -> dict[bytes, int]:
        """All lines; a last one may lack its newline."""
        self._counts.update(lines_of(b"".join(self._pieces)))
        self._pieces = []
        return dict(self._counts)


@dataclass(frozen=True, slots=True)
class KeyRule:
    """A key is what stands before the n-th separator; the whole line where there are fewer."""

    separator: bytes = b"\t"
    fields: int = 1

    def __post_init__(self) -> None:
        if not self.separator or b"\n" in self.separator:
            raise BadCall(f"a field separator has at least one character and no newline, not {self.separator!r}.")
        if self.fields < 1:
            raise BadCall(f"a key has at least one field, not {self.fields}.")

    def split(self, line: bytes) -> tuple[bytes, bytes, bytes]:
        r"""Key, separator and value; the last two are empty where the whole line is the key.

        Example:
            >>> KeyRule(b".", 2).split(b"11.12.1.2"), KeyRule(b".", 2).split(b"11.12")
            ((b'11.12', b'.', b'1.2'), (b'11.12', b'', b''))
        """
        if self.fields == 1:
            return line.partition(self.separator)
        parts = line.split(self.separator, self.fields)
        if len(parts) <= self.fields:
            return line, b"", b""
        value = parts.pop()
        return self.separator.join(parts), self.separator, value

    def keys_of(self, lines: list[bytes]) -> LineKeys:
        """The key of each line."""
        if len(self.separator) == 1:
            return LineKeys.of_text(joined(lines), self.separator[0], self.fields)
        return LineKeys.of(self.split(line)[0] for line in lines)

    def rewritten(self, lines: list[bytes], separator: bytes, trailing: bool = False) -> list[bytes]:
        """The same records with another separator between key and value.

        `trailing` adds it to lines without a value, as Hadoop does.
        """
        if separator == self.separator and not trailing:
            return lines
        return [
            key + separator + value if between or trailing else key for key, between, value in map(self.split, lines)
        ]

    def below_separator(self) -> bytes | None:
        """The bytes that come before the separator, but for the newline; None for separators of several bytes."""
        if len(self.separator) != 1:
            return None
        return bytes(range(self.separator[0])).replace(b"\n", b"")


@dataclass(frozen=True, slots=True)
class LineOrder:
    """The order in which lines go to a combiner or a reducer."""

    rule: KeyRule
    #: Parts of keys that a comparator looks at first; none for the bytes of the key.
    comparator: tuple[KeyField, ...] = ()
    #: Between the fields of a key.
    field_separator: bytes = b"\t"

    def sorted(self, data: bytes) -> list[bytes]:
        r"""The lines of a text in order.

        Example:
            >>> LineOrder(KeyRule()).sorted(b"b\t1\na\t2\na\t1\n")
            [b'a\t1', b'a\t2', b'b\t1']
        """
        lines = lines_of(data)
        sample = lines[:: len(lines) // _SAMPLE + 1]
        if 2 * len(set(sample)) > len(sample):
            self._sort(lines, data)
            return lines
        # Of lines that will stand together one is enough to sort.
        return repeated(*self.counted(Counter(lines)))

    def counted(self, counts: Mapping[bytes, int]) -> tuple[list[bytes], list[int]]:
        r"""Lines in order, each once, and how often each occurs.

        Example:
            >>> LineOrder(KeyRule()).counted({b"b\t1": 2, b"a\t1": 1})
            ([b'a\t1', b'b\t1'], [1, 2])
        """
        lines = list(counts)
        self._sort(lines, joined(lines))
        return lines, list(map(counts.__getitem__, lines))

    def _sort(self, lines: list[bytes], data: bytes) -> None:
        """Sort lines, which `data` holds as a text."""
        below = self.rule.below_separator()
        if below is not None and len(data.translate(None, below)) == len(data):
            # Nothing comes before the separator, so whole lines are in the order of (key, value).
            lines.sort()
        else:
            lines.sort(key=self.rule.split)
        for field in reversed(self.comparator):  # a later sort leaves what it finds equal as it was
            lines.sort(key=self._ranked(field), reverse=field.reverse)

    def _ranked(self, field: KeyField) -> Callable[[bytes], Any]:
        rank, split = field.rank(self.field_separator), self.rule.split
        return lambda line: rank(split(line)[0])
