"""Which reducer a key goes to, as in Hadoop, for many keys at once.

Contract: a key's partition is the one that Hadoop's HashPartitioner or KeyFieldBasedPartitioner gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.keys import hashes_of
from incoop.fronts.streaming.key_fields import KeyField
from incoop.fronts.streaming.line_keys import Hashes, LineKeys

_POSITIVE = np.uint32(0x7FFF_FFFF)

#: 2**32 divided by the golden ratio: spreads neighbouring hashes over the buckets.
_SPREAD = np.uint32(0x9E37_79B1)

#: Buckets that all partitions together have. An update combines the buckets that changed, so that many make it cheaper;
#: but every bucket costs some Python objects in every chunk.
_BUCKETS = 1024


#: Shards of a job without a combiner, whose tasks take the lines of partitions from all chunks.
REDUCE_SHARDS = 16

#: The tree of combined lines has a shard for each partition, up to this many; further partitions share one.
_MOST_SHARDS = 256


def tree_shards(reducers: int) -> int:
    """Shards of the tree of combined lines.

    A partition has one to itself, so that its content tells whether the reducer has to run; a single partition has
    two, so that two cores combine it.

    Example:
        >>> [tree_shards(reducers) for reducers in (1, 2, 3, 4, 1000)]
        [2, 2, 4, 4, 256]
    """
    return min(_MOST_SHARDS, max(2, 1 << (reducers - 1).bit_length()))


def shards_of(partition: int, reducers: int) -> list[int]:
    """The shards of the tree that hold a partition."""
    shards = tree_shards(reducers)
    return [0, 1] if reducers == 1 else _far_apart(np.array([partition % shards]), shards).tolist()


@cache
def spread_keys(reducers: int) -> tuple[int, ...]:
    """A key of the engine for each partition of a job without a combiner."""
    return _keys_in(_far_apart(np.arange(reducers), REDUCE_SHARDS), REDUCE_SHARDS)


@cache
def _bucket_keys(reducers: int, bits: int) -> tuple[int, ...]:
    shards = tree_shards(reducers)
    numbers = np.arange(reducers << bits)
    places = numbers & 1 if reducers == 1 else _far_apart((numbers >> bits) % shards, shards)
    return _keys_in(places, shards)


def _far_apart(numbers: npt.NDArray[np.int64], shards: int) -> npt.NDArray[np.int64]:
    """A shard for each number, such that the first ones are far apart: tasks take neighbouring shards.

    It is the number with its bits backwards.
    """
    bits = shards.bit_length() - 1
    found = np.zeros(len(numbers), np.int64)
    for bit in range(bits):
        found |= (numbers >> bit & 1) << (bits - 1 - bit)
    return found


def _keys_in(places: npt.NDArray[np.int64], shards: int) -> tuple[int, ...]:
    """For each number a key of the engine in the wanted shard; its remainder by their count is the number."""
    shift = np.uint64(64 - (shards.bit_length() - 1))
    keys = np.full(len(places), -1)
    candidates = np.arange(len(places))
    while len(missing := np.flatnonzero(keys < 0)):
        found = missing[hashes_of(candidates[missing].tolist()) >> shift == places[missing].astype(np.uint64)]
        keys[found] = candidates[found]
        candidates += len(places)
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

    def partitions(self, keys: LineKeys) -> npt.NDArray[np.int64]:
        """The reducer of each key."""
        return self._partitions(keys, None)

    def buckets(self, keys: LineKeys) -> npt.NDArray[np.int64]:
        """The bucket of each key: its partition, then its place within that, in the last `bucket_bits`."""
        hashes = keys.java_hashes(1)
        spread = (hashes * _SPREAD).astype(np.uint64) << np.uint64(self.bucket_bits) >> np.uint64(32)
        return (self._partitions(keys, hashes) << self.bucket_bits) + spread.astype(np.int64)

    @property
    def bucket_bits(self) -> int:
        """Buckets of a partition, as a power of two."""
        return max(0, (_BUCKETS // self.reducers).bit_length() - 1)

    @property
    def bucket_keys(self) -> tuple[int, ...]:
        """The key of the engine for each bucket: those of a partition are in its shards of the tree."""
        return _bucket_keys(self.reducers, self.bucket_bits)

    def bucket_of(self, key: int) -> int:
        """The bucket that has this key."""
        return key % (self.reducers << self.bucket_bits)

    def _partitions(self, keys: LineKeys, hashes: Hashes | None) -> npt.NDArray[np.int64]:
        if self.reducers == 1:
            return np.zeros(len(keys), np.int64)
        if self.fields is None:
            hashes = keys.java_hashes(1) if hashes is None else hashes
        elif not self.fields:
            hashes = text_hashes(keys.to_list())
        else:
            given = keys.to_list()
            parts = [[field.cut(key, self.field_separator) or b"" for key in given] for field in self.fields]
            hashes = LineKeys.of(b"".join(each) for each in zip(*parts, strict=True)).java_hashes(0)
        return (hashes & _POSITIVE).astype(np.int64) % self.reducers
