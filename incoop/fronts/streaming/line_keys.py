"""The keys of many lines as arrays: cut, compared and hashed without a Python object for each.

Contract: the keys are those that cutting line by line gives, and comparing them compares their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint32]

#: Java's multiplier, for texts and arrays of bytes alike.
_FACTOR = np.uint32(31)

_NEWLINE = 10


@dataclass(frozen=True, slots=True)
class LineKeys:
    """Keys one after the other, and how long each is."""

    data: npt.NDArray[np.uint8]
    lengths: Ints

    @classmethod
    def of(cls, keys: Iterable[bytes]) -> LineKeys:
        each = list(keys)
        return cls(np.frombuffer(b"".join(each), np.uint8), np.fromiter(map(len, each), np.int64, len(each)))

    @classmethod
    def of_text(cls, text: bytes, separator: int, fields: int) -> LineKeys:
        r"""Of every line of a text what stands before its n-th separator; the whole line where there are fewer.

        Each line has its newline.

        Example:
            >>> LineKeys.of_text(b"a\t1\nbc\nd\te\tf\n", 9, 1).to_list()
            [b'a', b'bc', b'd']
        """
        data = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(data == _NEWLINE)
        starts = np.empty_like(ends)
        starts[:1], starts[1:] = 0, ends[:-1] + 1
        separators = np.append(np.flatnonzero(data == separator), np.full(fields, len(data)))
        cuts = np.minimum(separators[np.searchsorted(separators, starts) + fields - 1], ends)
        return cls(_spans(data, starts, cuts - starts), cuts - starts)

    def __len__(self) -> int:
        return len(self.lengths)

    def to_list(self) -> list[bytes]:
        data = self.data.tobytes()
        ends = np.cumsum(self.lengths).tolist()
        return [data[end - length : end] for end, length in zip(ends, self.lengths.tolist(), strict=True)]

    def same_as(self, other: LineKeys) -> bool:
        """Whether these are the same keys in the same order."""
        return np.array_equal(self.lengths, other.lengths) and np.array_equal(self.data, other.data)

    def without_repeats(self) -> LineKeys:
        """The keys, but those that are like the one before.

        Example:
            >>> LineKeys.of([b"a", b"a", b"b", b"a"]).without_repeats().to_list()
            [b'a', b'b', b'a']
        """
        ends = np.cumsum(self.lengths)
        starts = ends - self.lengths
        like = np.flatnonzero(self.lengths[1:] == self.lengths[:-1]) + 1  # as long as the one before
        lengths = self.lengths[like]
        differs = _spans(self.data, starts[like], lengths) != _spans(self.data, starts[like - 1], lengths)
        found = np.zeros(len(differs) + 1, np.int64)
        np.cumsum(differs, out=found[1:])
        last = np.cumsum(lengths)
        repeated = like[found[last] == found[last - lengths]]
        kept = np.ones(len(self), np.bool_)
        kept[repeated] = False
        return LineKeys(_spans(self.data, starts[kept], self.lengths[kept]), self.lengths[kept])

    def java_hashes(self, initial: int) -> Hashes:
        """31 * h + byte for each byte (signed) of each key, from `initial` on, in 32 bits.

        Example:
            >>> LineKeys.of([b"", b"a", b"ab"]).java_hashes(1).tolist()
            [1, 128, 4066]
        """
        if not len(self):
            return np.empty(0, np.uint32)
        ends = np.cumsum(self.lengths)
        powers = np.ones(int(self.lengths.max()) + 1, np.uint32)
        powers[1:] = np.multiply.accumulate(np.full(len(powers) - 1, _FACTOR), dtype=np.uint32)
        behind = np.repeat(ends, self.lengths) - 1 - np.arange(len(self.data))
        data = self.data.view(np.int8).astype(np.int32).view(np.uint32)
        sums = np.zeros(len(data) + 1, np.uint32)
        np.cumsum(data * powers[behind], out=sums[1:], dtype=np.uint32)
        hashes: Hashes = sums[ends] - sums[ends - self.lengths] + np.uint32(initial) * powers[self.lengths]
        return hashes


def _spans(data: npt.NDArray[Any], starts: Ints, lengths: Ints) -> npt.NDArray[Any]:
    """Stretches of an array, one after the other."""
    before = np.cumsum(lengths) - lengths
    return data[np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))]
