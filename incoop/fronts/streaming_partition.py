"""Which reducer a key goes to, as in Hadoop, for many keys at once.

Contract: a key's partition is the one that Hadoop's HashPartitioner or KeyFieldBasedPartitioner gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incoop.fronts.streaming_fields import KeyField

Hashes = npt.NDArray[np.uint32]

#: Java's multiplier, for texts and arrays of bytes alike.
_FACTOR = np.uint32(31)
_POSITIVE = np.uint32(0x7FFF_FFFF)

#: 2**32 divided by the golden ratio: spreads neighbouring hashes over the buckets.
_SPREAD = np.uint32(0x9E37_79B1)

#: Buckets that all partitions together have. An update combines and stores the buckets that changed, so that many make
#: it cheaper; but every bucket costs a Python object in every chunk.
_BUCKETS = 256


def java_hashes(keys: Sequence[bytes], initial: int) -> Hashes:
    """31 * h + byte for each byte (signed) of each key, from `initial` on, in 32 bits.

    Example:
        >>> java_hashes([b"", b"a", b"ab"], 1).tolist()
        [1, 128, 4066]
    """
    lengths = np.fromiter(map(len, keys), np.int64, len(keys))
    if not len(lengths):
        return np.empty(0, np.uint32)
    ends = np.cumsum(lengths)
    data = np.frombuffer(b"".join(keys), np.int8).astype(np.int32).view(np.uint32)
    powers = np.ones(int(lengths.max()) + 1, np.uint32)
    powers[1:] = np.multiply.accumulate(np.full(len(powers) - 1, _FACTOR), dtype=np.uint32)
    behind = np.repeat(ends, lengths) - 1 - np.arange(len(data))
    sums = np.zeros(len(data) + 1, np.uint32)
    np.cumsum(data * powers[behind], out=sums[1:], dtype=np.uint32)
    hashes: Hashes = sums[ends] - sums[ends - lengths] + np.uint32(initial) * powers[lengths]
    return hashes


def text_hashes(keys: Sequence[bytes]) -> Hashes:
    """What Java's String.hashCode gives for keys that are UTF-8."""
    units = [key.decode("utf-8", "replace").encode("utf-16-be", "surrogatepass") for key in keys]
    hashes = []
    for each in units:
        value = 0
        for unit in np.frombuffer(each, ">u2").tolist():
            value = (31 * value + unit) & 0xFFFF_FFFF
        hashes.append(value)
    return np.array(hashes, np.uint32)


@dataclass(frozen=True, slots=True)
class Partitioner:
    """A job's partitioner and its number of reducers."""

    reducers: int = 1
    #: None for the HashPartitioner; else the parts of the key that count, none of which is the whole key.
    fields: tuple[KeyField, ...] | None = None
    field_separator: bytes = b"\t"

    def partitions(self, keys: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """The reducer of each key."""
        if self.reducers == 1:
            return np.zeros(len(keys), np.int64)
        if self.fields is None:
            hashes = java_hashes(keys, 1)
        elif not self.fields:
            hashes = text_hashes(keys)
        else:
            parts = [[field.cut(key, self.field_separator) or b"" for key in keys] for field in self.fields]
            hashes = java_hashes([b"".join(each) for each in zip(*parts, strict=True)], 0)
        return (hashes & _POSITIVE).astype(np.int64) % self.reducers

    @property
    def bucket_bits(self) -> int:
        """Buckets of a partition, as a power of two."""
        return max(0, (_BUCKETS // self.reducers).bit_length() - 1)

    def buckets(self, keys: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """The bucket of each key within its partition."""
        if not self.bucket_bits:
            return np.zeros(len(keys), np.int64)
        spread = java_hashes(keys, 1) * _SPREAD
        return (spread >> np.uint32(32 - self.bucket_bits)).astype(np.int64)
