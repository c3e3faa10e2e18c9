"""What changed in a part since its blocks were written, kept beside them until it is worth writing them anew.

Contract: a part's pairs are those of its blocks, but for the hashes that its overlay names: of those, the overlay's.
Overlays of overlays are overlays, so a part has one at most, however many updates it has seen.

A change of a hundredth of the keys touches nearly every block of a large part. Reading a block costs a quarter of
writing it, and an overlay costs what changed (docs/decisions/0006-overlays-and-few-shards.md).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incoop.contraction.columns.by_hash import rows_with
from incoop.contraction.columns.keys import HASH_BYTES, Hashes
from incoop.contraction.columns.run import EMPTY, Run, join
from incoop.contraction.columns.shards import block_numbers
from incoop.contraction.columns.sorted_sets import difference, distinct_numbers, union
from incoop.contraction.columns.splice import replaced_keys

_HEAD = struct.Struct("<I")  # hashes that are gone

_UNUSED_BYTES = 8 - HASH_BYTES


@dataclass(frozen=True, slots=True)
class Overlay:
    """Keys whose pairs are not, or no longer, those of the blocks."""

    #: Sorted hashes of which there is no key any more.
    gone: Hashes
    #: All keys of the other hashes that changed.
    fresh: Run

    def __len__(self) -> int:
        return len(self.gone) + len(self.fresh)

    @property
    def changed(self) -> Hashes:
        """The sorted hashes that it decides about."""
        return distinct_numbers(np.concatenate([self.gone, self.fresh.hashes]))

    def over(self, pairs: Run) -> Run:
        """Pairs of blocks that hold all of its hashes, as they are now."""
        return replaced_keys(pairs, self.changed, self.fresh)

    def selected(self, pairs: Run, hashes: Hashes) -> Run:
        """What the blocks hold of some sorted hashes, as it is now."""
        return replaced_keys(pairs, self.changed, self.fresh.take(rows_with(self.fresh, hashes)))

    def updated(self, changed: Hashes, fresh: Run) -> Overlay:
        """The overlay after another change: the pairs of the sorted `changed` hashes are those of `fresh`."""
        together = replaced_keys(self.fresh, changed, fresh)
        return Overlay(difference(union([self.gone, changed]), together.hashes), together)

    def cut(self, shard_bits: int, bits: int, numbers: Sequence[int] | None = None) -> list[Overlay]:
        """What it says of each of the 2**bits equal ranges of a shard's hashes, or of those with these numbers."""
        wanted = np.arange(1 << bits) if numbers is None else np.asarray(numbers)
        bounds = [
            np.searchsorted(block_numbers(hashes, shard_bits, bits), wanted, side=side).tolist()
            for hashes in (self.gone, self.fresh.hashes)
            for side in ("left", "right")
        ]
        return [
            Overlay(self.gone[first:last], self.fresh.slice(begin, end))
            for first, last, begin, end in zip(*bounds, strict=True)
        ]

    def to_bytes(self) -> bytes:
        """Canonical bytes."""
        names = self.gone.astype("<u8").view(np.uint8).reshape(-1, 8)[:, _UNUSED_BYTES:]
        return b"".join([_HEAD.pack(len(self.gone)), names.tobytes(), self.fresh.to_bytes()])

    @property
    def random_bytes(self) -> int:
        """How many of its first bytes look random."""
        return _HEAD.size + HASH_BYTES * len(self.gone) + self.fresh.random_bytes

    @classmethod
    def from_bytes(cls, data: bytes) -> Overlay:
        """Read an overlay back. The bytes must have been verified."""
        (count,) = _HEAD.unpack_from(data)
        names = np.zeros((count, 8), np.uint8)
        stored = np.frombuffer(data, np.uint8, count * HASH_BYTES, _HEAD.size)
        names[:, _UNUSED_BYTES:] = stored.reshape(count, HASH_BYTES)
        fresh = Run.from_bytes(memoryview(data)[_HEAD.size + count * HASH_BYTES :])
        return cls(names.view("<u8").ravel().astype(np.uint64), fresh)


NOTHING = Overlay(np.empty(0, np.uint64), EMPTY)


def joined(overlays: Sequence[Overlay]) -> Overlay:
    """Overlays whose hashes ascend from one to the next, as one."""
    if len(overlays) == 1:
        return overlays[0]
    if not overlays:
        return NOTHING
    return Overlay(np.concatenate([each.gone for each in overlays]), join([each.fresh for each in overlays]))
