"""Which reducer a key goes to, as in Hadoop, for many keys at once.

Contract: a key's partition is the one that Hadoop's HashPartitioner or KeyFieldBasedPartitioner gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from contraction.keys import hashes_of
from incoop.fronts.streaming_fields import KeyField
from incoop.fronts.streaming_keys import Hashes, Keys

_POSITIVE = np.uint32(0x7FFF_FFFF)

#: 2**32 divided by the golden ratio: spreads neighbouring hashes over the buckets.
_SPREAD = np.uint32(0x9E37_79B1)

#: Buckets that all partitions together have. An update combines the buckets that changed, so that many make it cheaper;
#: but every bucket costs some Python objects in every chunk.
_BUCKETS = 1024


#: Shards of the stage that reduces, and the bits of their numbers.
REDUCE_SHARDS = 16
_SHARD_BITS = 4


@cache
def spread_keys(reducers: int) -> tuple[int, ...]:
    """A key of the engine for each partition: the partition is its remainder by the number of reducers.

    Tasks take neighbouring shards, and a partition is a whole process of work; so a key is chosen by its shard, such
    that the first partitions are far apart.
    """
    partitions = np.arange(reducers)
    wanted = np.zeros(reducers, np.uint64)
    for bit in range(_SHARD_BITS):  # the number's bits, backwards
        wanted |= (partitions >> bit & 1).astype(np.uint64) << np.uint64(_SHARD_BITS - 1 - bit)
    keys = np.full(reducers, -1)
    candidates = partitions.copy()
    while len(missing := np.flatnonzero(keys < 0)):
        shards = hashes_of(candidates[missing].tolist()) >> np.uint64(64 - _SHARD_BITS)
        found = missing[shards == wanted[missing]]
        keys[found] = candidates[found]
        candidates += reducers
    return tuple(keys.tolist())


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

    def partitions(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The reducer of each key."""
        return self._partitions(keys, None)

    def buckets(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The bucket of each key: its partition, then its place within that, in the last `bucket_bits`."""
        hashes = keys.java_hashes(1)
        spread = (hashes * _SPREAD).astype(np.uint64) << np.uint64(self.bucket_bits) >> np.uint64(32)
        return (self._partitions(keys, hashes) << self.bucket_bits) + spread.astype(np.int64)

    @property
    def bucket_bits(self) -> int:
        """Buckets of a partition, as a power of two."""
        return max(0, (_BUCKETS // self.reducers).bit_length() - 1)

    def _partitions(self, keys: Keys, hashes: Hashes | None) -> npt.NDArray[np.int64]:
        if self.reducers == 1:
            return np.zeros(len(keys), np.int64)
        if self.fields is None:
            hashes = keys.java_hashes(1) if hashes is None else hashes
        elif not self.fields:
            hashes = text_hashes(keys.to_list())
        else:
            given = keys.to_list()
            parts = [[field.cut(key, self.field_separator) or b"" for key in given] for field in self.fields]
            hashes = Keys.of(b"".join(each) for each in zip(*parts, strict=True)).java_hashes(0)
        return (hashes & _POSITIVE).astype(np.int64) % self.reducers
